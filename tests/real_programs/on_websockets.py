"""trio-websocket, and wsproto below it: two ends of a connection in memory.

The masks of frames are chance, which no schedule decides; here they are all the same.
"""

from __future__ import annotations

from functools import partial
from types import SimpleNamespace
from typing import Any

import trio
import trio.testing
import wsproto.frame_protocol
import wsproto.utilities
from trio_websocket import ConnectionClosed, wrap_client_stream, wrap_server_stream

from structsync.testing import ExploredRun

from ._rows import SLOW, Row

_chance: Any = SimpleNamespace(urandom=bytes)
for module in (wsproto.frame_protocol, wsproto.utilities):
    if hasattr(module, "os"):
        vars(module)["os"] = _chance


async def messages_arrive_in_order(x: ExploredRun) -> None:
    near, far = trio.testing.memory_stream_pair()
    received: list[str] = []

    async def serves() -> None:
        async with trio.open_nursery() as nursery:
            request = await wrap_server_stream(nursery, far)
            connection = await request.accept()
            try:
                while True:
                    received.append(await connection.get_message())
            except ConnectionClosed:
                pass

    async def asks() -> None:
        async with trio.open_nursery() as nursery:
            connection = await wrap_client_stream(nursery, near, "here", "/")
            await connection.send_message("one")
            await connection.send_message("two")
            await connection.aclose()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(serves)
        nursery.start_soon(asks)
    assert received == ["one", "two"]


async def a_ping_that_was_cancelled_may_be_sent_again(x: ExploredRun) -> None:
    near, far = trio.testing.memory_stream_pair()
    ready = trio.Event()

    async def serves() -> None:
        async with trio.open_nursery() as nursery:
            request = await wrap_server_stream(nursery, far)
            await request.accept()
            await ready.wait()
            nursery.cancel_scope.cancel()

    async def asks() -> None:
        async with trio.open_nursery() as nursery:
            connection = await wrap_client_stream(nursery, near, "here", "/")
            with trio.CancelScope() as scope:
                nursery.start_soon(cancels, scope)
                await connection.ping(b"a")
            # If it was sent, the answer has come by now.
            await trio.testing.wait_all_tasks_blocked()
            await connection.ping(b"a")
            ready.set()
            nursery.cancel_scope.cancel()

    async def cancels(scope: trio.CancelScope) -> None:
        scope.cancel()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(serves)
        nursery.start_soon(asks)


Library = partial(Row, library="trio-websocket")
ROWS = [
    Library(
        what="send_message(), get_message()",
        holds="messages arrive in order",
        program=messages_arrive_in_order,
        options={"cancels": 0, "executions": 300},
        verdict="not finished",
        judgement=SLOW,
    ),
    Library(
        what="ping()",
        holds="a ping that was cancelled may be sent again",
        program=a_ping_that_was_cancelled_may_be_sent_again,
        verdict="refuted",
        script="trio_websocket_ping.py",
        judgement="bug: one that was cancelled before it was sent is taken for one in flight, forever",
        options={"cancels": 0, "executions": 300},
    ),
]
