"""A release skips a cancelled waiter and leaves it in the queue; a newcomer waits behind a task that has gone."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

import trio

from structsync.testing import Settings

from .exhibit import Exhibit
from .future import Future

if TYPE_CHECKING:
    from structsync.testing import ExploredRun


class Lock:
    """A newcomer joins the queue if there is one, so that no task is overtaken."""

    def __init__(self) -> None:
        self.held = False
        self.queue: deque[Future] = deque()

    async def acquire(self) -> None:
        if not self.held and not self.queue:
            self.held = True
            return
        granted = Future()
        self.queue.append(granted)
        try:
            await granted.wait()
        except trio.Cancelled:
            if granted in self.queue:
                self.queue.remove(granted)
            if granted.is_set:
                self.release()
            raise

    def release(self) -> None:
        for granted in self.queue:
            if not granted.done:
                self.queue.remove(granted)
                granted.set()
                return
        self.held = False


class RepairedLock(Lock):
    def release(self) -> None:
        while self.queue:
            granted = self.queue.popleft()
            if not granted.done:
                granted.set()
                return
        self.held = False


async def visit(x: ExploredRun, lock: Lock) -> None:
    async def worker() -> None:
        await lock.acquire()
        try:
            await trio.lowlevel.checkpoint()
        finally:
            lock.release()

    async with trio.open_nursery() as nursery:
        for _ in range(3):
            nursery.start_soon(worker)


async def waiter_is_skipped(x: ExploredRun) -> None:
    await visit(x, Lock())


async def waiter_is_removed(x: ExploredRun) -> None:
    await visit(x, RepairedLock())


EXHIBIT = Exhibit(
    name="skipped waiter left in the queue",
    source="P5, anyio PR 1145",
    mechanism="A release skips a cancelled waiter without removing it; a newcomer sees a queue, "
    "joins it, and there is no owner that could let it in.",
    buggy=waiter_is_skipped,
    fixed=waiter_is_removed,
    settings=Settings(cancels=1, cancel="tasks"),
    finds="deadlock",
    culprit=r"worker#\d\s+waits\s+\(\S+\.py:\d+ in wait\)",
    budget=500,
)
