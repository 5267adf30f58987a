"""A task ends with the lock in its hands, and those in the queue wait forever."""

from __future__ import annotations

from typing import TYPE_CHECKING

import trio
from trio.lowlevel import ParkingLot, Task

from structsync.testing import Settings

from .exhibit import Exhibit

if TYPE_CHECKING:
    from structsync.testing import ExploredRun


class Lock:
    """Hands itself to the first in the queue."""

    def __init__(self) -> None:
        self.owner: Task | None = None
        self.lot = ParkingLot()

    async def acquire(self) -> None:
        if self.owner is not None:
            await self.lot.park()
        self.owner = trio.lowlevel.current_task()

    def release(self) -> None:
        self.owner = None
        self.lot.unpark()


class RepairedLock(Lock):
    """trio breaks the lot when the task that answers for it ends."""

    async def acquire(self) -> None:
        await super().acquire()
        trio.lowlevel.add_parking_lot_breaker(trio.lowlevel.current_task(), self.lot)

    def release(self) -> None:
        trio.lowlevel.remove_parking_lot_breaker(trio.lowlevel.current_task(), self.lot)
        super().release()


async def forget_the_lock(x: ExploredRun, lock: Lock) -> None:
    async def forgetful() -> None:
        try:
            await lock.acquire()
        except trio.BrokenResourceError:
            return
        await trio.lowlevel.checkpoint()

    async with trio.open_nursery() as nursery:
        for _ in range(2):
            nursery.start_soon(forgetful)


async def heirs_wait_forever(x: ExploredRun) -> None:
    await forget_the_lock(x, Lock())


async def heirs_are_told(x: ExploredRun) -> None:
    await forget_the_lock(x, RepairedLock())


EXHIBIT = Exhibit(
    name="owner exits with the lock",
    source="C4, trio#3035; read-write lock of tricycle 0.4.1",
    mechanism="The task that would have to release is gone; no other can.",
    buggy=heirs_wait_forever,
    fixed=heirs_are_told,
    settings=Settings(cancels=0),
    finds="deadlock",
    culprit=r"forgetful#1\s+waits\s+\(\S+\.py:\d+ in acquire\)",
    budget=10,
)
