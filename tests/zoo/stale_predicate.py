"""A notified waiter does not test its predicate again, and another task was faster."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

import trio

from structsync.testing import Settings

from .exhibit import Exhibit

if TYPE_CHECKING:
    from structsync.testing import ExploredRun


class Queue:
    """Guarded by a condition, whose notified waiters join the lock's line at its end."""

    def __init__(self) -> None:
        self.items: deque[str] = deque()
        self.condition = trio.Condition()

    async def put(self, item: str) -> None:
        async with self.condition:
            self.items.append(item)
            self.condition.notify()

    async def get(self) -> str:
        async with self.condition:
            if not self.items:
                await self.condition.wait()
            return self.items.popleft()


class RepairedQueue(Queue):
    async def get(self) -> str:
        async with self.condition:
            while not self.items:
                await self.condition.wait()
            return self.items.popleft()


async def two_consumers(x: ExploredRun, queue: Queue) -> None:
    async def consumer() -> None:
        await queue.get()

    async def producer() -> None:
        for item in ("one", "two"):
            await queue.put(item)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(consumer)
        nursery.start_soon(consumer)
        nursery.start_soon(producer)


async def if_not(x: ExploredRun) -> None:
    await two_consumers(x, Queue())


async def while_not(x: ExploredRun) -> None:
    await two_consumers(x, RepairedQueue())


EXHIBIT = Exhibit(
    name="predicate not tested again",
    source="textbook; Lampson and Redell 1980, Mesa monitors",
    mechanism="Between the notification and the run of the waiter another consumer takes the item; "
    "the waiter was written with if instead of while.",
    buggy=if_not,
    fixed=while_not,
    settings=Settings(cancels=0),
    finds="error",
    culprit="pop from an empty deque",
    budget=100,
)
