"""A cache that fetches each key once, however many tasks want it at the same time."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import trio


class Cache:
    """What ``fetch`` returns for a key; tasks that come while it is fetched wait for that."""

    def __init__(self, fetch: Callable[[str], Awaitable[str]]) -> None:
        self._fetch = fetch
        self._values: dict[str, str] = {}
        self._on_the_way: dict[str, trio.Event] = {}

    async def get(self, key: str) -> str:
        """Return the value of a key, fetched by this task or by one that came before."""
        if key in self._on_the_way:
            await self._on_the_way[key].wait()
        elif key not in self._values:
            self._on_the_way[key] = arrived = trio.Event()
            self._values[key] = await self._fetch(key)
            del self._on_the_way[key]
            arrived.set()
        return self._values[key]
