"""trio.Condition: a notified waiter is cancelled while it waits for the lock; no other is told."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import trio

import structsync
from structsync.testing import Settings

from .exhibit import Exhibit

if TYPE_CHECKING:
    from structsync.testing import ExploredRun

Condition: TypeAlias = trio.Condition | structsync.Condition


class Pool:
    """One connection for all tasks, guarded as the textbooks say."""

    def __init__(self, condition: Condition) -> None:
        self.free = 1
        self.condition = condition

    async def take(self) -> None:
        async with self.condition:
            while not self.free:
                await self.condition.wait()
            self.free -= 1

    async def put_back(self) -> None:
        # a task that has a connection puts it back, cancelled or not
        with trio.CancelScope(shield=True):
            async with self.condition:
                self.free += 1
                self.condition.notify()
                await trio.lowlevel.checkpoint()  # an entry in a log, say


async def share_a_connection(x: ExploredRun, condition: Condition) -> None:
    pool = Pool(condition)
    x.watch(condition=condition)

    async def user() -> None:
        await pool.take()
        await pool.put_back()

    async with trio.open_nursery() as nursery:
        for _ in range(3):
            nursery.start_soon(user)


async def pool_on_trio_condition(x: ExploredRun) -> None:
    await share_a_connection(x, trio.Condition())


async def pool_on_structsync_condition(x: ExploredRun) -> None:
    await share_a_connection(x, structsync.Condition())


EXHIBIT = Exhibit(
    name="lost notification",
    source="N1, trio.Condition up to 0.35 at least; N2, gh-112202; N3, anyio#1075",
    mechanism="A notified waiter is cancelled while it waits for the lock; its notification is "
    "not handed on, and another waiter sleeps beside a free connection.",
    buggy=pool_on_trio_condition,
    fixed=pool_on_structsync_condition,
    settings=Settings(cancels=1, cancel="tasks"),
    finds="deadlock",
    culprit=r"user#\d\s+waits for condition: 1 waiting.* in take",
    budget=1000,
)
