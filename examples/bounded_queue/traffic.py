"""Two consumers and two producers at a queue that is full; one producer loses patience."""

from __future__ import annotations

from typing import Protocol

import trio


class Queue(Protocol):
    async def put(self, item: str) -> None: ...
    async def get(self) -> str: ...


async def traffic(queue: Queue) -> None:
    async with trio.open_nursery() as nursery:
        nursery.start_soon(queue.put, "mine", name="patient")
        nursery.start_soon(queue.get, name="consumer")
        nursery.start_soon(queue.get, name="consumer")
        with trio.move_on_after(60):
            await queue.put("now or never")
