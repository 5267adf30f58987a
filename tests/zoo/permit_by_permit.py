"""A claim for several permits is collected one by one, and two half claims block each other."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

import trio

import structsync
from structsync.testing import Settings

from .exhibit import Exhibit

if TYPE_CHECKING:
    from structsync.testing import ExploredRun


async def visitors(
    x: ExploredRun, take_two: Callable[[structsync.Semaphore], Awaitable[None]]
) -> None:
    permits = structsync.Semaphore(2, max_value=2)
    x.watch(permits=permits)

    async def visitor() -> None:
        await take_two(permits)
        permits.release(2)

    async with trio.open_nursery() as nursery:
        for _ in range(2):
            nursery.start_soon(visitor)


async def one_by_one(permits: structsync.Semaphore) -> None:
    for _ in range(2):
        await permits.acquire()


async def all_at_once(permits: structsync.Semaphore) -> None:
    await permits.acquire(2)


async def partial_claims(x: ExploredRun) -> None:
    await visitors(x, one_by_one)


async def whole_claims(x: ExploredRun) -> None:
    await visitors(x, all_at_once)


EXHIBIT = Exhibit(
    name="partial allocation (hold and wait)",
    source="D9, tokio PR 1973 review",
    mechanism="Each task holds a part of its claim and waits for the rest, which another one holds.",
    buggy=partial_claims,
    fixed=whole_claims,
    settings=Settings(cancels=0),
    finds="deadlock",
    culprit=r"visitor#0\s+waits for permits: 0 of 2 free.*visitor#1\s+waits for permits: 0 of 2 free",
    budget=20,
)
