"""A condition's wait is cancelled while it takes the lock again, and ends without the lock."""

from __future__ import annotations

from typing import TYPE_CHECKING

import trio
from trio.lowlevel import ParkingLot

from structsync.testing import Settings

from .exhibit import Exhibit

if TYPE_CHECKING:
    from structsync.testing import ExploredRun


class Condition:
    """A condition variable on trio's lock."""

    def __init__(self) -> None:
        self.lock = trio.Lock()
        self.lot = ParkingLot()

    async def wait(self) -> None:
        self.lock.release()
        try:
            await self.lot.park()
        finally:
            await self.lock.acquire()

    def notify(self) -> None:
        self.lot.unpark()


class RepairedCondition(Condition):
    async def wait(self) -> None:
        self.lock.release()
        try:
            await self.lot.park()
        finally:
            with trio.CancelScope(shield=True):
                await self.lock.acquire()


async def give_up_waiting(x: ExploredRun, condition: Condition) -> None:
    patience = trio.CancelScope()

    async def waiter() -> None:
        with patience:
            async with condition.lock:
                await condition.wait()

    async def notifier() -> None:
        async with condition.lock:
            condition.notify()
            patience.cancel()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(waiter)
        nursery.start_soon(notifier)


async def wait_ends_without_lock(x: ExploredRun) -> None:
    await give_up_waiting(x, Condition())


async def wait_ends_with_lock(x: ExploredRun) -> None:
    await give_up_waiting(x, RepairedCondition())


EXHIBIT = Exhibit(
    name="wait ends without the lock",
    source="N4, python/asyncio#346; N6, gh-86766",
    mechanism="A waiter is cancelled while it takes the lock again; its block ends and releases a "
    "lock that it does not own.",
    buggy=wait_ends_without_lock,
    fixed=wait_ends_with_lock,
    settings=Settings(cancels=0),
    finds="error",
    culprit="can't release a Lock you don't own",
    budget=20,
)
