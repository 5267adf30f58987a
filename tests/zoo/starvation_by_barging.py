"""A worker that comes back at once takes its own permit again, forever."""

from __future__ import annotations

from typing import TYPE_CHECKING

import trio

from structsync.testing import Settings

from .exhibit import Exhibit
from .semaphore_barging import BargingSemaphore, FairSemaphore, Semaphore

if TYPE_CHECKING:
    from structsync.testing import ExploredRun


async def work_forever(x: ExploredRun, semaphore: Semaphore) -> None:
    async def worker() -> None:
        while True:
            x.request()
            await semaphore.acquire()
            x.progress()
            await trio.lowlevel.checkpoint()
            semaphore.release()

    async with trio.open_nursery() as nursery:
        for _ in range(2):
            nursery.start_soon(worker)


async def starving_workers(x: ExploredRun) -> None:
    await work_forever(x, BargingSemaphore(1))


async def served_workers(x: ExploredRun) -> None:
    await work_forever(x, FairSemaphore(1))


EXHIBIT = Exhibit(
    name="starvation by barging",
    source="O1, gh-90155, asyncio.Semaphore of CPython 3.10.0",
    mechanism="The woken waiter finds the permit taken by the one that released it, every time.",
    buggy=starving_workers,
    fixed=served_workers,
    settings=Settings(cancels=0, liveness=True),
    finds="starvation",
    culprit=r"worker#\d can wait forever",
    budget=100,
)
