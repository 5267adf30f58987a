"""An item is handed to a consumer that is being cancelled; no task has it any more."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

import trio

from structsync.testing import Settings

from .exhibit import Exhibit

if TYPE_CHECKING:
    from structsync.testing import ExploredRun


class Slot:
    """Where a waiting consumer finds its item."""

    def __init__(self) -> None:
        self.item: str | None = None
        self.filled = trio.Event()


class Queue:
    """An item goes to the first consumer in the queue, without a detour."""

    def __init__(self) -> None:
        self.items: deque[str] = deque()
        self.consumers: deque[Slot] = deque()

    def put(self, item: str) -> None:
        if self.consumers:
            slot = self.consumers.popleft()
            slot.item = item
            slot.filled.set()
        else:
            self.items.append(item)

    async def get(self) -> str:
        if self.items:
            return self.items.popleft()
        slot = Slot()
        self.consumers.append(slot)
        try:
            await slot.filled.wait()
        except trio.Cancelled:
            self.cancelled(slot)
            raise
        assert slot.item is not None
        return slot.item

    def cancelled(self, slot: Slot) -> None:
        if slot in self.consumers:
            self.consumers.remove(slot)


class RepairedQueue(Queue):
    def cancelled(self, slot: Slot) -> None:
        super().cancelled(slot)
        if slot.item is not None:
            self.put(slot.item)


async def ask_twice(x: ExploredRun, queue: Queue) -> None:
    async def consumer() -> None:
        with trio.CancelScope() as patience:
            await queue.get()
        if patience.cancelled_caught:
            await queue.get()

    async def producer() -> None:
        queue.put("item")

    async with trio.open_nursery() as nursery:
        nursery.start_soon(consumer)
        nursery.start_soon(producer)


async def item_is_lost(x: ExploredRun) -> None:
    await ask_twice(x, Queue())


async def item_is_put_back(x: ExploredRun) -> None:
    await ask_twice(x, RepairedQueue())


EXHIBIT = Exhibit(
    name="lost item",
    source="P13, cats-effect#3000; P14, bpo-23812; P15, tornado#2826",
    mechanism="An item is put into the slot of a consumer whose cancellation is on its way; the "
    "consumer tries again and waits forever.",
    buggy=item_is_lost,
    fixed=item_is_put_back,
    settings=Settings(cancels=1),
    finds="deadlock",
    culprit=r"consumer#0\s+waits for slot\.filled: not set.* in get",
    budget=50,
)
