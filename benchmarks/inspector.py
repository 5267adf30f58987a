"""serve_inspector(): a program under load that is looked at once a second, and the same that is not."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import trio

from structsync import Semaphore, serve_inspector

from ._measure import Case, Effort, ratio

# In another process, as "structsync top" is: what it costs there is not the program's.
LOOKING = """
import sys, time
from pathlib import Path
from structsync.observing.top_client import Client
client = Client(Path(sys.argv[1]))
while True:
    client.ask(ask="state")
    print(flush=True)
    time.sleep(1)
"""


def cases(effort: Effort) -> Iterator[Case]:
    tasks, turns = effort.of(10_000, 50), effort.of(40, 2)
    yield Case(f"{tasks:,} tasks", partial(_sample, tasks, turns))


def _sample(tasks: int, turns: int) -> float:
    subject, reference = (partial(trio.run, load, tasks, turns, looked) for looked in (True, False))
    return ratio(subject, reference, pairs=2)


async def load(tasks: int, turns: int, looked_at: bool) -> float:
    """Let tasks queue for a hundred semaphores; return the CPU seconds that their turns took."""
    semaphores = [Semaphore(5, max_value=5, name=f"semaphore {n}") for n in range(100)]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "s"
        async with serve_inspector(path):
            if not looked_at:
                return await _turns(semaphores, tasks, turns)
            command = [sys.executable, "-c", LOOKING, str(path)]
            with subprocess.Popen(command, stdout=subprocess.PIPE) as looking:  # noqa: ASYNC220 - it takes no time of a turn
                assert looking.stdout is not None
                await trio.to_thread.run_sync(looking.stdout.readline)  # it has looked once
                try:
                    return await _turns(semaphores, tasks, turns)
                finally:
                    looking.terminate()


async def _turns(semaphores: list[Semaphore], tasks: int, turns: int) -> float:
    start = time.thread_time()
    async with trio.open_nursery() as nursery:
        for number in range(tasks):
            nursery.start_soon(_work, semaphores[number % len(semaphores)], turns)
    return time.thread_time() - start


async def _work(semaphore: Semaphore, turns: int) -> None:
    for _ in range(turns):
        async with semaphore:
            await trio.lowlevel.checkpoint()
