"""A lock on a server of Redis or Valkey, against the least that a server can do: one call of a script.

An empty script, one that decides about one lock, the least that a log can do, and the log's own that reads nothing.

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
from typing import Any, TypeAlias

import trio

from structsync._core.shared.operations import Operation, Verb, Want
from structsync.distributed import Session, open_session

from ._contender_child import SCRIPT
from ._measure import Case, Effort

PROGRAMS = ("redis-server", "valkey-server")
CHILD = Path(__file__).with_name("_server_child.py")
#: In seconds; a new server grants nothing for so long.
TTL = 1.0

Work = Callable[[], Awaitable[object]]

EMPTY = "return 1"
#: The least that any log does: whether the session is alive, what it has not read, and one entry more.
LEAST = """#!lua
local now = redis.call('TIME')
local lease = redis.call('ZSCORE', KEYS[1] .. ':sessions', ARGV[1])
if lease and tonumber(lease) < tonumber(now[1]) then
  return 0
end
local lines = redis.call('LRANGE', KEYS[1], ARGV[2], -1)
redis.call('RPUSH', KEYS[1], ARGV[3])
return lines
"""
ENTRY = Operation(Verb.ACQUIRE, "0123456789abcdef", 1, ((Want("lock", "lock"),),)).encode()


def is_there() -> bool:
    """Return whether a server can be started."""
    return any(map(shutil.which, PROGRAMS))


def acquire_cases(effort: Effort) -> Iterator[Case]:
    """One task acquires a lock that no other wants."""
    if is_there():
        times = effort.of(500, 20)

        def case(name: str, reference: Call, compared: bool = False) -> Case:
            return Case(name, partial(trio.run, against, times, lock_of, reference), compared)

        yield case("acquire / one EVALSHA of an empty script", call_of(EMPTY), compared=True)
        yield case(
            "acquire / one EVALSHA that takes a lock",
            call_of(SCRIPT, "acquire", "me", undo="release"),
        )
        yield case("acquire / one EVALSHA of the least log", call_of(LEAST, "me", "-1", ENTRY))
        yield case("acquire / one EVALSHA of the log's script", call_of_the_log)
        floor = partial(trio.run, against, times, call_of(LEAST, "me", "-1", ENTRY), call_of(EMPTY))
        yield Case("EVALSHA of the least log / of an empty script", floor, compared=False)


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


#: Returns what one call takes, in seconds: the median of so many.
Call: TypeAlias = Callable[[Session, int], Awaitable[float]]


async def lock_of(session: Session, times: int) -> float:
    lock, acquires = session.lock("lock"), list[float]()
    for _ in range(times):
        began = time.perf_counter()
        async with lock:
            acquires.append(time.perf_counter() - began)
    return statistics.median(acquires)


def call_of(script: str, *arguments: str | bytes, undo: str | None = None) -> Call:
    async def call(session: Session, times: int) -> float:
        engine: Any = session._engine
        name = await engine.connection.post("SCRIPT", "LOAD", script).wait()
        command, spent = ("EVALSHA", name, 1, f"benchmark {name!r}"), list[float]()
        for _ in range(times):
            began = time.perf_counter()
            await engine.connection.post(*command, *arguments).wait()
            spent.append(time.perf_counter() - began)
            if undo is not None:
                await engine.connection.post(*command, undo, *arguments[1:]).wait()
        return statistics.median(spent)

    return call


async def call_of_the_log(session: Session, times: int) -> float:
    """The log's own script, which reads and finds nothing."""
    engine: Any = session._engine
    return await median_of(times, partial(engine.append, "lock", [], engine.seen["lock"][0]))


async def against(times: int, subject: Call, reference: Call) -> float:
    """Alternate, because a machine has other things to do, too."""
    async with open_session(url(), namespace="benchmark", ttl=TTL) as session:
        await lock_of(session, 1)
        sides = [
            (await subject(session, times // 4), await reference(session, times // 4))
            for _ in range(4)
        ]
        return sum(ours for ours, _ in sides) / sum(theirs for _, theirs in sides)


async def in_turn(times: int) -> float:
    async with open_session(url(), namespace="benchmark", ttl=TTL) as session:
        lock = session.lock("lock")

        async def hold() -> None:
            async with lock:
                while (await lock.statistics()).tasks_waiting == 0:
                    pass  # the other one is in the queue again

        async with lock:  # the reference, before the other one takes part
            reference = await call_of(EMPTY)(session, times)
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
