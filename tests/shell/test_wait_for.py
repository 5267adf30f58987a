"""``wait_for`` of a WaitQueue and of a monitor's condition: as of a Condition, without its lock."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import trio
import trio.testing

from structsync import Monitor, MonitorCondition, Semaphore, WaitQueue
from structsync._primitives.monitor import Discipline

settle = trio.testing.wait_all_tasks_blocked
DISCIPLINES: list[Discipline] = ["mesa", "hoare"]


class OfQueue:
    """Waits at a queue, with no monitor round it."""

    def __init__(self) -> None:
        self.queue = WaitQueue()

    async def wait_for(self, predicate: Callable[[], Any]) -> Any:
        return await self.queue.wait_for(predicate)

    async def wake(self) -> None:
        self.queue.wake_all()


class OfCondition:
    """Waits and notifies inside a monitor."""

    def __init__(self, discipline: Discipline) -> None:
        self.monitor = Monitor(discipline=discipline)
        self.condition: MonitorCondition = self.monitor.condition()
        self.hoare = discipline == "hoare"

    async def wait_for(self, predicate: Callable[[], Any]) -> Any:
        return await self.monitor.entry(self.condition.wait_for)(predicate)

    async def wake(self) -> None:
        await self.monitor.entry(
            self.condition.signal if self.hoare else self.condition.notify_all
        )()


PLACES: dict[str, Callable[[], OfQueue | OfCondition]] = {
    "queue": OfQueue,
    "mesa": lambda: OfCondition("mesa"),
    "hoare": lambda: OfCondition("hoare"),
}
each_place = pytest.mark.parametrize("make", PLACES.values(), ids=PLACES.keys())


@each_place
async def test_the_value_of_a_predicate_that_is_true_now_is_returned(
    make: Callable[[], OfQueue | OfCondition],
) -> None:
    with trio.testing.assert_checkpoints():
        assert await make().wait_for(lambda: ["item"]) == ["item"]


@each_place
async def test_the_predicate_is_evaluated_again_whenever_the_task_is_woken(
    make: Callable[[], OfQueue | OfCondition],
) -> None:
    place, values, got = make(), [0, 0, 7], list[int]()

    async def wait() -> None:
        got.append(await place.wait_for(lambda: values.pop(0)))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(wait)
        for _ in range(2):
            await settle()
            assert got == []
            await place.wake()
    assert got == [7]


@each_place
async def test_a_true_predicate_in_a_cancelled_scope_raises(
    make: Callable[[], OfQueue | OfCondition],
) -> None:
    with trio.CancelScope() as scope:
        scope.cancel()
        await make().wait_for(lambda: True)
    assert scope.cancelled_caught


@each_place
async def test_a_cancelled_wait_is_over(make: Callable[[], OfQueue | OfCondition]) -> None:
    place = make()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(place.wait_for, lambda: False)
        await settle()
        nursery.cancel_scope.cancel()
    await place.wake()
    assert await place.wait_for(lambda: True)


@each_place
async def test_what_a_predicate_may_not_do_is_refused(
    make: Callable[[], OfQueue | OfCondition],
) -> None:
    place, semaphore = make(), Semaphore(1)

    async def later() -> bool:
        return True

    with pytest.raises(TypeError, match="predicate must be a sync function"):
        await place.wait_for(later)
    with pytest.raises(TypeError, match="it returned a coroutine"):
        await place.wait_for(lambda: later())
    with pytest.raises(RuntimeError, match="must not change"):
        await place.wait_for(semaphore.acquire_nowait)
    with pytest.raises(ZeroDivisionError):
        await place.wait_for(lambda: 1 // 0)
    assert semaphore.value == 1
    assert await place.wait_for(lambda: 3) == 3


@each_place
async def test_a_wait_whose_place_is_closed_ends(make: Callable[[], OfQueue | OfCondition]) -> None:
    place = make()
    ended: list[bool] = []

    async def wait() -> None:
        with pytest.raises(trio.ClosedResourceError):
            await place.wait_for(lambda: False)
        ended.append(True)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(wait)
        await settle()
        (place.queue if isinstance(place, OfQueue) else place.monitor).close()
    assert ended == [True]


@pytest.mark.parametrize("discipline", DISCIPLINES)
async def test_outside_the_monitor_it_is_refused_even_if_the_predicate_is_true(
    discipline: Discipline,
) -> None:
    with pytest.raises(RuntimeError, match="must be inside the monitor to wait"):
        await OfCondition(discipline).condition.wait_for(lambda: True)


async def test_a_wake_that_finds_the_predicate_false_is_spent() -> None:
    queue, open_, order = WaitQueue(), set[str](), list[str]()

    async def wait(who: str) -> None:
        await queue.wait_for(lambda: who in open_)
        order.append(who)

    async with trio.open_nursery() as nursery:
        for who in "ab":
            nursery.start_soon(wait, who)
            await settle()
        open_.add("b")
        queue.wake()
        await settle()
        assert order == []
        queue.wake()
        await settle()
        assert order == ["b"]
        nursery.cancel_scope.cancel()
