"""C7: with ``checkpoint="budget"`` an uncontended acquire is seldom a schedule point."""

from collections.abc import Awaitable, Callable
from typing import Any, ClassVar

import pytest
import trio
import trio.testing

from structsync import (
    Arbiter,
    Condition,
    Lock,
    Primitive,
    PrimitiveEvent,
    Semaphore,
    deadlock_guard,
    observe,
)

BUDGET = 127


class Rescheduled(trio.abc.Instrument):
    """Counts the schedule points of all tasks; a test here keeps all but one asleep."""

    def __init__(self) -> None:
        self.count = 0

    def task_scheduled(self, task: trio.lowlevel.Task) -> None:
        self.count += 1


async def schedule_points(call: Callable[[], Awaitable[object]], times: int) -> list[int]:
    """Return, for each call in turn, how many schedule points it had."""
    instrument, counts = Rescheduled(), []
    trio.lowlevel.add_instrument(instrument)
    for _ in range(times):
        before = instrument.count
        await call()
        counts.append(instrument.count - before)
    trio.lowlevel.remove_instrument(instrument)
    return counts


def make(kind: str) -> Any:
    return Lock(checkpoint="budget") if kind == "lock" else Semaphore(1, checkpoint="budget")


async def take_and_give(primitive: Any) -> None:
    await primitive.acquire()
    primitive.release()


each_kind = pytest.mark.parametrize("kind", ["lock", "semaphore"])


@each_kind
async def test_one_acquire_in_a_hundred_and_twenty_eight_is_a_schedule_point(kind: str) -> None:
    primitive = make(kind)
    points = await schedule_points(lambda: take_and_give(primitive), 3 * (BUDGET + 1))
    assert points == ([0] * BUDGET + [1]) * 3


@each_kind
async def test_the_budget_belongs_to_the_primitive_whichever_task_acquires(kind: str) -> None:
    primitive = make(kind)
    counts: list[int] = []

    async def some(times: int) -> None:
        counts.extend(await schedule_points(lambda: take_and_give(primitive), times))

    for times in (100, 27, 1):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(some, times)
    assert counts == [0] * BUDGET + [1]


@each_kind
async def test_every_primitive_has_a_budget_of_its_own(kind: str) -> None:
    first, second = make(kind), make(kind)
    await schedule_points(lambda: take_and_give(first), BUDGET)
    assert await schedule_points(lambda: take_and_give(second), 1) == [0]
    assert await schedule_points(lambda: take_and_give(first), 1) == [1]


@each_kind
async def test_cancellation_is_checked_by_every_acquire(kind: str) -> None:
    primitive = make(kind)
    for _ in range(BUDGET + 2):
        with trio.CancelScope() as scope:
            scope.cancel()
            await primitive.acquire()
        assert scope.cancelled_caught


@each_kind
async def test_a_cancelled_acquire_uses_nothing_of_the_budget(kind: str) -> None:
    primitive = make(kind)
    for _ in range(10):
        with trio.CancelScope() as scope:
            scope.cancel()
            await primitive.acquire()
    points = await schedule_points(lambda: take_and_give(primitive), BUDGET + 1)
    assert points == [0] * BUDGET + [1]


@each_kind
async def test_a_wait_in_queue_fills_the_budget_again(kind: str) -> None:
    primitive = make(kind)
    await schedule_points(lambda: take_and_give(primitive), 100)
    async with trio.open_nursery() as nursery:
        await primitive.acquire()
        nursery.start_soon(take_and_give, primitive)
        await trio.testing.wait_all_tasks_blocked()
        primitive.release()
    points = await schedule_points(lambda: take_and_give(primitive), BUDGET + 1)
    assert points == [0] * BUDGET + [1]


async def test_the_block_of_a_condition_uses_the_budget_of_its_lock() -> None:
    condition = Condition(Lock(checkpoint="budget"))

    async def enter() -> None:
        async with condition:
            pass

    points = await schedule_points(enter, BUDGET + 1)
    assert points == [0] * BUDGET + [1]


