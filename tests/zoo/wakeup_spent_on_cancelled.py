"""One wake-up for one permit goes to a waiter that is cancelled; the next one sleeps on."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

import trio

from structsync.testing import Settings

from .exhibit import Exhibit
from .future import Future

if TYPE_CHECKING:
    from structsync.testing import ExploredRun


class WakingLock:
    """A release wakes the first in the queue, which then looks for itself."""

    def __init__(self) -> None:
        self.held = False
        self.queue: deque[Future] = deque()

    async def acquire(self) -> None:
        while self.held:
            woken = Future()
            self.queue.append(woken)
            try:
                await woken.wait()
            except trio.Cancelled:
                self.cancelled(woken)
                raise
        self.held = True

    def cancelled(self, woken: Future) -> None:
        if woken in self.queue:
            self.queue.remove(woken)

    def release(self) -> None:
        self.held = False
        self.wake_next()

    def wake_next(self) -> None:
        while self.queue:
            woken = self.queue.popleft()
            if not woken.done:
                woken.set()
                return


class RepairedLock(WakingLock):
    def cancelled(self, woken: Future) -> None:
        super().cancelled(woken)
        if woken.is_set and not self.held:
            self.wake_next()


async def visit(x: ExploredRun, lock: WakingLock, workers: int = 3) -> None:
    async def worker() -> None:
        await lock.acquire()
        try:
            await trio.lowlevel.checkpoint()
        finally:
            lock.release()

    async with trio.open_nursery() as nursery:
        for _ in range(workers):
            nursery.start_soon(worker)


async def wakeup_is_spent(x: ExploredRun) -> None:
    await visit(x, WakingLock())


async def wakeup_is_handed_on(x: ExploredRun) -> None:
    await visit(x, RepairedLock())


EXHIBIT = Exhibit(
    name="wake-up spent on a cancelled waiter",
    source="P1, asyncio#270",
    mechanism="The lock is free, the one waiter that was woken is cancelled, the others sleep on.",
    buggy=wakeup_is_spent,
    fixed=wakeup_is_handed_on,
    settings=Settings(cancels=1, cancel="tasks"),
    finds="deadlock",
    culprit=r"worker#\d\s+waits\s+\(\S+\.py:\d+ in wait\)",
    budget=300,
)
