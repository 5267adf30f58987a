"""A released permit lies about until the woken waiter comes for it; a newcomer comes earlier."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, TypeAlias

import trio

from structsync.testing import Settings

from .exhibit import Exhibit

if TYPE_CHECKING:
    from structsync.testing import ExploredRun


class BargingSemaphore:
    """A woken task looks again; a task that comes meanwhile looks first."""

    def __init__(self, value: int) -> None:
        self.value = value
        self.sleepers: deque[trio.Event] = deque()

    async def acquire(self) -> None:
        while self.value == 0:
            woken = trio.Event()
            self.sleepers.append(woken)
            await woken.wait()
        self.value -= 1

    def release(self) -> None:
        self.value += 1
        if self.sleepers:
            self.sleepers.popleft().set()


class FairSemaphore:
    """The permit goes to the first in the queue in the step that releases it."""

    def __init__(self, value: int) -> None:
        self.value = value
        self.sleepers: deque[trio.Event] = deque()

    async def acquire(self) -> None:
        if self.value > 0:
            self.value -= 1
            return
        granted = trio.Event()
        self.sleepers.append(granted)
        await granted.wait()

    def release(self) -> None:
        if self.sleepers:
            self.sleepers.popleft().set()
        else:
            self.value += 1


Semaphore: TypeAlias = BargingSemaphore | FairSemaphore


async def visit(x: ExploredRun, semaphore: Semaphore) -> None:
    line: list[trio.lowlevel.Task] = []

    async def worker() -> None:
        me = trio.lowlevel.current_task()
        line.append(me)
        await semaphore.acquire()
        if line[0] is not me:
            x.fail("a newcomer overtook a task that came before it")
        line.remove(me)
        await trio.lowlevel.checkpoint()
        semaphore.release()

    async with trio.open_nursery() as nursery:
        for _ in range(3):
            nursery.start_soon(worker)


async def barging_semaphore(x: ExploredRun) -> None:
    await visit(x, BargingSemaphore(1))


async def fair_semaphore(x: ExploredRun) -> None:
    await visit(x, FairSemaphore(1))


EXHIBIT = Exhibit(
    name="barging",
    source="O1, bpo-45997, asyncio.Semaphore of CPython 3.10.0",
    mechanism="A permit is free from its release until the woken waiter runs; a newcomer takes it.",
    buggy=barging_semaphore,
    fixed=fair_semaphore,
    settings=Settings(cancels=0),
    finds="violation",
    culprit="a newcomer overtook a task that came before it",
    budget=20,
)
