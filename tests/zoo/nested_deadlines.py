"""A timeout round a timeout: the inner one has the element already, the outer one drops it."""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, TypeAlias

import trio
from trio.lowlevel import ParkingLot

from structsync.testing import Settings

from .exhibit import Exhibit

if TYPE_CHECKING:
    from structsync.testing import ExploredRun

Take: TypeAlias = Callable[[], Awaitable[str | None]]
Timeout: TypeAlias = Callable[[Take], Awaitable[str | None]]


class Queue:
    """A woken task finds an item; a wake-up is never overridden by a cancellation."""

    def __init__(self) -> None:
        self.items: deque[str] = deque()
        self.lot = ParkingLot()

    def put(self, item: str) -> None:
        self.items.append(item)
        self.lot.unpark()

    async def take(self) -> str:
        if not self.items:
            await self.lot.park()
        return self.items.popleft()


async def in_a_task(take: Take) -> str | None:
    """Race the operation against the clock; a result that came in time is kept."""
    result: str | None = None
    finished = trio.Event()

    async def run() -> None:
        nonlocal result
        result = await take()
        finished.set()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(run)
        with trio.move_on_after(1):
            await finished.wait()
        nursery.cancel_scope.cancel()
    return result


async def in_a_scope(take: Take) -> str | None:
    with trio.move_on_after(1):
        return await take()
    return None


async def take_with_two_deadlines(x: ExploredRun, timeout: Timeout) -> None:
    queue = Queue()
    taken: list[str | None] = []

    async def consumer() -> None:
        async def inner() -> str | None:
            return await timeout(queue.take)

        taken.append(await timeout(inner))

    async def producer() -> None:
        queue.put("item")

    x.finally_(lambda: "item" in [*taken, *queue.items], "the item is taken or in the queue")
    async with trio.open_nursery() as nursery:
        nursery.start_soon(consumer)
        nursery.start_soon(producer)


async def deadlines_in_tasks(x: ExploredRun) -> None:
    await take_with_two_deadlines(x, in_a_task)


async def deadlines_in_scopes(x: ExploredRun) -> None:
    await take_with_two_deadlines(x, in_a_scope)


EXHIBIT = Exhibit(
    name="element lost between nested deadlines",
    source="P12, typelevel/cats-effect#4571",
    mechanism="The operation runs in a task of its own; the outer deadline cancels the inner race "
    "after that task took the element and before the race returned it.",
    buggy=deadlines_in_tasks,
    fixed=deadlines_in_scopes,
    settings=Settings(cancels=0, clock="explore"),
    finds="violation",
    culprit="the item is taken or in the queue",
    budget=500,
)
