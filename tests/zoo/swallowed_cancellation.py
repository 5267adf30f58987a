"""A condition's wait keeps a cancellation to itself and returns as if it had been notified."""

from __future__ import annotations

from typing import TYPE_CHECKING

import trio
from trio.lowlevel import ParkingLot

from structsync.testing import Settings

from .exhibit import Exhibit

if TYPE_CHECKING:
    from structsync.testing import ExploredRun


class Condition:
    """A condition variable that makes sure that every wait ends with the lock."""

    def __init__(self) -> None:
        self.lock = trio.Lock()
        self.lot = ParkingLot()

    async def wait(self) -> None:
        self.lock.release()
        try:
            await self.lot.park()
        except trio.Cancelled:
            pass  # first the lock
        with trio.CancelScope(shield=True):
            await self.lock.acquire()

    def notify(self) -> None:
        self.lot.unpark()


class RepairedCondition(Condition):
    async def wait(self) -> None:
        self.lock.release()
        try:
            await self.lot.park()
        finally:
            with trio.CancelScope(shield=True):
                await self.lock.acquire()


async def give_up_waiting(x: ExploredRun, condition: Condition) -> None:
    patience = trio.CancelScope()
    ready = False

    async def waiter() -> None:
        with patience:
            async with condition.lock:
                if not ready:
                    await condition.wait()
                if not ready:
                    x.fail("wait() returned without a notification")

    async def notifier() -> None:
        nonlocal ready
        async with condition.lock:
            ready = True
            condition.notify()

    async def impatient() -> None:
        patience.cancel()

    async with trio.open_nursery() as nursery:
        for one in (waiter, notifier, impatient):
            nursery.start_soon(one)


async def cancellation_is_swallowed(x: ExploredRun) -> None:
    await give_up_waiting(x, Condition())


async def cancellation_is_passed_on(x: ExploredRun) -> None:
    await give_up_waiting(x, RepairedCondition())


EXHIBIT = Exhibit(
    name="swallowed cancellation",
    source="N5, gh-77022 (bpo-32841)",
    mechanism="Cancelled is caught to take the lock again and not raised afterwards; the caller "
    "goes on as if notified.",
    buggy=cancellation_is_swallowed,
    fixed=cancellation_is_passed_on,
    settings=Settings(cancels=0),
    finds="violation",
    culprit="without a notification",
    budget=50,
)
