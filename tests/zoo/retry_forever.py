"""Cancelled is caught and the wait tried again; in trio it is cancelled again, at once, forever."""

from __future__ import annotations

from typing import TYPE_CHECKING

import trio

from structsync.testing import Settings

from .exhibit import Exhibit

if TYPE_CHECKING:
    from structsync.testing import ExploredRun


async def try_again(lock: trio.Lock) -> None:
    attempts = 1
    while True:
        try:
            return await lock.acquire()
        except trio.Cancelled:
            attempts += 1


async def shielded(lock: trio.Lock) -> None:
    with trio.CancelScope(shield=True):
        await lock.acquire()


async def insist_on_a_lock(retrying: bool) -> None:
    lock = trio.Lock()
    patience = trio.CancelScope()

    async def insistent() -> None:
        with patience:
            await (try_again(lock) if retrying else shielded(lock))
            lock.release()

    async def impatient() -> None:
        async with lock:
            patience.cancel()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(insistent)
        nursery.start_soon(impatient)


async def retry_forever(x: ExploredRun) -> None:
    await insist_on_a_lock(retrying=True)


async def wait_shielded(x: ExploredRun) -> None:
    await insist_on_a_lock(retrying=False)


EXHIBIT = Exhibit(
    name="retry after a cancellation",
    source="N5, bpo-32841, its fix carried over from asyncio, where a cancellation comes once",
    mechanism="A task that catches Cancelled and waits again is cancelled again; the loop never ends.",
    buggy=retry_forever,
    fixed=wait_shielded,
    settings=Settings(cancels=0, max_steps=200),
    finds="endless",
    culprit="not over after 200 steps.*insistent#0",
    budget=20,
)
