"""Readers queue behind a writer; the writer gives up, and they sleep on beside an open door."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

import trio
from trio.lowlevel import Abort, RaiseCancelT, Task

from structsync.testing import Settings

from .exhibit import Exhibit

if TYPE_CHECKING:
    from structsync.testing import ExploredRun


@dataclass
class Visit:
    task: Task
    writes: bool


class ReadWriteLock:
    """Many readers or one writer, in the order in which they came."""

    def __init__(self) -> None:
        self.inside = 0
        self.writing = False
        self.queue: deque[Visit] = deque()

    def fits(self, writes: bool) -> bool:
        return not self.inside if writes else not self.writing

    def enter(self, writes: bool) -> None:
        self.inside += 1
        self.writing = writes

    async def acquire(self, writes: bool) -> None:
        if self.fits(writes) and not self.queue:
            self.enter(writes)
            return
        visit = Visit(trio.lowlevel.current_task(), writes)
        self.queue.append(visit)

        def abort(_: RaiseCancelT) -> Abort:
            self.withdraw(visit)
            return Abort.SUCCEEDED

        await trio.lowlevel.wait_task_rescheduled(abort)

    def release(self) -> None:
        self.inside -= 1
        self.writing = False
        self.settle()

    def settle(self) -> None:
        while self.queue and self.fits(self.queue[0].writes):
            visit = self.queue.popleft()
            self.enter(visit.writes)
            trio.lowlevel.reschedule(visit.task)

    def withdraw(self, visit: Visit) -> None:
        self.queue.remove(visit)


class RepairedLock(ReadWriteLock):
    def withdraw(self, visit: Visit) -> None:
        super().withdraw(visit)
        self.settle()


async def read_together(x: ExploredRun, lock: ReadWriteLock) -> None:
    second_was_inside = trio.Event()
    writing = trio.CancelScope()

    async def first_reader() -> None:
        await lock.acquire(writes=False)
        await trio.lowlevel.checkpoint()
        writing.cancel()
        await second_was_inside.wait()
        lock.release()

    async def writer() -> None:
        with writing:
            await lock.acquire(writes=True)
            lock.release()

    async def second_reader() -> None:
        await lock.acquire(writes=False)
        second_was_inside.set()
        lock.release()

    async with trio.open_nursery() as nursery:
        for one in (first_reader, writer, second_reader):
            nursery.start_soon(one)


async def readers_sleep_on(x: ExploredRun) -> None:
    await read_together(x, ReadWriteLock())


async def readers_are_let_in(x: ExploredRun) -> None:
    await read_together(x, RepairedLock())


EXHIBIT = Exhibit(
    name="cancelled writer",
    source="H4, StephenCleary/AsyncEx#134; H8, tricycle 0.4.1; H9, aiorwlock 1.5.1",
    mechanism="A reader waits behind a writer that is cancelled; no release comes, so nothing lets "
    "the reader in.",
    buggy=readers_sleep_on,
    fixed=readers_are_let_in,
    settings=Settings(cancels=0),
    finds="deadlock",
    culprit=r"second_reader#0\s+waits\s+\(\S+\.py:\d+ in acquire\)",
    budget=50,
)
