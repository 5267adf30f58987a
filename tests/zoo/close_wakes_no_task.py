"""A queue is closed under its waiting consumers, and they are not told."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

import trio
from trio.lowlevel import ParkingLot

from structsync.testing import Settings

from .exhibit import Exhibit

if TYPE_CHECKING:
    from structsync.testing import ExploredRun


class Queue:
    """Raises for a caller when it is closed."""

    def __init__(self) -> None:
        self.items: deque[str] = deque()
        self.closed = False
        self.lot = ParkingLot()

    def put(self, item: str) -> None:
        self.items.append(item)
        self.lot.unpark()

    async def get(self) -> str:
        while not self.items:
            if self.closed:
                raise trio.EndOfChannel
            await self.lot.park()
        return self.items.popleft()

    def close(self) -> None:
        self.closed = True


class RepairedQueue(Queue):
    def close(self) -> None:
        super().close()
        self.lot.unpark_all()


async def consume_until_closed(x: ExploredRun, queue: Queue) -> None:
    async def consumer() -> None:
        try:
            while True:
                await queue.get()
        except trio.EndOfChannel:
            return

    async def producer() -> None:
        queue.put("item")
        await trio.lowlevel.checkpoint()
        queue.close()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(consumer)
        nursery.start_soon(producer)


async def close_wakes_no_task(x: ExploredRun) -> None:
    await consume_until_closed(x, Queue())


async def close_wakes_all_tasks(x: ExploredRun) -> None:
    await consume_until_closed(x, RepairedQueue())


EXHIBIT = Exhibit(
    name="close that wakes no task",
    source="C2, gh-117531, asyncio.Queue.shutdown",
    mechanism="Closing is reported to later arrivals, but not to the waiters.",
    buggy=close_wakes_no_task,
    fixed=close_wakes_all_tasks,
    settings=Settings(cancels=0),
    finds="deadlock",
    culprit=r"consumer#0\s+waits\s+\(\S+\.py:\d+ in get\)",
    budget=10,
)
