"""Readers come in while readers are inside; they take turns, and a writer never gets in."""

from __future__ import annotations

from typing import TYPE_CHECKING

import trio

from structsync.testing import Settings

from .cancelled_writer import ReadWriteLock, RepairedLock
from .exhibit import Exhibit

if TYPE_CHECKING:
    from structsync.testing import ExploredRun


class ReadersFirst(RepairedLock):
    """A reader need not join the line while others read."""

    async def acquire(self, writes: bool) -> None:
        if not writes and not self.writing:
            self.enter(writes=False)
        else:
            await super().acquire(writes)


async def read_forever(x: ExploredRun, lock: ReadWriteLock) -> None:
    async def reader() -> None:
        while True:
            await lock.acquire(writes=False)
            await trio.lowlevel.checkpoint()
            lock.release()
            await trio.lowlevel.checkpoint()

    async def writer() -> None:
        while True:
            x.request()
            await lock.acquire(writes=True)
            x.progress()
            await trio.lowlevel.checkpoint()
            lock.release()

    async with trio.open_nursery() as nursery:
        for one in (reader, reader, writer):
            nursery.start_soon(one)


async def readers_first(x: ExploredRun) -> None:
    await read_forever(x, ReadersFirst())


async def in_order_of_arrival(x: ExploredRun) -> None:
    await read_forever(x, RepairedLock())


EXHIBIT = Exhibit(
    name="writer starved by readers",
    source="textbook; Courtois, Heymans and Parnas 1971, first readers-writers problem",
    mechanism="There is always a reader inside, so the lock is never free for the writer.",
    buggy=readers_first,
    fixed=in_order_of_arrival,
    settings=Settings(cancels=0, liveness=True),
    finds="starvation",
    culprit="writer#0 can wait forever",
    budget=500,
)
