"""A process of its own for mechanisms.py: the server, or the synchronizer that it asks. Prints its port."""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack, suppress
from functools import partial
from typing import TypeAlias

import trio

import structsync

Call: TypeAlias = Callable[[], Awaitable[object]]

SET = b"s"


async def body() -> None:
    """Do nothing, as the function that clients call."""


async def serve(handle: Callable[[bytes], Awaitable[object]]) -> None:
    """Answer each byte with itself, when what it asks for has been done; each client has a task."""

    async def client(stream: trio.SocketStream) -> None:
        with suppress(trio.BrokenResourceError):  # a client that has enough does not say so
            async with stream:
                while request := await stream.receive_some(1):
                    await handle(request)
                    await stream.send_all(request)

    [listener] = await trio.open_tcp_listeners(0, host="127.0.0.1")
    print(listener.socket.getsockname()[1], flush=True)
    await trio.serve_listeners(client, [listener])


async def synchronizer() -> None:
    """Evaluate a rule that permits everything, whenever the server asks."""
    async with structsync.Synchronizer() as rules:
        permit = structsync.Monitor().entry(body)
        rules.disable(permit, when=lambda: False)
        await serve(lambda _: permit())


async def mechanism(name: str, port: int | None, stack: AsyncExitStack) -> Call:
    """Return what a request has to pass."""
    if name == "RPC":
        return body
    if name == "monitor":
        return structsync.Monitor().entry(body)
    if name == "queue":
        pool = await stack.enter_async_context(structsync.open_pool(1))
        return partial(pool.run, body)
    guarded = structsync.Monitor().entry(body, when=lambda: True)
    if name == "local rule":
        return guarded
    assert port is not None
    other = await trio.open_tcp_stream("127.0.0.1", port)

    exchange = structsync.Lock()

    async def permitted() -> None:
        async with exchange:
            await other.send_all(b"?")
            await other.receive_some(1)
        await guarded()  # its own rules may have changed meanwhile

    return permitted


async def server(name: str, turns: str, port: int | None) -> None:
    async with AsyncExitStack() as stack:
        ruled, one_at_a_time = await mechanism(name, port, stack), structsync.Lock()

        async def handle(request: bytes) -> None:
            await (ruled if request == SET else body)()

        async def handle_in_turn(request: bytes) -> None:
            async with one_at_a_time:
                await handle(request)

        await serve(handle_in_turn if turns == "serial" else handle)


if __name__ == "__main__":
    role, *words = sys.argv[1:]
    if role == "synchronizer":
        trio.run(synchronizer)
    else:
        trio.run(server, role, words[0], int(words[1]) if words[1:] else None)
