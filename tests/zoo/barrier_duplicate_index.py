"""A party gives up, the next one to come gets the number of one that is still there."""

from __future__ import annotations

from typing import TYPE_CHECKING

import outcome
import trio
from trio.lowlevel import Abort, ParkingLot, RaiseCancelT, Task

from structsync.testing import Settings

from .exhibit import Exhibit

if TYPE_CHECKING:
    from structsync.testing import ExploredRun


class Barrier:
    """Opens for three and gives each a number."""

    def __init__(self) -> None:
        self.lot = ParkingLot()

    async def wait(self) -> int:
        index = len(self.lot)
        if index == 2:
            self.lot.unpark_all()
        else:
            await self.lot.park()
        return index


class RepairedBarrier(Barrier):
    """Gives the numbers when it opens."""

    def __init__(self) -> None:
        super().__init__()
        self.queue: list[Task] = []

    async def wait(self) -> int:
        me = trio.lowlevel.current_task()
        if len(self.queue) == 2:
            for number, task in enumerate(self.queue):
                trio.lowlevel.reschedule(task, outcome.Value(number))
            self.queue.clear()
            return 2
        self.queue.append(me)

        def abort(_: RaiseCancelT) -> Abort:
            self.queue.remove(me)
            return Abort.SUCCEEDED

        index: int = await trio.lowlevel.wait_task_rescheduled(abort)
        return index


async def meet(x: ExploredRun, barrier: Barrier) -> None:
    given: set[int] = set()

    async def party() -> None:
        index = None
        with trio.CancelScope():
            index = await barrier.wait()
        if index is None:
            index = await barrier.wait()
        if index in given:
            x.fail(f"two parties have the number {index}")
        given.add(index)

    async with trio.open_nursery() as nursery:
        for _ in range(3):
            nursery.start_soon(party)


async def numbered_on_arrival(x: ExploredRun) -> None:
    await meet(x, Barrier())


async def numbered_on_opening(x: ExploredRun) -> None:
    await meet(x, RepairedBarrier())


EXHIBIT = Exhibit(
    name="barrier with a number given twice",
    source="B1, python/cpython#155233, asyncio.Barrier",
    mechanism="Numbers are given on arrival; after a cancellation the next one to come gets a "
    "number that is taken.",
    buggy=numbered_on_arrival,
    fixed=numbered_on_opening,
    settings=Settings(cancels=1),
    finds="violation",
    culprit="two parties have the number 1",
    budget=200,
)
