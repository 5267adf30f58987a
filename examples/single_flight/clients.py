"""Two clients that want the same thing at the same time; one of them waits for a minute at most."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Protocol

import trio


class AnyCache(Protocol):
    """A cache of strings, of whichever version."""

    async def get(self, key: str) -> str:
        """Return the value of a key."""
        ...


async def two_clients(make: Callable[[Callable[[str], Awaitable[str]]], AnyCache]) -> None:
    fetched: list[str] = []

    async def fetch(key: str) -> str:
        await trio.lowlevel.checkpoint()  # the network
        fetched.append(key)
        return key.upper()

    async def patient() -> None:
        assert await cache.get("logo") == "LOGO"

    async def impatient() -> None:
        with trio.move_on_after(60):
            await patient()

    cache = make(fetch)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(patient)
        nursery.start_soon(impatient)
    assert len(fetched) <= 1, "it was fetched twice"
