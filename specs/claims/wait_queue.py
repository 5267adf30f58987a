"""A wake reaches the oldest waiters, each once, and is not kept for tasks that come later."""

from __future__ import annotations

from structsync import Status
from structsync._core.primitives.wait_queue import WaitQueueCore

from ._queue import BOUND, all_are, in_queue, waiters_of, with_queue


def queue(waiting: int) -> WaitQueueCore:
    return with_queue(WaitQueueCore(), [None] * waiting)


def a_wake_reaches_the_oldest_and_no_more_than_it_says(waiting: int, count: int) -> None:
    assert 0 <= waiting <= BOUND
    assert count >= 0
    core = queue(waiting)
    woken = core.wake(count)
    reached = min(count, waiting)
    assert waiters_of(woken) == list(range(reached))
    assert all_are(Status.GRANTED, woken)
    assert waiters_of(core.waiting()) == list(range(reached, waiting))


def waking_all_reaches_all(waiting: int) -> None:
    assert 0 <= waiting <= BOUND
    core = queue(waiting)
    assert waiters_of(core.wake(None)) == list(range(waiting))
    assert not core.queue


def a_wake_that_finds_too_few_is_not_kept(waiting: int, count: int) -> None:
    assert 0 <= waiting <= BOUND
    assert count >= 0
    core = queue(waiting)
    core.wake(count)
    assert core.wakes == 0
    assert core.submit(None).status is Status.PENDING


def a_waiter_that_withdraws_spends_no_wake(waiting: int, who: int, count: int) -> None:
    assert 0 <= who < waiting <= BOUND
    assert count >= 0
    core = queue(waiting)
    assert core.withdraw(in_queue(core, who)) == []
    left = [number for number in range(waiting) if number != who]
    assert waiters_of(core.wake(count)) == left[:count]
