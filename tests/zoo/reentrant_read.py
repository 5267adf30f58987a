"""A reader reads again while it reads; in between a writer has joined the line."""

from __future__ import annotations

from typing import TYPE_CHECKING

import trio

from structsync.testing import Settings

from .cancelled_writer import RepairedLock
from .exhibit import Exhibit

if TYPE_CHECKING:
    from structsync.testing import ExploredRun


async def read_and_write(again: bool) -> None:
    lock = RepairedLock()

    async def reader() -> None:
        await lock.acquire(writes=False)
        await trio.lowlevel.checkpoint()
        await helper(inside=not again)
        lock.release()

    async def helper(inside: bool) -> None:
        if not inside:
            await lock.acquire(writes=False)
        await trio.lowlevel.checkpoint()
        if not inside:
            lock.release()

    async def writer() -> None:
        await lock.acquire(writes=True)
        lock.release()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(reader)
        nursery.start_soon(writer)


async def read_again_inside(x: ExploredRun) -> None:
    await read_and_write(again=True)


async def read_once(x: ExploredRun) -> None:
    await read_and_write(again=False)


EXHIBIT = Exhibit(
    name="recursive read",
    source="D3, tokio#2849",
    mechanism="The second read waits behind a writer, which waits for the first read to end.",
    buggy=read_again_inside,
    fixed=read_once,
    settings=Settings(cancels=0),
    finds="deadlock",
    culprit=r"reader#0\s.* in acquire.* in helper.*writer#0\s.* in acquire",
    budget=20,
)
