"""A lock on a server of Redis or Valkey, against the least that a server can be asked: one call of a script.

The server is started here, on a socket of this machine, so that no network is measured; without a server's
program there are no figures. Medians within a round, because a machine has other things to do, too.
"""

from __future__ import annotations

import atexit
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any

import trio

from structsync.distributed import Session, open_session

from ._measure import Case, Effort

PROGRAMS = ("redis-server", "valkey-server")
CHILD = Path(__file__).with_name("_server_child.py")
#: In seconds; a new server grants nothing for so long.
TTL = 1.0

Work = Callable[[], Awaitable[object]]


def is_there() -> bool:
    """Return whether a server can be started."""
    return any(map(shutil.which, PROGRAMS))


def acquire_cases(effort: Effort) -> Iterator[Case]:
    """One task acquires a lock that no other wants."""
    if is_there():
        times = effort.of(500, 20)
        empty = partial(trio.run, against_one_call, times, "return 1")
        yield Case("acquire / one EVALSHA of an empty script", empty)
        ours = partial(trio.run, against_one_call, times, None)
        yield Case("acquire / one EVALSHA of the log's script", ours, compared=False)


def hand_off_cases(effort: Effort) -> Iterator[Case]:
    """Two processes take turns, by one server or by one file."""
    if is_there():
        sample = partial(trio.run, in_turn, effort.of(300, 5))
        yield Case("hand-off / one EVALSHA", sample)


@cache
def url() -> str:
    """Start the server, once, and return where it is."""
    folder = tempfile.mkdtemp(prefix="structsync-")
    program = next(filter(None, map(shutil.which, PROGRAMS)))
    options = ["--port", "0", "--unixsocket", f"{folder}/server", "--save", ""]
    process = subprocess.Popen([program, *options, "--logfile", f"{folder}/log"])
    atexit.register(shutil.rmtree, folder)
    atexit.register(process.wait)
    atexit.register(process.kill)
    while not Path(folder, "server").exists():
        time.sleep(0.01)
    return f"unix://{folder}/server"


async def median_of(times: int, work: Work) -> float:
    spent = []
    for _ in range(times):
        began = time.perf_counter()
        await work()
        spent.append(time.perf_counter() - began)
    return statistics.median(spent)


async def call(session: Session, times: int, script: str | None) -> float:
    """Return what one call takes: of a script, or of the one of the log, which reads and finds nothing."""
    engine: Any = session._engine
    if script is None:
        return await median_of(times, partial(engine.append, "lock", [], engine.seen["lock"][0]))
    name = await engine.connection.post("SCRIPT", "LOAD", script).wait()
    return await median_of(times, lambda: engine.connection.post("EVALSHA", name, 0).wait())


async def against_one_call(times: int, script: str | None) -> float:
    async with open_session(url(), namespace="benchmark", ttl=TTL) as session:
        lock, acquires = session.lock("lock"), list[float]()

        async def hold() -> None:
            began = time.perf_counter()
            async with lock:
                acquires.append(time.perf_counter() - began)

        await median_of(times, hold)
        return statistics.median(acquires) / await call(session, times, script)


async def in_turn(times: int) -> float:
    async with open_session(url(), namespace="benchmark", ttl=TTL) as session:
        lock = session.lock("lock")

        async def hold() -> None:
            async with lock:
                while (await lock.statistics()).tasks_waiting == 0:
                    pass  # the other one is in the queue again

        async with lock:  # the reference, before the other one takes part
            reference = await call(session, times, "return 1")
        async with trio.open_nursery() as nursery:
            nursery.start_soon(trio.run_process, [sys.executable, str(CHILD), url(), str(TTL)])
            await hold()
            began = time.perf_counter()
            for _ in range(times):
                async with lock:
                    pass
            spent = time.perf_counter() - began
            nursery.cancel_scope.cancel()
        return spent / (2 * times) / reference
