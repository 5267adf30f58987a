"""An object to host, which says what was done with it."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
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


class Journaling(Protocol):
    """What callers see of a journal."""

    async def note(self, what: str) -> None: ...
    async def tick(self) -> None: ...


class Journal:
    """Writes to a file what was done, which outlives its process."""

    def __init__(self, path: Path, say: Callable[..., object] = lambda *words: None) -> None:
        self.path = path
        self.say = say

    def write(self, what: object) -> None:
        with self.path.open("a") as file:
            file.write(f"{what}\n")

    def lines(self) -> list[str]:
        return self.path.read_text().split()

    async def note(self, what: str) -> None:
        self.write(what)
        await trio.lowlevel.checkpoint()

    async def tick(self) -> None:
        """Write what time it is, again and again."""
        self.write(time.monotonic_ns())
        self.say("entered")
        while True:
            await trio.sleep(0.001)
            await trio.lowlevel.checkpoint()  # a sleep that was over before the lease returns
            self.write(time.monotonic_ns())
