"""Barrier and Latch: every schedule of a few tasks, and any of them cancelled anywhere."""

from __future__ import annotations

from functools import partial

import trio
from trio.lowlevel import checkpoint

from structsync import Barrier, Latch
from structsync.testing import ExploredRun

from .sweeping import Size, swept, together


@swept(least=15, twice=True)
async def test_a_round_goes_on_as_a_whole_or_breaks_as_a_whole(x: ExploredRun, tasks: int) -> None:
    barrier = Barrier(tasks, cancelled="breaks")
    numbers: list[int] = []
    come = 0

    async def party() -> None:
        nonlocal come
        come += 1
        try:
            numbers.append(await barrier.wait())
        except trio.BrokenResourceError:
            return
        if come < tasks:
            x.fail("let in before all have come")

    complete: list[list[int]] = [[], [*range(tasks)]]
    x.finally_(lambda: sorted(numbers) in complete, "a round has all of its numbers, or none")
    await together(*[party] * tasks)


@swept(least=30, sizes=(Size(3, 1),), long=True)
async def test_who_is_cancelled_is_not_of_the_round(x: ExploredRun, tasks: int) -> None:
    """One more comes than make a round: if one leaves, the others have a number each."""
    barrier = Barrier(tasks)
    numbers: list[int] = []
    closed = False

    async def party() -> None:
        try:
            numbers.append(await barrier.wait())
        except trio.ClosedResourceError:
            if not closed:
                x.fail("told that it is closed before it was")

    async def closer() -> None:
        nonlocal closed
        try:
            await checkpoint()
        finally:
            closed = True
            barrier.close()

    await together(closer, *[party] * (tasks + 1))
    if sorted(numbers) not in ([], [*range(tasks)]):
        x.fail(f"the numbers of a round: {sorted(numbers)}")


@swept(least=30)
async def test_each_round_is_full_before_it_goes_on(x: ExploredRun, tasks: int) -> None:
    """A quick task comes again while others of the round before have not run yet."""
    barrier = Barrier(tasks, cancelled="breaks")
    come = [0, 0]

    async def party() -> None:
        for number in range(2):
            come[number] += 1
            try:
                await barrier.wait()
            except trio.BrokenResourceError:
                return
            if come[number] < tasks:
                x.fail("let in before all have come")

    await together(*[party] * tasks)


@swept(least=30)
async def test_who_has_left_is_not_waited_for(x: ExploredRun, tasks: int) -> None:
    """Each takes part in another number of rounds, and a cancelled party leaves, too."""
    barrier = Barrier(tasks)

    async def party(rounds: int) -> None:
        try:
            for _ in range(rounds):
                await barrier.wait()
        finally:
            barrier.leave()

    x.finally_(lambda: barrier.parties == 0, "all have left")
    await together(*[partial(party, number % 3) for number in range(tasks)])


@swept(least=30)
async def test_the_action_is_done_before_any_task_goes_on(x: ExploredRun, tasks: int) -> None:
    """Once a round; a round whose action fails, the second here, lets no task go on."""
    rounds: list[int] = []

    def act() -> None:
        rounds.append(barrier.statistics().tasks_waiting)
        if len(rounds) == 2:
            raise KeyError

    barrier = Barrier(tasks, action=act, cancelled="breaks")
    passed = [0, 0]

    async def party() -> None:
        for number in range(2):
            try:
                await barrier.wait()
            except (trio.BrokenResourceError, KeyError):
                return
            passed[number] += 1
            if len(rounds) != number + 1:
                x.fail(f"the action ran {len(rounds)} times for {number + 1} rounds")

    await together(*[party] * tasks)
    if passed[0] not in (0, tasks) or passed[1] or rounds != [tasks] * len(rounds):
        x.fail(f"{passed} have passed, and the action saw {rounds} inside")


@swept(least=20)
async def test_who_waits_goes_on_when_all_is_counted_down(x: ExploredRun, tasks: int) -> None:
    latch = Latch(tasks - 1)
    counted = 0

    async def count() -> None:
        nonlocal counted
        try:
            await checkpoint()
        finally:
            counted += 1
            latch.count_down()

    async def wait() -> None:
        await latch.wait()
        if counted < tasks - 1:
            x.fail("let in before all was counted down")

    await together(wait, wait, *[count] * (tasks - 1))
