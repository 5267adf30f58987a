"""A party gives up and comes back; the barrier has counted it twice and opens for it alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import trio
from trio.lowlevel import ParkingLot

from structsync.testing import Settings

from .exhibit import Exhibit

if TYPE_CHECKING:
    from structsync.testing import ExploredRun


class Barrier:
    """Opens for two."""

    def __init__(self) -> None:
        self.arrived = 0
        self.lot = ParkingLot()

    async def wait(self) -> None:
        self.arrived += 1
        if self.arrived == 2:
            self.arrived = 0
            self.lot.unpark_all()
        else:
            await self.lot.park()


class RepairedBarrier(Barrier):
    """Counts the parties that are there."""

    async def wait(self) -> None:
        if len(self.lot) == 1:
            self.lot.unpark_all()
        else:
            await self.lot.park()


async def meet(x: ExploredRun, barrier: Barrier) -> None:
    async def party() -> None:
        with trio.CancelScope() as patience:
            await barrier.wait()
        if patience.cancelled_caught:
            await barrier.wait()

    async with trio.open_nursery() as nursery:
        for _ in range(2):
            nursery.start_soon(party)


async def cancelled_party_counts(x: ExploredRun) -> None:
    await meet(x, Barrier())


async def a_party_that_is_there_counts(x: ExploredRun) -> None:
    await meet(x, RepairedBarrier())


EXHIBIT = Exhibit(
    name="barrier that counts the cancelled",
    source="B2, tokio#6494",
    mechanism="A cancelled party stays counted; the barrier opens too early, and the last one to "
    "come waits forever.",
    buggy=cancelled_party_counts,
    fixed=a_party_that_is_there_counts,
    settings=Settings(cancels=1),
    finds="deadlock",
    culprit=r"party#\d\s+waits\s+\(\S+\.py:\d+ in wait\)",
    budget=100,
)
