"""WaitQueue: every schedule of a few tasks, and any of them cancelled anywhere."""

from __future__ import annotations

import trio
from trio.lowlevel import checkpoint

from structsync import WaitQueue
from structsync.testing import ExploredRun

from .sweeping import TIMED, swept, together


@swept(least=20, twice=True)
async def test_a_wake_is_never_spent_on_a_wait_that_is_cancelled(
    x: ExploredRun, tasks: int
) -> None:
    """Else a task waits forever beside a connection that is free."""
    queue = WaitQueue()
    free = 1

    async def user() -> None:
        nonlocal free
        while not free:
            await queue.wait()
        free -= 1
        try:
            with x.exclusive("the connection"):
                await checkpoint()
        finally:
            free += 1
            queue.wake()

    await together(*[user] * tasks)


@swept(least=20)
async def test_who_waits_for_a_predicate_goes_on_while_it_is_true(
    x: ExploredRun, tasks: int
) -> None:
    queue = WaitQueue()
    free = 1

    async def user() -> None:
        nonlocal free
        assert await queue.wait_for(lambda: free) == 1
        free -= 1
        try:
            with x.exclusive("the connection"):
                await checkpoint()
        finally:
            free += 1
            queue.wake()

    await together(*[user] * tasks)


@swept(least=60)
async def test_a_wake_wakes_one_who_waits_and_is_not_kept(x: ExploredRun, tasks: int) -> None:
    queue = WaitQueue()
    expected, woken = 0, 0
    x.always(lambda: woken <= expected, "no task wakes by itself")
    x.finally_(lambda: woken == expected, "each wake wakes a task")

    async def waiter() -> None:
        nonlocal woken
        await queue.wait()
        woken += 1

    async def waker() -> None:
        nonlocal expected
        for _ in range(2):
            waiting = queue.statistics().tasks_waiting
            queue.wake(1)
            expected += min(1, waiting)
            with trio.CancelScope(shield=True):
                await checkpoint()
        queue.close()

    async def told() -> None:
        try:
            await waiter()
        except trio.ClosedResourceError:
            pass

    await together(waker, *[told] * (tasks - 1))


@swept(least=30)
async def test_waking_all_wakes_those_who_wait_now(x: ExploredRun, tasks: int) -> None:
    queue = WaitQueue()
    opened = False
    x.always(lambda: not (opened and queue.statistics().tasks_waiting), "no task is left behind")

    async def waiter() -> None:
        while not opened:
            await queue.wait()
        await checkpoint()

    async def opener() -> None:
        nonlocal opened
        try:
            await checkpoint()
        finally:
            queue.wake_all()
            opened = True

    await together(opener, *[waiter] * (tasks - 1))


@swept(least=19)
async def test_closing_sends_every_waiting_task_away(x: ExploredRun, tasks: int) -> None:
    queue = WaitQueue()
    closed = False
    x.always(lambda: not (closed and queue.statistics().tasks_waiting), "no task waits then")

    async def waiter() -> None:
        try:
            await queue.wait()
        except trio.ClosedResourceError:
            if not closed:
                x.fail("told that it is closed before it was")
        else:
            x.fail("woken, though no task wakes")

    async def closer() -> None:
        nonlocal closed
        try:
            await checkpoint()
        finally:
            queue.close()
            closed = True

    await together(closer, *[waiter] * (tasks - 1))


@swept(least=30, cancel="scopes", clock="explore", sizes=TIMED)
async def test_a_wait_that_is_out_of_time_has_not_been_woken(x: ExploredRun, tasks: int) -> None:
    queue = WaitQueue()
    expected, woken = 0, 0
    x.finally_(lambda: woken == expected, "each wake wakes a task")

    async def waiter() -> None:
        nonlocal woken
        with trio.move_on_after(1):
            await queue.wait()
            woken += 1

    async def waker() -> None:
        nonlocal expected
        for _ in range(2):
            expected += min(1, queue.statistics().tasks_waiting)
            queue.wake()
            with trio.CancelScope(shield=True):
                await checkpoint()

    await together(waker, *[waiter] * (tasks - 1))
