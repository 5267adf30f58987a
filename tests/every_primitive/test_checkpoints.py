"""C2 for every primitive: each take is a checkpoint, with one schedule point if nothing blocks."""

from typing import Self

import pytest
import trio
import trio.testing

from structsync import Semaphore

from .attempt import waiting
from .conftest import kinds
from .kinds import Kind


class ScheduleCounter(trio.abc.Instrument):
    """Counts how often the current task is scheduled to run again."""

    def __init__(self) -> None:
        self.task = trio.lowlevel.current_task()
        self.count = 0

    def task_scheduled(self, task: trio.lowlevel.Task) -> None:
        self.count += task is self.task

    def __enter__(self) -> Self:
        trio.lowlevel.add_instrument(self)
        return self

    def __exit__(self, *exc_info: object) -> None:
        trio.lowlevel.remove_instrument(self)


#: All but those whose takes need no schedule point.
always = pytest.mark.parametrize(
    "passing", kinds(lambda kind: kind.passes and "budget" not in kind.name)
)


async def test_the_counter_sees_each_schedule_point() -> None:
    with ScheduleCounter() as counter:
        await trio.lowlevel.checkpoint()
        await trio.lowlevel.checkpoint()
    assert counter.count == 2


@always
@pytest.mark.parametrize("round_", [1, 2])
async def test_a_free_take_has_exactly_one_schedule_point(passing: Kind, round_: int) -> None:
    primitive = passing.make()
    for _ in range(round_ - 1):  # the first take of a primitive is no exception
        passing.prepare(primitive)
        await passing.take(primitive)
        passing.give(primitive)
    passing.prepare(primitive)
    with ScheduleCounter() as counter:
        await passing.take(primitive)
    assert counter.count == 1
    passing.give(primitive)


async def test_giving_back_has_no_schedule_point(passing: Kind) -> None:
    primitive = passing.make()
    passing.prepare(primitive)
    await passing.take(primitive)
    with ScheduleCounter() as counter:
        passing.give(primitive)
    assert counter.count == 0


async def test_the_end_of_an_async_with_block_has_no_schedule_point() -> None:
    semaphore = Semaphore(1)
    async with semaphore:
        counter = ScheduleCounter()
        trio.lowlevel.add_instrument(counter)
    trio.lowlevel.remove_instrument(counter)
    assert counter.count == 0


@always
async def test_a_free_take_executes_a_checkpoint(passing: Kind) -> None:
    primitive = passing.make()
    passing.prepare(primitive)
    with trio.testing.assert_checkpoints():
        await passing.take(primitive)
    passing.give(primitive)


async def test_a_busy_take_executes_a_checkpoint(kind: Kind) -> None:
    primitive = kind.make()
    kind.occupy(primitive)

    async def take() -> None:
        with trio.testing.assert_checkpoints():
            await kind.take(primitive)
        kind.give(primitive)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(take)
        await trio.testing.wait_all_tasks_blocked()
        kind.free(primitive)


async def test_a_waiter_that_is_let_in_runs_without_another_schedule_point(lending: Kind) -> None:
    primitive = lending.make()
    lending.occupy(primitive)
    counts = []

    async def take() -> None:
        with ScheduleCounter() as counter:
            await lending.take(primitive)
        counts.append(counter.count)
        lending.give(primitive)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(take)
        await trio.testing.wait_all_tasks_blocked()
        lending.free(primitive)
    assert counts == [1]


async def test_no_task_slips_in_between_a_release_and_the_next_run_of_the_waiter(
    lending: Kind,
) -> None:
    """O1 and O3 of the bugs of peers: a handoff, so the releaser cannot take it back."""
    primitive = lending.make()
    lending.occupy(primitive)
    async with trio.open_nursery() as nursery:
        attempt = await waiting(lending, primitive, nursery)
        lending.free(primitive)
        with pytest.raises(trio.WouldBlock):
            lending.occupy(primitive)
    assert attempt.outcome == "granted"
