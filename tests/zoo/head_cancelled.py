"""The head of the queue wants much and is cancelled; small claims behind it would fit, and sleep."""

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
class Claim:
    task: Task
    permits: int


class WeightedSemaphore:
    """First come, first served: a claim that does not fit blocks those behind it."""

    def __init__(self, free: int) -> None:
        self.free = free
        self.queue: deque[Claim] = deque()

    async def acquire(self, permits: int) -> None:
        if permits <= self.free and not self.queue:
            self.free -= permits
            return
        claim = Claim(trio.lowlevel.current_task(), permits)
        self.queue.append(claim)

        def abort(_: RaiseCancelT) -> Abort:
            self.withdraw(claim)
            return Abort.SUCCEEDED

        await trio.lowlevel.wait_task_rescheduled(abort)

    def release(self, permits: int) -> None:
        self.free += permits
        self.settle()

    def settle(self) -> None:
        while self.queue and self.queue[0].permits <= self.free:
            claim = self.queue.popleft()
            self.free -= claim.permits
            trio.lowlevel.reschedule(claim.task)

    def withdraw(self, claim: Claim) -> None:
        self.queue.remove(claim)

    def someone_fits(self) -> bool:
        return bool(self.queue) and self.queue[0].permits <= self.free


class RepairedSemaphore(WeightedSemaphore):
    def withdraw(self, claim: Claim) -> None:
        super().withdraw(claim)
        self.settle()


async def visit(x: ExploredRun, semaphore: WeightedSemaphore) -> None:
    x.always(
        lambda: not semaphore.someone_fits(), "no task that fits waits at the head of the queue"
    )

    async def visitor(permits: int) -> None:
        await semaphore.acquire(permits)
        try:
            await trio.lowlevel.checkpoint()
        finally:
            semaphore.release(permits)

    async with trio.open_nursery() as nursery:
        for permits in (1, 2, 1):
            nursery.start_soon(visitor, permits)


async def followers_sleep(x: ExploredRun) -> None:
    await visit(x, WeightedSemaphore(2))


async def followers_are_let_in(x: ExploredRun) -> None:
    await visit(x, RepairedSemaphore(2))


EXHIBIT = Exhibit(
    name="cancelled head",
    source="H1, golang/go#37852; H3, awslabs/shuttle#167",
    mechanism="Only a release looks at the queue; when a large claim at its head is cancelled, "
    "permits stay free while small claims sleep.",
    buggy=followers_sleep,
    fixed=followers_are_let_in,
    settings=Settings(cancels=1, cancel="tasks"),
    finds="violation",
    culprit="no task that fits waits at the head of the queue",
    budget=500,
)
