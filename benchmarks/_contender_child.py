"""Takes one lock again and again: KIND URL HOLD SECONDS [watched]. Says when it is ready, begins when it is told, and reports.

HOLD is in seconds. Watched, it also notes how long a step of trio's loop has taken, less what the process was
kept from running meanwhile: many processes share few cores, and that is not what a loop waits for.
"""

from __future__ import annotations

import json
import os
import statistics
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, AbstractContextManager, asynccontextmanager
from functools import partial
from time import monotonic, monotonic_ns, process_time, sleep
from typing import Any, TypeAlias

import trio

from structsync.distributed import open_session
from structsync.distributed.redis.address import parse
from structsync.distributed.redis.connection import Connection
from structsync.distributed.redis.server import greet

#: In seconds; no process loses a lock in a contest.
LEASE = 10.0
NAME = "contested"

Blocking: TypeAlias = Callable[[], AbstractContextManager[object]]
Async: TypeAlias = Callable[[], AbstractAsyncContextManager[object]]


def wait_until_told() -> None:
    print("ready", flush=True)
    sys.stdin.readline()


class Report:
    """What a contender did."""

    def __init__(self, seconds: float) -> None:
        self.ends = monotonic() + seconds
        self.cpu = process_time()
        self.blocked = 0.0
        self.waits: list[float] = []
        self.holds: list[tuple[int, int]] = []

    def say(self) -> None:
        cpu = (process_time() - self.cpu) / len(self.holds)
        wait = statistics.median(self.waits)
        said = {"holds": self.holds, "wait": wait, "cpu": cpu, "blocked": self.blocked}
        print(json.dumps(said), flush=True)


class Watch(trio.abc.Instrument):
    """Notes the longest step of a task."""

    def __init__(self, report: Report) -> None:
        self.report = report
        self.file = os.open(f"/proc/self/task/{os.getpid()}/schedstat", os.O_RDONLY)
        self.began = self._now()

    def _now(self) -> int:
        """Return the time, less what this thread has waited for a core; in nanoseconds."""
        return monotonic_ns() - int(os.pread(self.file, 99, 0).split()[1])

    def before_task_step(self, task: trio.lowlevel.Task) -> None:
        self.began = self._now()

    def after_task_step(self, task: trio.lowlevel.Task) -> None:
        self.report.blocked = max(self.report.blocked, (self._now() - self.began) / 1e9)


def contend(lock: Blocking, hold: float, seconds: float) -> None:
    with lock():
        pass
    wait_until_told()
    report = Report(seconds)
    while (asked := monotonic()) < report.ends:
        with lock():
            began = monotonic_ns()
            report.waits.append(monotonic() - asked)
            sleep(hold)
            ended = monotonic_ns()
        report.holds.append((began, ended))
    report.say()


async def contend_in_trio(
    opened: AbstractAsyncContextManager[Async], hold: float, seconds: float, watched: bool
) -> None:
    async with opened as lock:
        async with lock():
            pass
        await trio.to_thread.run_sync(wait_until_told)  # the session renews its lease meanwhile
        report = Report(seconds)
        if watched:
            trio.lowlevel.add_instrument(Watch(report))
        while (asked := monotonic()) < report.ends:
            async with lock():
                began = monotonic_ns()
                report.waits.append(monotonic() - asked)
                await trio.sleep(hold)
                ended = monotonic_ns()
            report.holds.append((began, ended))
        report.say()


# ==== Whose lock ====


@asynccontextmanager
async def structsync_lock(url: str) -> AsyncIterator[Async]:
    ttl = None if url.startswith("sqlite") else LEASE
    async with open_session(url, namespace="contest", ttl=ttl) as session:
        lock = session.lock(NAME)
        yield lambda: lock


#: The least that a fair lock on a server can be: no leases, no tokens, nothing after a restart.
SCRIPT = """#!lua
local verb, me = ARGV[1], ARGV[2]
if verb == 'acquire' then
  if redis.call('SETNX', KEYS[1], me) == 1 then
    return 1
  end
  redis.call('RPUSH', KEYS[1] .. ':queue', me)
  return 0
end
local following = redis.call('LPOP', KEYS[1] .. ':queue')
if following then
  redis.call('SET', KEYS[1], following)
  redis.call('PUBLISH', following, 'granted')
else
  redis.call('DEL', KEYS[1])
end
return 1
"""


@asynccontextmanager
async def script(url: str) -> AsyncIterator[Async]:
    granted = trio.Event()
    me, address = f"contender {os.getpid()}", parse(url)
    connection = Connection(await address.connect(), lambda _: granted.set())
    name = await greet(connection, address, me, SCRIPT)

    async def call(verb: str) -> Any:
        return await connection.post("EVALSHA", name, 1, "{script}", verb, me).wait()

    @asynccontextmanager
    async def lock() -> AsyncIterator[None]:
        nonlocal granted
        granted = trio.Event()
        if not await call("acquire"):
            await granted.wait()
        try:
            yield
        finally:
            await call("release")

    async with trio.open_nursery() as nursery:
        nursery.start_soon(connection.run)
        yield lock
        nursery.cancel_scope.cancel()
    await connection.close()


def redis_py(url: str) -> Blocking:
    import redis

    return partial(redis.Redis.from_url(url).lock, NAME, timeout=LEASE)


def python_redis_lock(url: str) -> Blocking:
    import redis
    import redis_lock

    return partial(redis_lock.Lock, redis.Redis.from_url(url), NAME, expire=int(LEASE))


def pottery(url: str) -> Blocking:
    import redis
    from pottery import Redlock

    masters = {redis.Redis.from_url(url)}
    return partial(Redlock, key=NAME, masters=masters, auto_release_time=LEASE)


IN_TRIO = {"structsync": structsync_lock, "script": script}
BLOCKING = {"redis-py": redis_py, "python-redis-lock": python_redis_lock, "pottery": pottery}


def main(kind: str, url: str, hold: str, seconds: str, *options: str) -> None:
    if kind in IN_TRIO:
        opened = IN_TRIO[kind](url)
        trio.run(contend_in_trio, opened, float(hold), float(seconds), "watched" in options)
    else:
        contend(BLOCKING[kind](url), float(hold), float(seconds))


if __name__ == "__main__":
    main(*sys.argv[1:])
