"""Collects items, and hands on each batch that is full."""

from __future__ import annotations

import trio


class Batcher:
    def __init__(self, size: int, sink: trio.MemorySendChannel[list[str]]) -> None:
        self.size = size
        self.sink = sink
        self.items: list[str] = []

    async def add(self, item: str) -> None:
        self.items.append(item)
        if len(self.items) == self.size:
            await self.flush()

    async def flush(self) -> None:
        await self.sink.send(list(self.items))
        self.items.clear()
