"""A latch counts down to zero, not below, and is open from then on."""

from __future__ import annotations

from structsync import Status
from structsync._core.primitives.latch import LatchCore
from structsync.checking.invariants import nothing_grantable_waits

from ._queue import BOUND, all_are, with_queue


def a_count_lets_all_in_exactly_at_zero(count: int, waiting: int, n: int) -> None:
    assert 1 <= n <= count
    assert 0 <= waiting <= BOUND
    core = with_queue(LatchCore(count), [0] * waiting)
    granted = core.release(n)
    assert core.count == count - n
    assert len(granted) == (waiting if n == count else 0)
    assert all_are(Status.GRANTED, granted)
    assert nothing_grantable_waits(core)


def a_count_below_zero_is_refused_and_changes_nothing(count: int, n: int) -> None:
    assert 0 <= count < n <= BOUND  # the message has digits, which would be a path each
    core = LatchCore(count)
    try:
        core.release(n)
    except ValueError:
        assert core.count == count
    else:
        raise AssertionError("counted")


def a_wait_takes_nothing(count: int) -> None:
    assert count >= 0
    core = LatchCore(count)
    assert (core.submit(0).status is Status.GRANTED) == (count == 0)
    assert core.count == count
