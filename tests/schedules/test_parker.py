"""Parker: every schedule of a few tasks, and any of them cancelled anywhere."""

from __future__ import annotations

import trio
from trio.lowlevel import checkpoint

from structsync import Parker
from structsync.testing import ExploredRun

from .sweeping import swept, together


@swept(least=30, twice=True)
async def test_each_block_uses_one_unblock_in_whatever_order(x: ExploredRun, tasks: int) -> None:
    parker = Parker()
    unblocked, passed = 0, 0

    def kept() -> bool:
        # one may have been granted to a block that has not run since
        return unblocked - passed - parker.statistics().unblocks in (0, 1)

    x.always(kept, "each unblock is kept or used once")
    x.finally_(lambda: passed + parker.statistics().unblocks == tasks - 1, "none is lost")

    async def blocker() -> None:
        nonlocal passed
        for _ in range(tasks - 1):
            await parker.block()
            passed += 1

    async def unblocker() -> None:
        nonlocal unblocked
        try:
            await checkpoint()
        finally:
            parker.unblock()
            unblocked += 1

    await together(blocker, *[unblocker] * (tasks - 1))


@swept(least=40)
async def test_one_task_blocks_and_others_are_refused(x: ExploredRun, tasks: int) -> None:
    parker = Parker()
    ended = 0

    async def blocker() -> None:
        nonlocal ended
        busy = parker.statistics().tasks_waiting > 0
        try:
            await parker.block()
        except trio.BusyResourceError:
            if not busy:
                x.fail("refused, though no task blocks")
        else:
            if busy:
                x.fail("two tasks block at once")
        finally:
            ended += 1

    async def unblocker() -> None:
        while ended < tasks - 1:
            if not parker.statistics().unblocks:
                parker.unblock()
            with trio.CancelScope(shield=True):
                await checkpoint()

    await together(unblocker, *[blocker] * (tasks - 1))


@swept(least=50)
async def test_closing_sends_the_blocked_away(x: ExploredRun, tasks: int) -> None:
    parker = Parker()
    closed = False
    x.always(lambda: not (closed and parker.statistics().tasks_waiting), "no task blocks then")

    async def blocker() -> None:
        try:
            while True:
                await parker.block()
        except trio.ClosedResourceError:
            if not closed:
                x.fail("told that it is closed before it was")

    async def unblocker() -> None:
        await checkpoint()
        parker.unblock()

    async def closer() -> None:
        nonlocal closed
        try:
            await checkpoint()
        finally:
            parker.close()
            closed = True

    await together(blocker, closer, *[unblocker] * (tasks - 2))
