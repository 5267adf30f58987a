"""A cancelled head wakes the next in the queue, unless that one was cancelled before it."""

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
class Slot:
    task: Task
    permits: int
    empty: bool = False


class SlotSemaphore:
    """A cancelled task empties its slot; empty slots leave the queue when they come to its head."""

    def __init__(self, free: int) -> None:
        self.free = free
        self.queue: deque[Slot] = deque()

    async def acquire(self, permits: int) -> None:
        if permits <= self.free and not self.queue:
            self.free -= permits
            return
        slot = Slot(trio.lowlevel.current_task(), permits)
        self.queue.append(slot)

        def abort(_: RaiseCancelT) -> Abort:
            slot.empty = True
            if self.queue[0] is slot:
                self.queue.popleft()
                self.settle()
            return Abort.SUCCEEDED

        await trio.lowlevel.wait_task_rescheduled(abort)

    def release(self, permits: int) -> None:
        self.free += permits
        self.close_the_gap()
        self.settle()

    def close_the_gap(self) -> None:
        while self.queue and self.queue[0].empty:
            self.queue.popleft()

    def settle(self) -> None:
        while self.queue and not self.queue[0].empty and self.queue[0].permits <= self.free:
            slot = self.queue.popleft()
            self.free -= slot.permits
            trio.lowlevel.reschedule(slot.task)
            self.close_the_gap()

    def someone_fits(self) -> bool:
        waiting = [slot for slot in self.queue if not slot.empty]
        return bool(waiting) and waiting[0].permits <= self.free


class RepairedSemaphore(SlotSemaphore):
    def settle(self) -> None:
        self.close_the_gap()
        super().settle()


async def visit(x: ExploredRun, semaphore: SlotSemaphore) -> None:
    x.always(lambda: not semaphore.someone_fits(), "no task that fits waits behind empty slots")

    async def visitor(permits: int) -> None:
        await semaphore.acquire(permits)
        semaphore.release(permits)

    await semaphore.acquire(1)
    async with trio.open_nursery() as nursery:
        for permits in (2, 1, 1):
            nursery.start_soon(visitor, permits)
        await trio.lowlevel.checkpoint()
        semaphore.release(1)


async def gap_hides_the_followers(x: ExploredRun) -> None:
    await visit(x, SlotSemaphore(2))


async def gap_is_closed(x: ExploredRun) -> None:
    await visit(x, RepairedSemaphore(2))


EXHIBIT = Exhibit(
    name="gap behind the cancelled head",
    source="H2, embassy-rs/embassy#6964",
    mechanism="It takes two cancellations: one in the middle of the line leaves an empty slot, and "
    "then that of the head stops at it.",
    buggy=gap_hides_the_followers,
    fixed=gap_is_closed,
    settings=Settings(cancels=2, cancel="tasks"),
    finds="violation",
    culprit="no task that fits waits behind empty slots",
    budget=2000,
)
