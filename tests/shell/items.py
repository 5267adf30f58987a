"""Items for pools, and where they are made, checked and closed: at once, behind a gate, or not at all."""

from __future__ import annotations

from dataclasses import dataclass

import trio


@dataclass(frozen=True)
class Item:
    number: int

    def __repr__(self) -> str:
        return f"item {self.number}"


class Workshop:
    """Keeps count of what exists."""

    def __init__(self) -> None:
        self.made = 0
        self.open: list[Item] = []
        self.closed: list[Item] = []
        self.checked: list[Item] = []
        self.most = 0  # existed at once, those included that are being made or closed
        self.underway = 0
        self.errors: list[Exception] = []  # for the next to be made
        self.close_errors: list[Exception] = []
        self.bad: set[Item] = set()
        self.check_error: Exception | None = None
        self.gate: trio.Event | None = None
        self.check_gate: trio.Event | None = None
        self.close_gate: trio.Event | None = None

    def count(self, underway: int = 0) -> None:
        self.underway += underway
        self.most = max(self.most, self.underway + len(self.open))

    async def make(self) -> Item:
        self.count(1)
        try:
            if self.gate is not None:
                await self.gate.wait()
            if self.errors:
                raise self.errors.pop(0)
            self.made += 1
            item = Item(self.made)
            self.open.append(item)
            return item
        finally:
            self.count(-1)

    async def check(self, item: Item) -> bool:
        self.checked.append(item)
        if self.check_gate is not None:
            await self.check_gate.wait()
        if self.check_error is not None:
            raise self.check_error
        return item not in self.bad

    async def close(self, item: Item) -> None:
        if self.close_gate is not None:
            await self.close_gate.wait()
        await trio.lowlevel.checkpoint()
        if self.close_errors:
            raise self.close_errors.pop(0)
        self.open.remove(item)
        self.closed.append(item)
