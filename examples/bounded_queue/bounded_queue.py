"""A queue with room for a fixed number of items, with two conditions and one lock, as in the textbooks."""

from __future__ import annotations

from collections import deque
from typing import Generic, TypeVar

from trio import Condition, Lock

T = TypeVar("T")


class BoundedQueue(Generic[T]):
    def __init__(self, size: int, *items: T) -> None:
        self.size = size
        self.items = deque(items)
        lock = Lock()
        self.not_empty = Condition(lock)
        self.not_full = Condition(lock)

    async def put(self, item: T) -> None:
        async with self.not_full:
            while len(self.items) == self.size:
                await self.not_full.wait()
            self.items.append(item)
            self.not_empty.notify()

    async def get(self) -> T:
        async with self.not_empty:
            while not self.items:
                await self.not_empty.wait()
            item = self.items.popleft()
            self.not_full.notify()
            return item
