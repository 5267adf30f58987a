"""A flag says that a waiter is about to run; the waiter is cancelled, and the flag stays."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

import trio

from structsync.testing import Settings

from .exhibit import Exhibit
from .future import Future

if TYPE_CHECKING:
    from structsync.testing import ExploredRun


class FlaggedSemaphore:
    """Newcomers wait while a woken waiter has not run: no barging."""

    def __init__(self) -> None:
        self.value = 1
        self.wakeup_scheduled = False
        self.waiters: deque[Future] = deque()

    async def acquire(self) -> None:
        while self.wakeup_scheduled or self.value == 0:
            woken = Future()
            self.waiters.append(woken)
            try:
                await woken.wait()
            except trio.Cancelled:
                self.cancelled(woken)
                raise
            self.wakeup_scheduled = False
        self.value -= 1

    def cancelled(self, woken: Future) -> None:
        self.wake_next()

    def release(self) -> None:
        self.value += 1
        self.wake_next()

    def wake_next(self) -> None:
        while self.waiters:
            woken = self.waiters.popleft()
            if not woken.done:
                woken.set()
                self.wakeup_scheduled = True
                return


class RepairedSemaphore(FlaggedSemaphore):
    def cancelled(self, woken: Future) -> None:
        if woken.is_set:
            self.wakeup_scheduled = False
            self.wake_next()


async def visit(x: ExploredRun, semaphore: FlaggedSemaphore) -> None:
    async def worker() -> None:
        await semaphore.acquire()
        try:
            await trio.lowlevel.checkpoint()
        finally:
            semaphore.release()

    async with trio.open_nursery() as nursery:
        for _ in range(3):
            nursery.start_soon(worker)


async def flag_stays(x: ExploredRun) -> None:
    await visit(x, FlaggedSemaphore())


async def flag_is_reset(x: ExploredRun) -> None:
    await visit(x, RepairedSemaphore())


EXHIBIT = Exhibit(
    name="stuck wake-up flag",
    source="P3, gh-90155, asyncio.Semaphore of CPython 3.10.5",
    mechanism="The woken waiter is cancelled before it runs and never resets the flag that holds "
    "newcomers back.",
    buggy=flag_stays,
    fixed=flag_is_reset,
    settings=Settings(cancels=1, cancel="tasks"),
    finds="deadlock",
    culprit=r"worker#\d\s+waits\s+\(\S+\.py:\d+ in wait\)",
    budget=300,
)
