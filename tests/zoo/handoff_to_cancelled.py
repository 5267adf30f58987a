"""A permit is handed to a waiter that is cancelled before it runs, and goes down with it."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

import trio

from structsync.testing import Settings

from .exhibit import Exhibit
from .future import Future

if TYPE_CHECKING:
    from structsync.testing import ExploredRun


class HandOffSemaphore:
    """A permit that is released while a task is in the queue is never free in between."""

    def __init__(self) -> None:
        self.value = 1
        self.queue: deque[Future] = deque()

    async def acquire(self) -> None:
        if self.value > 0:
            self.value -= 1
            return
        granted = Future()
        self.queue.append(granted)
        try:
            await granted.wait()
        except trio.Cancelled:
            self.cancelled(granted)
            raise

    def cancelled(self, granted: Future) -> None:
        if not granted.is_set and granted in self.queue:
            self.queue.remove(granted)

    def release(self) -> None:
        while self.queue:
            granted = self.queue.popleft()
            if not granted.done:
                granted.set()
                return
        self.value += 1


class RepairedSemaphore(HandOffSemaphore):
    def cancelled(self, granted: Future) -> None:
        super().cancelled(granted)
        if granted.is_set:
            self.release()


async def visit(x: ExploredRun, semaphore: HandOffSemaphore) -> None:
    async def worker() -> None:
        await semaphore.acquire()
        try:
            await trio.lowlevel.checkpoint()
        finally:
            semaphore.release()

    x.finally_(lambda: semaphore.value == 1, "the permit is back at the end")
    async with trio.open_nursery() as nursery:
        for _ in range(2):
            nursery.start_soon(worker)


async def permit_goes_down(x: ExploredRun) -> None:
    await visit(x, HandOffSemaphore())


async def permit_is_handed_on(x: ExploredRun) -> None:
    await visit(x, RepairedSemaphore())


EXHIBIT = Exhibit(
    name="hand-off to a cancelled waiter",
    source="P2, bpo-27585; P6, anyio#947",
    mechanism="The waiter that a permit was handed to is cancelled before it runs; no task has it.",
    buggy=permit_goes_down,
    fixed=permit_is_handed_on,
    settings=Settings(cancels=1, cancel="tasks"),
    finds="violation",
    culprit="the permit is back at the end",
    budget=100,
)
