"""The cache with a lock for each key, which passes on when its owner is cancelled."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from structsync import LockMap


class Cache:
    """What ``fetch`` returns for a key; tasks that come while it is fetched wait for that."""

    def __init__(self, fetch: Callable[[str], Awaitable[str]]) -> None:
        self._fetch = fetch
        self._values: dict[str, str] = {}
        self._locks = LockMap[str]()

    async def get(self, key: str) -> str:
        """Return the value of a key, fetched by this task or by one that came before."""
        async with self._locks[key]:
            if key not in self._values:
                self._values[key] = await self._fetch(key)
            return self._values[key]
