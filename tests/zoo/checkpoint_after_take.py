"""The permit is taken, then comes a checkpoint, and a cancellation there keeps the permit."""

from __future__ import annotations

from typing import TYPE_CHECKING

import trio
from trio.lowlevel import ParkingLot

from structsync.testing import Settings

from .exhibit import Exhibit

if TYPE_CHECKING:
    from structsync.testing import ExploredRun


class Semaphore:
    """Every acquire is a checkpoint, also one that need not wait."""

    def __init__(self) -> None:
        self.value = 1
        self.lot = ParkingLot()

    async def acquire(self) -> None:
        if self.value > 0:
            self.value -= 1
            await trio.lowlevel.checkpoint()
        else:
            await self.lot.park()

    def release(self) -> None:
        if self.lot:
            self.lot.unpark()
        else:
            self.value += 1


class RepairedSemaphore(Semaphore):
    async def acquire(self) -> None:
        await trio.lowlevel.checkpoint_if_cancelled()
        if self.value > 0:
            self.value -= 1
            await trio.lowlevel.cancel_shielded_checkpoint()
        else:
            await self.lot.park()


async def visit(x: ExploredRun, semaphore: Semaphore) -> None:
    async def worker() -> None:
        await semaphore.acquire()
        semaphore.release()

    async with trio.open_nursery() as nursery:
        for _ in range(2):
            nursery.start_soon(worker)


async def checkpoint_after_take(x: ExploredRun) -> None:
    await visit(x, Semaphore())


async def checkpoint_before_take(x: ExploredRun) -> None:
    await visit(x, RepairedSemaphore())


EXHIBIT = Exhibit(
    name="checkpoint after the take",
    source="P19, aiologic 0.14 and 0.15; P11, Effect#6910",
    mechanism="An acquire that succeeded is cancelled at its last checkpoint, before the caller "
    "knows what to release.",
    buggy=checkpoint_after_take,
    fixed=checkpoint_before_take,
    settings=Settings(cancels=1, cancel="tasks"),
    finds="deadlock",
    culprit=r"worker#\d\s+waits\s+\(\S+\.py:\d+ in acquire\)",
    budget=50,
)
