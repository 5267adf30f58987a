"""Workers that deliver letters, each with a few attempts."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

import trio

from .outbox import Outbox

Send = Callable[[str], Awaitable[None]]


@dataclass(frozen=True, kw_only=True)
class Rules:
    """How letters are delivered; times in seconds."""

    workers: int = 2
    room: int = 100
    attempts: int = 3
    timeout: float = 10
    pause: float = 1
    grace: float = 30


class Courier:
    """Delivers what is posted, while its workers run.

    A letter ends up in one place: ``delivered``, ``refused`` (no attempt succeeded), or ``unsent``
    (there was no time left).
    """

    def __init__(self, send: Send, rules: Rules) -> None:
        self._send = send
        self._rules = rules
        self.outbox = Outbox(rules.room)
        self.delivered: list[str] = []
        self.refused: list[str] = []
        self.unsent: list[str] = []

    async def post(self, letter: str) -> None:
        """Have a letter delivered; wait while too many are under way."""
        await self.outbox.put(letter)

    async def work(self) -> None:
        """Deliver letters until the outbox is closed and empty."""
        while True:
            try:
                letter = await self.outbox.take()
            except trio.EndOfChannel:
                return
            try:
                await self.deliver(letter)
            except BaseException:
                self.outbox.put_back(letter)
                raise
            self.outbox.done()

    async def deliver(self, letter: str) -> None:
        """Make a few attempts, each with a timeout."""
        for attempt in range(self._rules.attempts):
            if attempt:
                await trio.sleep(self._rules.pause)
            with trio.move_on_after(self._rules.timeout):
                try:
                    await self._send(letter)
                except OSError:
                    continue
                self.delivered.append(letter)
                return
        self.refused.append(letter)


@asynccontextmanager
async def open_courier(
    send: Send, rules: Rules | None = None, *, kind: type[Courier] = Courier
) -> AsyncIterator[Courier]:
    """Run a courier while the block runs, and then until its letters are delivered.

    After the block it has ``grace`` seconds for what is still under way; the rest is ``unsent``.
    """
    rules = rules or Rules()
    courier = kind(send, rules)
    try:
        async with trio.open_nursery() as nursery:
            for _ in range(rules.workers):
                nursery.start_soon(courier.work)
            try:
                yield courier
            finally:
                courier.outbox.close()
                nursery.cancel_scope.deadline = trio.current_time() + rules.grace
    finally:
        courier.unsent += courier.outbox.drain()
