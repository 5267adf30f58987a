"""A value is given to all tasks that wait for it, and to no other."""

from __future__ import annotations

from structsync import Status
from structsync._core.primitives.value import Awaited, ValueCore

from ._queue import BOUND, with_queue


def an_assignment_grants_exactly_those_that_want_it(wanted: list[int], value: int) -> None:
    assert len(wanted) <= BOUND
    assert all(one > 0 for one in wanted)  # no task wants what is there at first
    claims = [Awaited(one.__eq__) for one in wanted]
    core = with_queue(ValueCore(0), claims)
    requests = [*core.queue]
    core.assign(value)
    for one, claim, request in zip(wanted, claims, requests, strict=True):
        assert (request.status is Status.GRANTED) == (one == value)
        assert one != value or claim.found == value
    assert core.value == value
