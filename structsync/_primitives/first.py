"""The first of several things to happen: an item got, an item put, a claim granted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

from trio.lowlevel import current_task, enable_ki_protection

from structsync._core.queue.arbiter import Arbiter
from structsync._core.queue.group import Claims
from structsync._runtime import parking_together
from structsync._runtime.claim import Claim

from .groups import checked_claims


@final
@dataclass(frozen=True, slots=True)
class First:
    """What :func:`first_of` returns: the granted claim and its item.

    Attributes:
      claim: the claim that was granted.
      item: the item, if that was a claim to get from a :class:`Buffer`; else None.
    """

    claim: Claim[Any]
    item: Any


@enable_ki_protection
async def first_of(*claims: Claim[Any]) -> First:
    """Wait for the first of several claims, and return it with what it was granted.

    The task has one position in each queue. Exactly one claim is granted, and the other positions are given
    up in the same step. If several are available at once, the first of them as written is granted::

        urgent, normal = structsync.Buffer[str](9), structsync.Buffer[str](9)
        first = await structsync.first_of(urgent.get_claim(), normal.get_claim())
        print(first.item)

    Nothing is released at the end of a block, because there is none: a permit or a lock that it returns
    is held until it is released. With :func:`acquire_any` it would be released, and an item lost.

    Fairness: strictly first come, first served in each queue, on its side of a buffer. Cancellation: a
    cancelled call has taken and put nothing.

    Args:
      claims: from ``get_claim()`` and ``put_claim()`` of a :class:`Buffer`, and as of
          :func:`acquire_all`; each on another primitive, but one to get and one to put may be on one
          buffer.

    Raises:
      ValueError: if there is no claim, a policy is not ``"fifo"``, or two claims are on one primitive.
      TypeError: if something else is passed.
      RuntimeError: if its future holder holds a lock or a limiter already.
      trio.EndOfChannel: if a buffer to get from is complete and empty, before or meanwhile.
      trio.ClosedResourceError, trio.BrokenResourceError: if any of the primitives is closed, complete
          or breaks before a claim is granted.

    Source: Go's ``select``; CSP's guarded choice.
    """
    wanted = checked_claims(claims, "first_of")
    task = current_task()
    pairs = [(claim.primitive._core, claim._claim_for(task)) for claim in wanted]
    sides = [_side(*pair) for pair in pairs]
    _refuse_two_on_one(wanted, sides)
    group = Claims(False, pairs, task)
    for member, claim in zip(group.members, wanted, strict=True):
        member.primitive = claim.primitive
    try:
        await parking_together.acquire_group(group)
        (granted,) = group.granted()
        place = group.members.index(granted)
        return First(wanted[place], granted.claim if sides[place] == "get" else None)
    finally:
        group.members.clear()  # which point back at it: nothing is left to the collector


def _refuse_two_on_one(wanted: Sequence[Claim[Any]], sides: Sequence[str]) -> None:
    """Raise if two claims are on the same side of the same primitive: what is equal is not the same."""
    seen: set[tuple[int, str]] = set()
    for claim, side in zip(wanted, sides, strict=True):
        if (one := (id(claim.primitive), side)) in seen:
            raise ValueError(
                f"first_of takes one claim on each primitive, and there are two on "
                f"{claim.primitive!r}; keep one of them"
            )
        seen.add(one)


def _side(core: Arbiter[Any], claim: Any) -> str:
    if not core.grants_make_room:
        return ""
    return "put" if type(claim) is tuple else "get"
