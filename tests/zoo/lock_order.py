"""Two tasks take two locks in opposite orders, and each waits for what the other has."""

from __future__ import annotations

from typing import TYPE_CHECKING

import trio

from structsync.testing import Settings

from .exhibit import Exhibit

if TYPE_CHECKING:
    from structsync.testing import ExploredRun


async def transfer(first: trio.Lock, second: trio.Lock) -> None:
    async with first, second:
        await trio.lowlevel.checkpoint()


async def opposite_orders(x: ExploredRun) -> None:
    left, right = trio.Lock(), trio.Lock()
    x.watch(left=left, right=right)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(transfer, left, right)
        nursery.start_soon(transfer, right, left)


async def one_order(x: ExploredRun) -> None:
    left, right = trio.Lock(), trio.Lock()
    x.watch(left=left, right=right)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(transfer, left, right)
        nursery.start_soon(transfer, left, right)


EXHIBIT = Exhibit(
    name="lock order inversion (AB-BA)",
    source="textbook; Coffman, Elphick and Shoshani 1971, circular wait",
    mechanism="Two tasks take the same two locks in opposite orders; each waits for the other.",
    buggy=opposite_orders,
    fixed=one_order,
    settings=Settings(cancels=1, cancel="tasks"),
    finds="deadlock",
    culprit="waits for right: held by transfer#1.*waits for left: held by transfer#0",
    budget=20,
)
