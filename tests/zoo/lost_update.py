"""Read, wait, write: what another task wrote meanwhile is gone."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager, nullcontext
from typing import TYPE_CHECKING, Any

import trio

from structsync.testing import Settings

from .exhibit import Exhibit

if TYPE_CHECKING:
    from structsync.testing import ExploredRun


async def count(guard: AbstractAsyncContextManager[Any]) -> None:
    total = 0

    async def worker() -> None:
        nonlocal total
        async with guard:
            read = total
            await trio.lowlevel.checkpoint()
            total = read + 1

    async with trio.open_nursery() as nursery:
        for _ in range(2):
            nursery.start_soon(worker)
    assert total == 2, f"two workers counted to {total}"


async def unguarded_counter(x: ExploredRun) -> None:
    await count(nullcontext())


async def guarded_counter(x: ExploredRun) -> None:
    await count(trio.Lock())


EXHIBIT = Exhibit(
    name="lost update",
    source="textbook; the first example of most race detectors",
    mechanism="Two tasks read a value, wait, and write it back increased; one increase is lost.",
    buggy=unguarded_counter,
    fixed=guarded_counter,
    settings=Settings(cancels=0),
    finds="error",
    culprit="two workers counted to 1",
    budget=10,
)
