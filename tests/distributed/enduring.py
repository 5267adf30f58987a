"""Processes that take permits again and again, and are killed."""

from __future__ import annotations

import random
import time
from dataclasses import dataclass, field

import trio

from structsync.distributed import LeaseLost, SharedStatistics, open_session
from tests.distributed.children import child
from tests.distributed.history import Held

#: In seconds, of the leases of these processes.
TTL = 1.5


@dataclass
class Blocks:
    """The blocks of all processes: those that have ended, and of each process those that go on, as far as it is known."""

    ended: list[Held] = field(default_factory=list)
    inside: list[dict[int, Held]] = field(default_factory=list)

    @property
    def going_on(self) -> list[Held]:
        return [one for its in self.inside for one in its.values()]


async def endure(url: str, blocks: Blocks, longest: float = 0.05, **env: str) -> None:
    """Run a process that takes one of two permits; kill it now and then, and start another one.

    A cancellation ends this, and the process; then the end of each of its blocks is known.
    """
    while True:
        inside: dict[int, Held] = {}
        blocks.inside.append(inside)

        def note(words: list[str], inside: dict[int, Held] = inside) -> None:
            token, when = int(words[1]), int(words[2])
            if words[0] == "in":
                inside[token] = Held(token, when, None, 1, int(words[3]))
            else:
                blocks.ended.append(inside.pop(token)._replace(end=when))

        async with child("endure", url, "test", str(TTL), str(longest), env=env) as process:
            try:
                note(await process.says())  # however long a busy machine takes to begin it
                with trio.move_on_after(random.uniform(0.5, 3) + 2 * longest):
                    while words := await process.says():
                        note(words)
            finally:
                with trio.CancelScope(shield=True):
                    await process.kill()
                    killed = time.monotonic_ns()
                    while words := await process.says():
                        note(words)
                    blocks.ended += [one._replace(end=killed) for one in inside.values()]
                    inside.clear()


async def nothing_is_left(url: str, permits: int) -> None:
    """See that soon all permits can be had, and are free then."""
    with trio.fail_after(30):
        while True:
            try:
                async with open_session(url, namespace="test", ttl=TTL) as session:
                    semaphore = session.semaphore("db", permits)
                    async with semaphore.permits(permits):
                        pass
                    found = await semaphore.statistics()
            except LeaseLost:
                continue  # a busy machine had stopped for so long
            break
    assert found == SharedStatistics(0, 0, permits)
