"""A cache: many tasks request a key at the same time, and it is loaded once.

A lock for each key, which is there as long as a task uses it, makes the second one wait for what the first
one loads. If that one is cancelled, the next loads it. Other keys do not wait.

Prints::

    5 asked for 2 keys: it was loaded twice, in 1 s
    first: FIRST, second: SECOND
    a third time from the cache, in 0 s
"""

from collections.abc import Awaitable, Callable

import trio
from trio.testing import MockClock

from structsync import LockMap
from structsync.testing import ExploredRun, explore


class Cache:
    """Values by their keys, each loaded when it is asked for."""

    def __init__(self, load: Callable[[str], Awaitable[str]]) -> None:
        self.load = load
        self.values: dict[str, str] = {}
        self.locks = LockMap[str](name="loading")

    async def get(self, key: str) -> str:
        if key not in self.values:
            async with self.locks[key]:
                if key not in self.values:  # unless it was loaded while this task waited
                    self.values[key] = await self.load(key)
        return self.values[key]


async def main() -> None:
    loads: list[str] = []

    async def load(key: str) -> str:
        loads.append(key)
        await trio.sleep(1)
        return key.upper()

    cache, began = Cache(load), trio.current_time()
    async with trio.open_nursery() as nursery:
        for key in ("first", "second", "first", "first", "second"):
            nursery.start_soon(cache.get, key)
    times = {2: "twice"}.get(len(loads), f"{len(loads)} times")
    print(f"5 asked for 2 keys: it was loaded {times}, in {trio.current_time() - began:.0f} s")
    print(", ".join(f"{key}: {value}" for key, value in sorted(cache.values.items())))
    began = trio.current_time()
    await cache.get("first")
    print(f"a third time from the cache, in {trio.current_time() - began:.0f} s")


@explore(exhaustive=True)
async def test_a_key_is_loaded_once_whichever_task_is_cancelled(x: ExploredRun) -> None:
    loaded: list[str] = []

    async def load(key: str) -> str:
        with x.exclusive(f"loading {key}"):
            await trio.lowlevel.checkpoint()
        loaded.append(key)
        return key.upper()

    async def ask(key: str) -> None:
        with trio.CancelScope() as scope:
            assert await cache.get(key) == key.upper()
        if not scope.cancelled_caught:
            assert loaded.count(key) == 1

    cache = Cache(load)
    async with trio.open_nursery() as nursery:
        for key in ("first", "first"):
            nursery.start_soon(ask, key)
    assert len(cache.locks) == 0


if __name__ == "__main__":
    trio.run(main, clock=MockClock(autojump_threshold=0))
