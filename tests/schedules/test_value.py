"""Value: every schedule of a few tasks, and any of them cancelled anywhere."""

from __future__ import annotations

from trio.lowlevel import checkpoint

from structsync import Value
from structsync.testing import ExploredRun

from .closing import closed_meanwhile
from .sweeping import Size, swept, together


@swept(least=20)
async def test_a_value_that_held_for_a_moment_is_not_missed(x: ExploredRun, tasks: int) -> None:
    """A task that waits when it is assigned gets it, though it is gone before any task runs."""
    value = Value(0)

    async def wait() -> None:
        number = await value.wait_for(lambda number: number == 2)
        if number != 2:
            x.fail(f"waited for 2 and was given {number}")

    async def assign() -> None:
        await checkpoint()
        value.value = 2
        value.value = 0
        if value.statistics().tasks_waiting:
            x.fail("a task that waited has missed it")
        await checkpoint()
        value.value = 2  # for those who come later
        value.value = 1
        value.value = 2

    async def assign_in_the_end() -> None:
        try:
            await assign()
        finally:
            value.value = 2

    await together(assign_in_the_end, *[wait] * (tasks - 1))


@swept(least=15, sizes=(Size(3, 2),))
async def test_an_iterator_gives_each_assignment_once(x: ExploredRun, tasks: int) -> None:
    """Also where one task was cancelled in the middle of a step, and another one goes on."""
    value = Value(0)
    changes = value.changes()
    seen: list[int] = []
    x.always(lambda: seen == [*range(1, len(seen) + 1)], "each once, in order")

    async def assign() -> None:
        try:
            await checkpoint()
        finally:
            value.value = 1
            value.value = 2

    async def follow() -> None:
        seen.append(await anext(changes))

    await together(assign, follow)
    while len(seen) < 2:
        await follow()


@swept(least=20)
async def test_closing_sends_every_waiting_task_away(x: ExploredRun, tasks: int) -> None:
    value = Value(0)

    async def use() -> None:
        await value.wait_for(lambda inside: not inside)
        value.value = 1
        try:
            await checkpoint()
        finally:
            value.value = 0

    await closed_meanwhile(x, value, *[use] * (tasks - 1))
