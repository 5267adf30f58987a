"""A waiting writer is counted, cancelled, and counted forever."""

from __future__ import annotations

from typing import TYPE_CHECKING

import trio
from trio.lowlevel import ParkingLot

from structsync.testing import Settings

from .exhibit import Exhibit

if TYPE_CHECKING:
    from structsync.testing import ExploredRun


class ReadWriteLock:
    """Readers wait while a writer waits; all look again after every change."""

    def __init__(self) -> None:
        self.readers = 0
        self.writing = False
        self.writers_waiting = 0
        self.changed = ParkingLot()

    async def acquire_read(self) -> None:
        while self.writing or self.writers_waiting:
            await self.changed.park()
        self.readers += 1

    async def acquire_write(self) -> None:
        self.writers_waiting += 1
        while self.writing or self.readers:
            await self.changed.park()
        self.writers_waiting -= 1
        self.writing = True

    def release_read(self) -> None:
        self.readers -= 1
        self.changed.unpark_all()

    def release_write(self) -> None:
        self.writing = False
        self.changed.unpark_all()


class RepairedLock(ReadWriteLock):
    async def acquire_write(self) -> None:
        self.writers_waiting += 1
        try:
            while self.writing or self.readers:
                await self.changed.park()
        except trio.Cancelled:
            self.changed.unpark_all()
            raise
        finally:
            self.writers_waiting -= 1
        self.writing = True


async def read_and_write(x: ExploredRun, lock: ReadWriteLock) -> None:
    async def reader() -> None:
        await lock.acquire_read()
        try:
            await trio.lowlevel.checkpoint()
        finally:
            lock.release_read()

    async def writer() -> None:
        await lock.acquire_write()
        lock.release_write()

    async with trio.open_nursery() as nursery:
        for one in (reader, writer, reader):
            nursery.start_soon(one)


async def counted_forever(x: ExploredRun) -> None:
    await read_and_write(x, ReadWriteLock())


async def count_is_restored(x: ExploredRun) -> None:
    await read_and_write(x, RepairedLock())


EXHIBIT = Exhibit(
    name="counter not restored",
    source="H10, rustfs/rustfs#2795; H7, sgl-project/sglang#31657",
    mechanism="The count of waiting writers goes up before a wait and down after it, but not when "
    "the wait is cancelled; readers wait for a writer that is gone.",
    buggy=counted_forever,
    fixed=count_is_restored,
    settings=Settings(cancels=1, cancel="tasks"),
    finds="deadlock",
    culprit=r"reader#\d\s+waits\s+\(\S+\.py:\d+ in acquire_read\)",
    budget=500,
)