async def test_a_loop_of_budget_acquires_lets_others_run() -> None:
    semaphore = Semaphore(1, checkpoint="budget")
    ran = trio.Event()

    async def other() -> None:
        ran.set()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(other)
        for _ in range(2 * (BUDGET + 1)):  # trio shuffles a batch: after two, all have run
            await take_and_give(semaphore)
        assert ran.is_set()


async def test_the_default_is_a_schedule_point_each_time() -> None:
    semaphore = Semaphore(1)
    assert await schedule_points(lambda: take_and_give(semaphore), 5) == [1] * 5


@each_kind
async def test_an_acquire_without_a_schedule_point_is_observed(kind: str) -> None:
    primitive, events = make(kind), list[PrimitiveEvent]()
    with observe(events.append):
        assert await schedule_points(lambda: take_and_give(primitive), 1) == [0]
    assert [event.kind for event in events] == ["requested", "granted", "released"]
    assert {event.task for event in events} == {trio.lowlevel.current_task()}


@each_kind
async def test_what_an_observer_of_such_an_acquire_releases_is_released_right_after_it(
    kind: str,
) -> None:
    primitive, other = make(kind), Semaphore(0)
    values: list[int] = []

    def release(event: PrimitiveEvent) -> None:
        if event.kind == "granted":
            other.release()
            values.append(other.value)

    with observe(release):
        await primitive.acquire()
    assert values == [0]
    assert other.value == 1


class EvenSum(Arbiter[int]):
    """Admits even numbers, and fails for odd ones."""

    total: int

    def __init__(self) -> None:
        super().__init__()
        self.total = 0

    def admits(self, claim: int) -> bool:
        if claim % 2:
            raise ZeroDivisionError(claim) from KeyError(claim)
        return True

    def admit(self, claim: int) -> None:
        self.total += claim

    def discharge(self, claim: int) -> None:
        self.total -= claim


async def test_an_error_of_a_core_of_ones_own_is_raised_with_its_cause_and_changes_nothing() -> (
    None
):
    core = EvenSum()
    primitive = Primitive(core, checkpoint="budget")
    for _ in range(3):
        with pytest.raises(ZeroDivisionError) as raised:
            await primitive._acquire(1)
        assert isinstance(raised.value.__cause__, KeyError)
    points = await schedule_points(lambda: primitive._acquire(2), BUDGET + 1)
    assert points == [0] * BUDGET + [1]
    assert core.total == 2 * (BUDGET + 1)


class Counted(EvenSum):
    """Counts what is taken without a wait, and what is released, in methods that it overrides."""

    taken: ClassVar[int] = 0
    released: ClassVar[int] = 0

    def take(self, claim: int) -> None:
        Counted.taken += 1
        super().take(claim)

    def release(self, claim: int) -> list[Any]:
        Counted.released += 1
        return super().release(claim)


@pytest.mark.parametrize("checkpoint", ["always", "budget"])
async def test_a_core_that_overrides_how_a_claim_is_taken_and_released_is_asked(
    checkpoint: Any,
) -> None:
    Counted.taken = Counted.released = 0
    primitive = Primitive(Counted(), checkpoint=checkpoint)
    await primitive._acquire(2)
    primitive._acquire_nowait(2)
    primitive._release(2)
    assert (Counted.taken, Counted.released) == (2, 1)


async def test_a_block_of_a_budget_is_entered_under_the_guard_against_deadlocks() -> None:
    semaphore = Semaphore(1, checkpoint="budget")
    with deadlock_guard():
        for _ in range(2):
            async with semaphore:
                assert semaphore.value == 0
    assert semaphore.value == 1


@pytest.mark.parametrize("checkpoint", ["always", "budget"])
async def test_an_observer_of_a_take_cannot_acquire_and_what_it_releases_is_released_after_it(
    checkpoint: Any,
) -> None:
    semaphore, other = Semaphore(1, checkpoint=checkpoint), Semaphore(1, checkpoint=checkpoint)
    refused = list[RuntimeError]()

    def observer(event: PrimitiveEvent) -> None:
        if event.kind == "granted" and event.primitive is semaphore:
            with pytest.raises(RuntimeError, match="must not change") as raised:
                other.acquire().send(None)
            refused.append(raised.value)
            other.release()

    with observe(observer):
        async with semaphore:
            assert other.value == 2
    assert len(refused) == 1
