"""Which waiters a release would let in, without releasing anything."""

from __future__ import annotations

from typing import Any

from structsync._core.queue.request import Request

from .kinds import KINDS
from .operations import Key
from .state import SharedState


def preview(shared: SharedState, key: Key) -> tuple[Key, ...] | None:
    """Return whose requests a release of this would grant, in this order.

    It looks at those and at one more, however many wait. None if only doing it can tell: where what
    is held, or what is next, is a group.
    """
    place = shared.places.get(key)
    if place is None or not place.token:
        return None
    want, *others = place.wants
    if others:
        return None
    core, claim = shared.core_of(want), KINDS[want.kind].claim(want, key)
    let_in: list[Request[Any]] = []
    of_a_group = False
    core.discharge(claim)
    for request in core.queue:
        if not core.admits(request.claim):
            break
        of_a_group = request.group is not None
        if of_a_group:
            break
        core.admit(request.claim)
        let_in.append(request)
    for request in reversed(let_in):
        core.discharge(request.claim)
    core.admit(claim)
    return None if of_a_group else tuple([request.waiter for request in let_in])
