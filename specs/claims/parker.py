"""Blocks and unblocks of a parker commute: n of the one let n of the other pass."""

from __future__ import annotations

from structsync import Status
from structsync._core.primitives.parker import Busy, ParkerCore
from structsync.checking.invariants import nothing_grantable_waits

from ._queue import BOUND, in_queue


def parker(unblocks: int, blocked: bool) -> ParkerCore:
    core = ParkerCore()
    if blocked:
        core.enqueue(None)
    core.unblocks = unblocks
    return core


def an_unblock_lets_one_block_pass(unblocks: int, blocked: bool) -> None:
    assert unblocks >= 0
    assert not blocked or unblocks == 0
    core = parker(unblocks, blocked)
    granted = core.release(None)
    assert len(granted) == blocked
    assert core.unblocks == unblocks + 1 - blocked
    assert nothing_grantable_waits(core)


def a_block_uses_one_unblock_or_waits(unblocks: int) -> None:
    assert unblocks >= 0
    core = parker(unblocks, blocked=False)
    if core.submit(None).status is Status.GRANTED:
        assert core.unblocks == unblocks - 1 >= 0
    else:
        assert core.unblocks == unblocks == 0
    assert nothing_grantable_waits(core)


def a_block_and_an_unblock_commute(unblocks: int) -> None:
    assert unblocks >= 0
    one, other = parker(unblocks, blocked=False), parker(unblocks, blocked=False)
    first = one.submit(None)
    one.release(None)
    other.release(None)
    second = other.submit(None)
    assert first.status is second.status is Status.GRANTED
    assert one.unblocks == other.unblocks == unblocks


def a_second_waiter_is_refused_and_the_first_keeps_waiting(first: int, second: int) -> None:
    assert first != second
    core = ParkerCore()
    request = core.submit(None, waiter=first)
    try:
        core.submit(None, waiter=second)
    except Busy:
        assert core.waiting() == [request]
        assert request.status is Status.PENDING
    else:
        raise AssertionError("queued")


def a_block_that_is_withdrawn_uses_no_unblock(unblocks: int) -> None:
    assert 1 <= unblocks <= BOUND
    core = parker(0, blocked=True)
    assert core.withdraw(in_queue(core, 0)) == []
    for _ in range(unblocks):
        assert core.release(None) == []
    assert core.unblocks == unblocks
