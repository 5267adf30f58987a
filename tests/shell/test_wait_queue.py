"""A wait queue wakes the oldest, counts exactly, and keeps no wake that found nobody."""

from typing import Any

import pytest
import trio
import trio.testing

from structsync import WaitQueue

settle = trio.testing.wait_all_tasks_blocked


class Line:
    """Tasks that wait in the order of their numbers; ``woken`` are those that returned."""

    def __init__(self, queue: WaitQueue, nursery: trio.Nursery) -> None:
        self.queue = queue
        self.nursery = nursery
        self.woken: set[int] = set()
        self.scopes: list[trio.CancelScope] = []

    async def join(self, times: int = 1) -> None:
        for _ in range(times):
            self.scopes.append(trio.CancelScope())
            self.nursery.start_soon(self._wait, len(self.scopes) - 1)
            await settle()

    async def _wait(self, number: int) -> None:
        with self.scopes[number]:
            await self.queue.wait()
            self.woken.add(number)


@pytest.mark.parametrize("n", [0, 1, 2, 3])
async def test_wake_wakes_exactly_the_oldest(n: int) -> None:
    queue = WaitQueue()
    async with trio.open_nursery() as nursery:
        line = Line(queue, nursery)
        await line.join(3)
        queue.wake(n)
        await settle()
        assert line.woken == set(range(n))
        nursery.cancel_scope.cancel()


async def test_a_wake_that_finds_too_few_is_not_kept() -> None:
    queue = WaitQueue()
    async with trio.open_nursery() as nursery:
        line = Line(queue, nursery)
        await line.join()
        queue.wake(3)
        await line.join()
        assert line.woken == {0}
        nursery.cancel_scope.cancel()


async def test_wake_all_wakes_all() -> None:
    queue = WaitQueue()
    async with trio.open_nursery() as nursery:
        line = Line(queue, nursery)
        await line.join(40)
        queue.wake_all()
    assert line.woken == set(range(40))


async def test_a_task_that_waits_again_is_not_woken_by_the_same_call() -> None:
    """N12 of the bugs of peers: waking in batches of 32 woke such a task twice."""
    queue, rounds = WaitQueue(), []

    async def wait_twice() -> None:
        for number in (1, 2):
            await queue.wait()
            rounds.append(number)

    async with trio.open_nursery() as nursery:
        for _ in range(40):
            nursery.start_soon(wait_twice)
        await settle()
        queue.wake_all()
        await settle()
        assert rounds == [1] * 40
        queue.wake_all()


async def test_a_wake_after_wake_all_goes_to_a_newcomer() -> None:
    """N13 of the bugs of peers: it was consumed by a waiter that the broadcast had woken."""
    queue = WaitQueue()
    async with trio.open_nursery() as nursery:
        line = Line(queue, nursery)
        await line.join()
        queue.wake_all()
        await line.join()
        queue.wake()
    assert line.woken == {0, 1}


async def test_a_wake_is_not_spent_on_a_waiter_that_was_cancelled_first() -> None:
    """N14 of the bugs of peers."""
    queue = WaitQueue()
    async with trio.open_nursery() as nursery:
        line = Line(queue, nursery)
        await line.join(2)
        line.scopes[0].cancel()
        queue.wake()
    assert line.woken == {1}


@pytest.mark.parametrize("n", [True, 1.5, "1", None], ids=repr)
def test_waking_a_number_that_is_no_int_is_a_type_error(n: Any) -> None:
    with pytest.raises(TypeError, match="n must be an int"):
        WaitQueue().wake(n)


def test_waking_fewer_than_none_is_a_value_error() -> None:
    with pytest.raises(ValueError, match="n must be >= 0, not -1"):
        WaitQueue().wake(-1)


def test_waking_nobody_needs_no_run() -> None:
    queue = WaitQueue()
    queue.wake()
    queue.wake_all()
    assert queue.statistics().tasks_waiting == 0
