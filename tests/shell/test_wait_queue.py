"""A wait queue wakes the oldest, counts exactly, and keeps no wake that found no task."""

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

    async def join(self, times: int) -> None:
        for number in range(times):
            self.nursery.start_soon(self._wait, number)
            await settle()

    async def _wait(self, number: int) -> None:
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


async def test_wake_all_wakes_all() -> None:
    queue = WaitQueue()
    async with trio.open_nursery() as nursery:
        line = Line(queue, nursery)
        await line.join(40)
        queue.wake_all()
    assert line.woken == set(range(40))


@pytest.mark.parametrize("n", [True, 1.5, "1", None], ids=repr)
def test_waking_a_number_that_is_no_int_is_a_type_error(n: Any) -> None:
    with pytest.raises(TypeError, match="n must be an int"):
        WaitQueue().wake(n)


def test_waking_fewer_than_none_is_a_value_error() -> None:
    with pytest.raises(ValueError, match="n must be >= 0, not -1"):
        WaitQueue().wake(-1)


def test_waking_no_task_needs_no_run() -> None:
    queue = WaitQueue()
    queue.wake()
    queue.wake_all()
    assert queue.statistics().tasks_waiting == 0
