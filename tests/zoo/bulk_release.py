"""Two permits come back at once, and one waiter is woken."""

from __future__ import annotations

from typing import TYPE_CHECKING

import trio
from trio.lowlevel import ParkingLot

from structsync.testing import Settings

from .exhibit import Exhibit

if TYPE_CHECKING:
    from structsync.testing import ExploredRun


class Semaphore:
    """Counts signals; several can be given at once."""

    def __init__(self) -> None:
        self.value = 0
        self.lot = ParkingLot()

    async def acquire(self) -> None:
        while self.value == 0:
            await self.lot.park()
        self.value -= 1

    def release(self, n: int) -> None:
        self.value += n
        self.lot.unpark()


class RepairedSemaphore(Semaphore):
    def release(self, n: int) -> None:
        self.value += n
        self.lot.unpark(count=n)


async def signal_both(x: ExploredRun, semaphore: Semaphore) -> None:
    async def waiter() -> None:
        await semaphore.acquire()

    async def signaller() -> None:
        semaphore.release(2)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(waiter)
        nursery.start_soon(waiter)
        nursery.start_soon(signaller)


async def one_is_woken(x: ExploredRun) -> None:
    await signal_both(x, Semaphore())


async def both_are_woken(x: ExploredRun) -> None:
    await signal_both(x, RepairedSemaphore())


EXHIBIT = Exhibit(
    name="bulk release wakes one",
    source="O10, smol-rs/async-lock#18, embassy#2766",
    mechanism="As many permits as there are waiters come back in one call that wakes only one.",
    buggy=one_is_woken,
    fixed=both_are_woken,
    settings=Settings(cancels=0),
    finds="deadlock",
    culprit=r"waiter#1\s+waits\s+\(\S+\.py:\d+ in acquire\)",
    budget=10,
)
