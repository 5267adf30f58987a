"""A limiter that grows admits as many as it grew by, also if it was overdrawn before."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

import trio

from structsync.testing import Settings

from .exhibit import Exhibit

if TYPE_CHECKING:
    from structsync.testing import ExploredRun


class Limiter:
    """Tokens whose number can change while they are lent."""

    def __init__(self, total: int) -> None:
        self.total = total
        self.borrowed = 0
        self.queue: deque[trio.Event] = deque()

    async def acquire(self) -> None:
        if self.borrowed < self.total and not self.queue:
            self.borrowed += 1
            return
        granted = trio.Event()
        self.queue.append(granted)
        await granted.wait()

    def admit(self) -> None:
        self.borrowed += 1
        self.queue.popleft().set()

    def release(self) -> None:
        self.borrowed -= 1
        if self.queue and self.borrowed < self.total:
            self.admit()

    def resize(self, total: int) -> None:
        for _ in range(min(total - self.total, len(self.queue))):
            self.admit()
        self.total = total


class RepairedLimiter(Limiter):
    def resize(self, total: int) -> None:
        self.total = total
        while self.queue and self.borrowed < self.total:
            self.admit()


async def visit(x: ExploredRun, limiter: Limiter) -> None:
    async def borrower() -> None:
        await limiter.acquire()
        with x.exclusive("token", limit=2):
            await trio.lowlevel.checkpoint()
        limiter.release()

    async def administrator() -> None:
        limiter.resize(1)
        await trio.lowlevel.checkpoint()
        limiter.resize(2)

    async with trio.open_nursery() as nursery:
        for _ in range(3):
            nursery.start_soon(borrower)
        nursery.start_soon(administrator)


async def grown_by_difference(x: ExploredRun) -> None:
    await visit(x, Limiter(2))


async def grown_by_room(x: ExploredRun) -> None:
    await visit(x, RepairedLimiter(2))


EXHIBIT = Exhibit(
    name="over-grant after shrinking and growing",
    source="O4, anyio PR 1223",
    mechanism="Two tokens are lent, the total goes from 2 to 1 and back; the growth by one admits "
    "one more, although there is no room.",
    buggy=grown_by_difference,
    fixed=grown_by_room,
    settings=Settings(cancels=0),
    finds="violation",
    culprit=r"borrower#2\s+are\s+in\s+'token'\s+at\s+once;\s+the\s+limit\s+is\s+2",
    budget=500,
)
