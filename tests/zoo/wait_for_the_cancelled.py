"""The lock's owner waits for a cancelled waiter, which waits for the lock: no other task can help."""

from __future__ import annotations

from typing import TYPE_CHECKING

import trio

from structsync.testing import Settings

from .exhibit import Exhibit

if TYPE_CHECKING:
    from structsync.testing import ExploredRun


async def cancel_and_wait(holding_the_lock: bool) -> None:
    condition = trio.Condition()
    patience = trio.CancelScope()
    over = trio.Event()

    async def waiter() -> None:
        with patience:
            async with condition:
                await condition.wait()
        over.set()

    async def canceller() -> None:
        async with condition:
            patience.cancel()
            if holding_the_lock:
                await over.wait()
        await over.wait()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(waiter)
        nursery.start_soon(canceller)


async def waits_inside(x: ExploredRun) -> None:
    await cancel_and_wait(holding_the_lock=True)


async def waits_outside(x: ExploredRun) -> None:
    await cancel_and_wait(holding_the_lock=False)


EXHIBIT = Exhibit(
    name="uncancellable wait for the lock",
    source="N8, trio#1082",
    mechanism="A cancelled wait takes the lock again, shielded; its owner waits for the waiter to "
    "be gone.",
    buggy=waits_inside,
    fixed=waits_outside,
    settings=Settings(cancels=0),
    finds="deadlock",
    culprit=r"held by canceller#0.*canceller#0\s+waits for over: not set",
    budget=10,
)
