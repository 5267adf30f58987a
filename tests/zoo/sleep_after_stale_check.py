"""Look, wait a moment, lie down: what should have woken the sleeper came in that moment."""

from __future__ import annotations

from typing import TYPE_CHECKING

import trio
from trio.lowlevel import ParkingLot

from structsync.testing import Settings

from .exhibit import Exhibit

if TYPE_CHECKING:
    from structsync.testing import ExploredRun


class Lock:
    """A lock that can tell a task that it is contended."""

    def __init__(self) -> None:
        self.held = False
        self.lot = ParkingLot()

    async def on_contention(self) -> None:
        """Stands for a line in a log, a metric, a check for cancellation."""
        await trio.lowlevel.checkpoint()

    async def acquire(self) -> None:
        if self.held:
            await self.on_contention()
            await self.lot.park()
        self.held = True

    def release(self) -> None:
        if self.lot:
            self.lot.unpark()
        else:
            self.held = False


class RepairedLock(Lock):
    async def acquire(self) -> None:
        if self.held:
            await self.on_contention()
        if self.held:
            await self.lot.park()
        self.held = True


async def visit(x: ExploredRun, lock: Lock) -> None:
    async def worker() -> None:
        await lock.acquire()
        with x.exclusive("lock"):
            await trio.lowlevel.checkpoint()
        lock.release()

    async with trio.open_nursery() as nursery:
        for _ in range(2):
            nursery.start_soon(worker)


async def stale_check(x: ExploredRun) -> None:
    await visit(x, Lock())


async def fresh_check(x: ExploredRun) -> None:
    await visit(x, RepairedLock())


EXHIBIT = Exhibit(
    name="sleep after a stale check",
    source="P7, kotlinx#2380; N15, e2b-dev/infra#3629",
    mechanism="Between the test and the sleep there is a checkpoint; the release in between finds "
    "no task to wake.",
    buggy=stale_check,
    fixed=fresh_check,
    settings=Settings(cancels=0),
    finds="deadlock",
    culprit=r"worker#\d\s+waits\s+\(\S+\.py:\d+ in acquire\)",
    budget=50,
)
