"""A wake-up is stored for a later waiter; a broadcast that finds no waiter clears it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import trio
from trio.lowlevel import ParkingLot

from structsync.testing import Settings

from .exhibit import Exhibit

if TYPE_CHECKING:
    from structsync.testing import ExploredRun


class Notifier:
    """One wake-up can be stored; a broadcast is for those that wait now."""

    def __init__(self) -> None:
        self.stored = False
        self.lot = ParkingLot()

    async def wait(self) -> None:
        if self.stored:
            self.stored = False
        else:
            await self.lot.park()

    def notify(self) -> None:
        if self.lot:
            self.lot.unpark()
        else:
            self.stored = True

    def broadcast(self) -> None:
        self.stored = False
        self.lot.unpark_all()


class RepairedNotifier(Notifier):
    def broadcast(self) -> None:
        self.lot.unpark_all()


async def notify_and_broadcast(x: ExploredRun, notifier: Notifier) -> None:
    async def waiter() -> None:
        await notifier.wait()

    async def sender() -> None:
        notifier.notify()
        await trio.lowlevel.checkpoint()
        notifier.broadcast()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(waiter)
        nursery.start_soon(sender)


async def stored_wakeup_is_cleared(x: ExploredRun) -> None:
    await notify_and_broadcast(x, Notifier())


async def stored_wakeup_is_kept(x: ExploredRun) -> None:
    await notify_and_broadcast(x, RepairedNotifier())


EXHIBIT = Exhibit(
    name="stored wake-up overwritten",
    source="N11, tokio#3652",
    mechanism="A broadcast resets the state that held a wake-up for the next waiter.",
    buggy=stored_wakeup_is_cleared,
    fixed=stored_wakeup_is_kept,
    settings=Settings(cancels=0),
    finds="deadlock",
    culprit=r"waiter#0\s+waits\s+\(\S+\.py:\d+ in wait\)",
    budget=20,
)
