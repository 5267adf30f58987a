"""A call of an object in another session: its round trip, against the least that the same way there and back takes.

Both sessions are in this process, and so are both sides of what it is compared with; medians within a round. On a
server the least is two calls of an empty script, one after the other, because there and back are two messages; a
call by hand is a list for each direction, with ``BLPOP`` at its other end. Beside it, a stream between two
tasks of this machine for what needs no server, and a pair of channels for what needs no engine.
"""

from __future__ import annotations

import os
import socket
import tempfile
from collections.abc import Iterator
from contextlib import AsyncExitStack
from functools import partial
from importlib.util import find_spec
from typing import Any, Protocol

import trio

from structsync.distributed import Session, open_session

from . import servers
from ._measure import Case, Effort


class Adding(Protocol):
    async def add(self, what: int) -> int: ...


class Adder:
    async def add(self, what: int) -> int:
        return what + 1


def cases(effort: Effort) -> Iterator[Case]:
    """One task calls, again and again."""
    if not find_spec("msgspec"):
        return  # calls are an extra
    times = effort.of(400, 10)
    yield Case("memory:// / a pair of channels", partial(trio.run, in_memory, times))
    if hasattr(socket, "SO_PEERCRED"):
        yield Case("sqlite:// / a Unix stream", partial(in_a_file, times))
    if servers.is_there():
        yield Case("redis:// / two EVALSHA", partial(trio.run, over_scripts, times))
        yield Case("redis:// / by hand with BLPOP", partial(trio.run, over_lists, times))


async def call(url: str, times: int, stack: AsyncExitStack) -> tuple[Session, float]:
    """Return a session, and what a call takes from there."""
    here, there = [
        await stack.enter_async_context(open_session(url, namespace="calls", ttl=_ttl(url)))
        for _ in range(2)
    ]
    await stack.enter_async_context(here.host("adder", Adder()))
    adder = there.connect("adder", Adding)
    await adder.add(0)  # its host is read from the log, once
    return there, await servers.median_of(times, lambda: adder.add(1))


def _ttl(url: str) -> float | None:
    return servers.TTL if url.startswith("unix") else None


async def in_memory(times: int) -> float:
    async with AsyncExitStack() as stack:
        _, ours = await call("memory://", times, stack)
        nursery = await stack.enter_async_context(trio.open_nursery())
        to_answer, to_hear = trio.open_memory_channel[int](0), trio.open_memory_channel[int](0)

        async def answer() -> None:
            async for what in to_answer[1]:
                await to_hear[0].send(what + 1)

        async def ask() -> None:
            await to_answer[0].send(1)
            await to_hear[1].receive()

        nursery.start_soon(answer)
        floor = await servers.median_of(times, ask)
        nursery.cancel_scope.cancel()
    return ours / floor


def in_a_file(times: int) -> float:
    with tempfile.TemporaryDirectory() as folder:
        return trio.run(over_a_stream, f"sqlite://{os.path.realpath(folder)}/calls.db", times)


async def over_a_stream(url: str, times: int) -> float:
    async with AsyncExitStack() as stack:
        _, ours = await call(url, times, stack)
        nursery = await stack.enter_async_context(trio.open_nursery())
        here, there = [
            trio.SocketStream(trio.socket.from_stdlib_socket(one)) for one in socket.socketpair()
        ]

        async def answer() -> None:
            async for data in there:
                await there.send_all(data)

        async def ask() -> None:
            await here.send_all(b"what")
            await here.receive_some()

        async with here, there:
            nursery.start_soon(answer)
            floor = await servers.median_of(times, ask)
            nursery.cancel_scope.cancel()
    return ours / floor


async def over_scripts(times: int) -> float:
    async with AsyncExitStack() as stack:
        session, ours = await call(servers.url(), times, stack)
        return ours / (2 * await servers.call_of(servers.EMPTY)(session, times))


async def over_lists(times: int) -> float:
    async with AsyncExitStack() as stack:
        session, ours = await call(servers.url(), times, stack)
        other = await stack.enter_async_context(
            open_session(servers.url(), namespace="lists", ttl=servers.TTL)
        )
        asking, answering = [_connection(one) for one in (session, other)]
        nursery = await stack.enter_async_context(trio.open_nursery())

        async def answer() -> None:
            while True:
                _, what = await answering.post("BLPOP", "asked", 1).wait() or (None, None)
                if what is not None:
                    answering.post("RPUSH", "answered", int(what) + 1)

        async def ask() -> None:
            asking.post("RPUSH", "asked", 1)
            await asking.post("BLPOP", "answered", 1).wait()

        nursery.start_soon(answer)
        floor = await servers.median_of(times, ask)
        nursery.cancel_scope.cancel()
    return ours / floor


def _connection(session: Session) -> Any:
    engine: Any = session._engine
    return engine.connection
