"""What one log costs as more names, tasks and sessions use it: the process that does something, and the server.

Each returns the CPU seconds of one acquire and release.
"""

from __future__ import annotations

import tempfile
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from functools import cache, partial
from time import thread_time
from typing import Any, TypeAlias

import trio

from structsync.distributed import Session, open_session

from .servers import is_there, url

#: Returns the CPU seconds of one operation: how often, among so many.
Shape: TypeAlias = Callable[[int, int], float]
#: In seconds; only a server has leases.
TTL = 10.0
SERVER = "redis://, the server"


@cache
def places() -> Mapping[str, str]:
    """Return the engines there are, by what a picture calls them."""
    file = f"sqlite://{tempfile.mkdtemp(prefix='structsync-')}/curves.db"
    return {"memory://": "memory://", "sqlite://": file} | (
        {"redis://": url(), SERVER: url()} if is_there() else {}
    )


def opens(place: str) -> AbstractAsyncContextManager[Session]:
    where = places()[place]
    return open_session(where, namespace="curves", ttl=TTL if where.startswith("unix") else None)


class Meter:
    """CPU seconds of this thread, or of the server."""

    def __init__(self, place: str, session: Session) -> None:
        self.engine: Any = session._engine if place == SERVER else None

    async def read(self) -> float:
        if self.engine is None:
            return thread_time()
        told = bytes(await self.engine.connection.post("INFO", "cpu").wait()).decode()
        lines = dict(line.split(":") for line in told.splitlines() if ":" in line)
        return float(lines["used_cpu_sys"]) + float(lines["used_cpu_user"])


def shapes(how: Callable[[str, int, int], Awaitable[float]]) -> dict[str, Shape]:
    """Return it for each engine."""

    def run(place: str, times: int, among: int) -> float:
        return trio.run(how, place, times, among)

    return {place: partial(run, place) for place in places()}


async def among_names(place: str, times: int, names: int) -> float:
    """One lock, while so many others of its prefix are held."""
    async with opens(place) as session, trio.open_nursery() as nursery:

        async def hold(name: str, task_status: trio.TaskStatus[None]) -> None:
            async with session.lock(name):
                task_status.started()
                await trio.sleep_forever()

        for number in range(names - 1):
            await nursery.start(hold, f"prefix/{number}")
        spent = await alone(Meter(place, session), session.lock("prefix/it"), times)
        nursery.cancel_scope.cancel()
        return spent


async def among_sessions(place: str, times: int, sessions: int) -> float:
    """One lock, while so many other sessions take part in its log."""
    async with AsyncExitStack() as stack:
        for _ in range(sessions - 1):
            other = await stack.enter_async_context(opens(place))
            await stack.enter_async_context(other.semaphore("prefix/all", 1000))
        async with opens(place) as session:
            return await alone(Meter(place, session), session.lock("prefix/it"), times)


async def alone(meter: Meter, lock: Any, times: int) -> float:
    async with lock:
        pass
    began = await meter.read()
    for _ in range(times):
        async with lock:
            pass
    return (await meter.read() - began) / times


async def among_waiters(place: str, times: int, tasks: int) -> float:
    """One lock, which so many tasks of one session want."""
    turns = times // tasks + 1
    async with opens(place) as session:
        lock, meter = session.lock("prefix/it"), Meter(place, session)

        async def take_turns() -> None:
            for _ in range(turns):
                async with lock:
                    pass

        async with lock:
            pass
        began = await meter.read()
        async with trio.open_nursery() as nursery:
            for _ in range(tasks):
                nursery.start_soon(take_turns)
        return (await meter.read() - began) / (turns * tasks)
