"""Processes share two permits of a server while everything fails that may: never more holders than permits.

Each process has its own way to the server. Processes are killed, ways are cut or silent, and the server is
stopped, started again, or started again without what it knew. ``SOAK_DISTRIBUTED_SECONDS`` says for how long.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from functools import partial
from itertools import count
from pathlib import Path

import pytest
import trio

from tests.distributed.enduring import TTL, Blocks, endure, nothing_is_left
from tests.distributed.history import Held, complaints
from tests.distributed.servers import Server, server
from tests.distributed.way import Way, way

pytest.importorskip("hiredis")

SECONDS = float(os.environ.get("SOAK_DISTRIBUTED_SECONDS", "12"))
PROCESSES, PERMITS = 4, 2

pytestmark = [pytest.mark.waits, pytest.mark.timeout(SECONDS + 200)]

FAULTS = ("cut", "silence", "stop", "restart", "forget")


async def strike(fault: str, ways: Sequence[Way], victim: Server) -> None:
    """Let one thing fail."""
    assert victim.process is not None
    struck = random.sample(ways, 1 if fault == "cut" else PROCESSES // 2)
    if fault == "cut":
        struck[0].cut()
    elif fault in ("silence", "long silence"):
        for one in struck:
            one.is_silent = True
        await trio.sleep(random.uniform(0, 2 * TTL) if fault == "silence" else 3 * TTL)
        for one in struck:
            one.is_silent = False
            one.cut()
    elif fault == "stop":
        victim.process.send_signal(signal.SIGSTOP)
        await trio.sleep(random.uniform(0, 2 * TTL))
        victim.process.send_signal(signal.SIGCONT)
    else:
        victim.kill()
        if fault == "forget":
            shutil.rmtree(victim.folder / "appendonlydir")
        victim.start()


class Soak:
    """Processes that share permits, and what has failed meanwhile."""

    def __init__(self) -> None:
        self.blocks = Blocks()
        self.struck: Counter[str] = Counter()
        self.since = time.monotonic()

    async def run(
        self,
        folder: Path,
        faults: Sequence[str],
        until: Callable[[Soak], object],
        longest: float = 0.05,
        **env: str,
    ) -> list[Held]:
        """Let things fail until enough is seen; return who held what."""
        with server("--appendonly", "yes", "--appendfsync", "always") as victim:
            victim.is_no_news("test")
            async with AsyncExitStack() as stack:
                ways = []
                for number in range(PROCESSES):
                    its = folder / str(number)
                    its.mkdir()
                    ways.append(await stack.enter_async_context(way(its, victim)))
                async with trio.open_nursery() as nursery:
                    for one in ways:
                        nursery.start_soon(partial(endure, one.url, self.blocks, longest, **env))
                    while not until(self):
                        await trio.sleep(random.uniform(0.5, 5))
                        fault = random.choice(faults)
                        self.struck[fault] += 1
                        await strike(fault, ways, victim)
                    nursery.cancel_scope.cancel()
            await nothing_is_left(victim.url, PERMITS)
        return self.blocks.ended


async def test_two_permits_are_never_three_whatever_fails(tmp_path: Path) -> None:
    def is_enough(one: Soak) -> bool:
        over = time.monotonic() - one.since > SECONDS - 1
        return over and len(one.blocks.ended) > SECONDS / 4  # later, where the machine is busy

    one = Soak()
    history = await one.run(tmp_path, FAULTS, is_enough)
    print(f"\n{len(history)} blocks in {SECONDS:g} s, faults: {dict(one.struck)}")  # noqa: T201
    assert complaints(history, PERMITS) == []


async def test_processes_that_do_not_count_their_leases_are_complained_about(
    tmp_path: Path,
) -> None:
    def is_suspicious(one: Soak) -> list[str]:
        return complaints([*one.blocks.ended, *one.blocks.going_on], PERMITS)

    found, folders = list[str](), (tmp_path / str(number) for number in count())
    while (
        not found
    ):  # within the limit of time; a block may have ended, and its process not said so
        folder = next(folders)
        folder.mkdir()
        history = await Soak().run(folder, ["long silence"], is_suspicious, longest=20, MARGIN="-5")
        found = complaints(history, PERMITS)
    assert "3 of 2 permits" in str(found)
