"""A process of its own for mechanisms.py: the server of all objects, or the one that rules. Says when it is there."""

from __future__ import annotations

import sys
from contextlib import AsyncExitStack
from functools import partial
from typing import Protocol

import trio

import structsync
from structsync.distributed import Session, open_session

#: Under which objects are called. One log for the objects, and one for each other name: the ruler is not in their way.
PLAIN, MONITOR, QUEUE, LOCAL, REMOTE = [
    f"parties/{name}" for name in ("plain", "monitor", "queue", "local rule", "remote rule")
]
PARALLEL, SERIAL = "fronts/parallel", "fronts/serial"
RULES = "rules"


async def body() -> None:
    """Do nothing, as the function that clients call."""


class Party(Protocol):
    """What clients see of each object."""

    async def get(self) -> None: ...
    async def set(self) -> None: ...


class Plain:
    async def get(self) -> None: ...
    async def set(self) -> None: ...


class Monitored(structsync.Monitor):
    @structsync.entry
    async def get(self) -> None: ...
    @structsync.entry
    async def set(self) -> None: ...


class Guarded(structsync.Monitor):
    @structsync.entry
    async def get(self) -> None: ...
    @structsync.entry(when=lambda self: True)
    async def set(self) -> None: ...


class Queued:
    """Passes each call through a queue, from which one worker takes it."""

    def __init__(self, pool: structsync.TaskPool) -> None:
        self.get = self.set = partial(pool.run, body)


class Front:
    """Passes calls on, so many at a time."""

    def __init__(self, behind: Party, turns: structsync.Semaphore) -> None:
        self.behind = behind
        self.turns = turns

    async def get(self) -> None:
        async with self.turns:
            await self.behind.get()

    async def set(self) -> None:
        async with self.turns:
            await self.behind.set()


async def serve(session: Session) -> None:
    async with AsyncExitStack() as stack:
        pool = await stack.enter_async_context(structsync.open_pool(1))
        behind = session.connect(REMOTE, Party)
        objects = {
            PLAIN: Plain(),
            MONITOR: Monitored(),
            QUEUE: Queued(pool),
            LOCAL: Guarded(),
            PARALLEL: Front(behind, structsync.Semaphore(10)),
            SERIAL: Front(behind, structsync.Semaphore(1)),
        }
        for name, one in objects.items():
            await stack.enter_async_context(session.host(name, one, Party))
        await stack.enter_async_context(
            session.host(REMOTE, Monitored(), ruled_by=RULES, ruled=["set"])
        )
        await say_and_stay()


async def rule(session: Session) -> None:
    """Evaluate a rule that permits everything."""
    async with session.synchronizer(RULES) as ruled:
        ruled.rules.disable(ruled.stand_in(REMOTE, Monitored).set, when=lambda: False)
        await say_and_stay()


async def say_and_stay() -> None:
    print("ready", flush=True)
    await trio.sleep_forever()


async def main(*words: str) -> None:
    role, url = words
    async with open_session(url, namespace="parties") as session:
        await (rule if role == "rules" else serve)(session)


if __name__ == "__main__":
    trio.run(main, *sys.argv[1:])
