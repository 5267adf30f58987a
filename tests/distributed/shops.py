"""An object to host, which says what was done with it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import trio


class Counting(Protocol):
    """What callers see of it."""

    async def add(self, what: str) -> int: ...
    async def finish(self, what: str) -> None: ...
    async def wait(self, what: str) -> str: ...
    async def insist(self, what: str) -> None: ...


class Counter:
    """Counts how often each thing was added; a wait ends when it is opened."""

    def __init__(self, say: Callable[..., object] = lambda *words: None) -> None:
        self.added: dict[str, int] = {}
        self.open = trio.Event()
        self.say = say

    async def add(self, what: str) -> int:
        self.added[what] = self.added.get(what, 0) + 1
        await trio.lowlevel.checkpoint()
        return self.added[what]

    async def finish(self, what: str) -> None:
        await trio.lowlevel.checkpoint()
        self.added[what] = 1

    async def wait(self, what: str) -> str:
        self.say("entered", what)
        try:
            await self.open.wait()
        except trio.Cancelled:
            self.say("cancelled", what)
            raise
        return what

    async def insist(self, what: str) -> None:
        """Do it, cancelled or not."""
        await self.add(what)
        with trio.CancelScope(shield=True):
            await self.open.wait()
