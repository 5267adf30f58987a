"""A broadcast pauses between its batches; a task that was woken and waits again is woken twice."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

import trio
from trio.testing import wait_all_tasks_blocked

from structsync.testing import Settings

from .exhibit import Exhibit

if TYPE_CHECKING:
    from structsync.testing import ExploredRun


class Notifier:
    """Wakes all waiters, but lets others run after each one."""

    def __init__(self) -> None:
        self.waiting: deque[trio.Event] = deque()

    async def wait(self) -> None:
        woken = trio.Event()
        self.waiting.append(woken)
        await woken.wait()

    async def broadcast(self) -> None:
        while self.waiting:
            self.waiting.popleft().set()
            await trio.lowlevel.checkpoint()


class RepairedNotifier(Notifier):
    async def broadcast(self) -> None:
        waiting, self.waiting = self.waiting, deque()
        for woken in waiting:
            woken.set()
            await trio.lowlevel.checkpoint()


async def wait_again(x: ExploredRun, notifier: Notifier) -> None:
    async def waiter() -> None:
        await notifier.wait()
        await notifier.wait()
        x.fail("one broadcast woke one waiter twice")

    async with trio.open_nursery() as nursery:
        for _ in range(2):
            nursery.start_soon(waiter)
        await wait_all_tasks_blocked()
        await notifier.broadcast()
        await wait_all_tasks_blocked()
        nursery.cancel_scope.cancel()


async def woken_twice(x: ExploredRun) -> None:
    await wait_again(x, Notifier())


async def woken_once(x: ExploredRun) -> None:
    await wait_again(x, RepairedNotifier())


EXHIBIT = Exhibit(
    name="broadcast in batches",
    source="N12, tokio#5396",
    mechanism="A broadcast that is not atomic also reaches those that began to wait after it "
    "started.",
    buggy=woken_twice,
    fixed=woken_once,
    settings=Settings(cancels=0),
    finds="violation",
    culprit="one broadcast woke one waiter twice",
    budget=20,
)
