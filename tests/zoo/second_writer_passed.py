"""The fix overdone: one of two waiting writers gives up, and readers pass the other one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import trio

from structsync.testing import Settings

from .cancelled_writer import ReadWriteLock, RepairedLock, Visit
from .exhibit import Exhibit

if TYPE_CHECKING:
    from structsync.testing import ExploredRun


class OverdoneLock(ReadWriteLock):
    """A writer that is cancelled lets all waiting readers in."""

    def withdraw(self, visit: Visit) -> None:
        super().withdraw(visit)
        for other in [one for one in self.queue if not one.writes]:
            if visit.writes and not self.writing:
                self.queue.remove(other)
                self.enter(writes=False)
                trio.lowlevel.reschedule(other.task)


async def two_writers(x: ExploredRun, lock: ReadWriteLock) -> None:
    async def reader() -> None:
        ahead = [visit for visit in lock.queue if visit.writes]
        await lock.acquire(writes=False)
        if any(visit in lock.queue for visit in ahead):
            x.fail("a reader passed a writer that waits")
        lock.release()

    async def writer() -> None:
        await lock.acquire(writes=True)
        lock.release()

    async def long_reader() -> None:
        await lock.acquire(writes=False)
        try:
            await trio.lowlevel.checkpoint()
        finally:
            lock.release()

    async with trio.open_nursery() as nursery:
        for one in (long_reader, writer, writer, reader):
            nursery.start_soon(one)


async def second_writer_is_passed(x: ExploredRun) -> None:
    await two_writers(x, OverdoneLock())


async def second_writer_is_next(x: ExploredRun) -> None:
    await two_writers(x, RepairedLock())


EXHIBIT = Exhibit(
    name="second writer passed",
    source="H5, microsoft/vs-threading#252, review of PR 259",
    mechanism="With two writers in the queue, the cancellation of one lets readers pass the other.",
    buggy=second_writer_is_passed,
    fixed=second_writer_is_next,
    settings=Settings(cancels=1, cancel="tasks"),
    finds="violation",
    culprit="a reader passed a writer that waits",
    budget=5000,
)
