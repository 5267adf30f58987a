"""A permit is meant for the waiter that was just woken, and acquire_nowait takes it too."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

import trio

from structsync.testing import Settings

from .exhibit import Exhibit

if TYPE_CHECKING:
    from structsync.testing import ExploredRun


class EarmarkingSemaphore:
    """A woken task need not look: the permit is there."""

    def __init__(self) -> None:
        self.value = 1
        self.queue: deque[trio.Event] = deque()

    async def acquire(self) -> None:
        if self.value == 0 or self.queue:
            woken = trio.Event()
            self.queue.append(woken)
            await woken.wait()
        self.value -= 1

    def acquire_nowait(self) -> None:
        if self.value == 0 or self.queue:
            raise trio.WouldBlock
        self.value -= 1

    def release(self) -> None:
        self.value += 1
        if self.queue:
            self.queue.popleft().set()


class RepairedSemaphore(EarmarkingSemaphore):
    """The permit is taken on behalf of the waiter, in the step that wakes it."""

    async def acquire(self) -> None:
        try:
            self.acquire_nowait()
        except trio.WouldBlock:
            granted = trio.Event()
            self.queue.append(granted)
            await granted.wait()

    def release(self) -> None:
        if self.queue:
            self.queue.popleft().set()
        else:
            self.value += 1


async def visit(x: ExploredRun, semaphore: EarmarkingSemaphore) -> None:
    async def use() -> None:
        with x.exclusive("permit"):
            await trio.lowlevel.checkpoint()
        semaphore.release()

    async def patient() -> None:
        await semaphore.acquire()
        await use()

    async def impatient() -> None:
        try:
            semaphore.acquire_nowait()
        except trio.WouldBlock:
            return
        await use()

    async with trio.open_nursery() as nursery:
        for one in (patient, patient, impatient):
            nursery.start_soon(one)


async def nowait_slips_in(x: ExploredRun) -> None:
    await visit(x, EarmarkingSemaphore())


async def nowait_is_refused(x: ExploredRun) -> None:
    await visit(x, RepairedSemaphore())


EXHIBIT = Exhibit(
    name="over-grant by nowait",
    source="O3, anyio#1170",
    mechanism="Between a release and the run of the waiter that it woke, acquire_nowait takes the "
    "permit that the waiter relies on.",
    buggy=nowait_slips_in,
    fixed=nowait_is_refused,
    settings=Settings(cancels=0),
    finds="violation",
    culprit=r"impatient#0 and patient#\d are in 'permit' at once",
    budget=50,
)
