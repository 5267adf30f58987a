"""A worker is cancelled at its work and never comes to the line that releases its permit."""

from __future__ import annotations

from typing import TYPE_CHECKING

import trio

import structsync
from structsync.testing import Settings

from .exhibit import Exhibit

if TYPE_CHECKING:
    from structsync.testing import ExploredRun


async def permit_is_kept(x: ExploredRun) -> None:
    permits = structsync.Semaphore(2, max_value=2)

    async def worker() -> None:
        await permits.acquire()
        await trio.lowlevel.checkpoint()
        permits.release()

    async with trio.open_nursery() as nursery:
        for _ in range(2):
            nursery.start_soon(worker)


async def permit_is_released(x: ExploredRun) -> None:
    permits = structsync.Semaphore(2, max_value=2)

    async def worker() -> None:
        async with permits:
            await trio.lowlevel.checkpoint()

    async with trio.open_nursery() as nursery:
        for _ in range(2):
            nursery.start_soon(worker)


EXHIBIT = Exhibit(
    name="permit kept by the cancelled",
    source="P18, typelevel/fs2#3595",
    mechanism="The release stands after the work, but not in a finally or at the end of a block. "
    "The test has no check of its own: a semaphore with a maximum has to be whole at the end.",
    buggy=permit_is_kept,
    fixed=permit_is_released,
    settings=Settings(cancels=1, cancel="tasks"),
    finds="leak",
    culprit="Semaphore has the value 1 at the end, not 2",
    budget=100,
)
