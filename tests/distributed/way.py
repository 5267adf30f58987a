"""A socket that leads to a server, and that a test can cut, silence, and lead to another one."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import trio

from tests.distributed.servers import Server


class Way:
    """Forwards connections in both directions."""

    def __init__(self, path: Path, server: Server) -> None:
        self.path = path
        self.server = server
        self.is_silent = False  # neither side hears anything, and no task is told
        self.loses_answers = False  # the server is heard no more
        self.takes = self.answers_take = (
            0.0  # in seconds, what is said to the server, and what it says
        )
        self.scopes: set[trio.CancelScope] = set()

    @property
    def url(self) -> str:
        return f"unix://{self.path}"

    def cut(self) -> None:
        """End all connections."""
        for scope in self.scopes:
            scope.cancel()

    async def lose_an_answer(self, seconds: float = 0.01) -> None:
        """End all connections, after a while in which what the server says is lost."""
        self.loses_answers = True
        await trio.sleep(seconds)
        self.loses_answers = False
        self.cut()

    async def serve(self, task_status: trio.TaskStatus[list[trio.SocketListener]]) -> None:
        listener = trio.socket.socket(socket.AF_UNIX)
        await listener.bind(str(self.path))
        listener.listen()
        await trio.serve_listeners(
            self._forward, [trio.SocketListener(listener)], task_status=task_status
        )

    async def _forward(self, client: trio.SocketStream) -> None:
        try:
            server = await trio.open_unix_socket(str(self.server.socket))
        except OSError:
            return
        with trio.CancelScope() as scope:
            self.scopes.add(scope)
            async with client, server, trio.open_nursery() as nursery:
                nursery.start_soon(self._copy, client, server, scope, True)
                nursery.start_soon(self._copy, server, client, scope, False)
        self.scopes.remove(scope)

    async def _copy(
        self,
        source: trio.SocketStream,
        sink: trio.SocketStream,
        scope: trio.CancelScope,
        to_server: bool,
    ) -> None:
        try:
            async for data in source:
                if delay := self.takes if to_server else self.answers_take:
                    await trio.sleep(delay)
                if not self.is_silent and (to_server or not self.loses_answers):
                    await sink.send_all(data)
        except trio.BrokenResourceError:
            pass
        scope.cancel()


@asynccontextmanager
async def way(folder: Path, server: Server) -> AsyncIterator[Way]:
    """Open a way to a server."""
    one = Way(folder / "way", server)
    async with trio.open_nursery() as nursery:
        await nursery.start(one.serve)
        yield one
        nursery.cancel_scope.cancel()
