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
from collections.abc import Sequence
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
import trio

from structsync.distributed import SharedStatistics, open_session
from tests.distributed.enduring import endure
from tests.distributed.history import Held, complaints
from tests.distributed.servers import Server, server
from tests.distributed.way import Way, way

pytest.importorskip("hiredis")

SECONDS = float(os.environ.get("SOAK_DISTRIBUTED_SECONDS", "12"))
PROCESSES, PERMITS, TTL = 4, 2, 1.5

pytestmark = pytest.mark.timeout(SECONDS + 200)

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


async def soak(
    folder: Path, seconds: float, faults: Sequence[str], longest: float = 0.05, **env: str
) -> tuple[list[Held], Counter[str]]:
    """Let things fail for so long; return who held what, and how often each thing has failed."""
    history, struck = list[Held](), Counter[str]()
    with server("--appendonly", "yes", "--appendfsync", "always") as victim:
        victim.is_no_news("test")
        async with AsyncExitStack() as stack:
            ways = []
            for number in range(PROCESSES):
                its = folder / str(number)
                its.mkdir()
                ways.append(await stack.enter_async_context(way(its, victim)))
            end = time.monotonic() + seconds
            async with trio.open_nursery() as processes:
                for one in ways:
                    processes.start_soon(_endure, one.url, history, seconds, longest, env)
                while time.monotonic() < end - 1:
                    await trio.sleep(random.uniform(0.5, 5))
                    fault = random.choice(faults)
                    struck[fault] += 1
                    await strike(fault, ways, victim)
        async with open_session(victim.url, namespace="test", ttl=TTL) as session:
            with trio.fail_after(10 * TTL):
                async with session.semaphore("db", PERMITS).permits(PERMITS):
                    pass
            found = await session.semaphore("db", PERMITS).statistics()
            assert found == SharedStatistics(0, 0, PERMITS)
    return history, struck


async def _endure(
    url: str, history: list[Held], seconds: float, longest: float, env: dict[str, str]
) -> None:
    await endure(url, history, seconds, longest, **env)


async def test_two_permits_are_never_three_whatever_fails(tmp_path: Path) -> None:
    history, struck = await soak(tmp_path, SECONDS, FAULTS)
    print(f"\n{len(history)} blocks in {SECONDS:g} s, faults: {dict(struck)}")  # noqa: T201
    assert complaints(history, PERMITS) == []
    assert len(history) > SECONDS / 4


async def test_processes_that_do_not_count_their_leases_are_complained_about(
    tmp_path: Path,
) -> None:
    found = list[str]()
    for attempt in range(5):  # it may hit none of those that hold
        folder = tmp_path / str(attempt)
        folder.mkdir()
        history, _ = await soak(folder, 12, ["long silence"], longest=20, MARGIN="-5")
        if found := complaints(history, PERMITS):
            break
    assert "3 of 2 permits" in str(found)
