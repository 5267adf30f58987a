"""httpcore: its pool of connections, on a network that always answers."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any

import httpcore
import trio
from trio.lowlevel import checkpoint

from structsync.testing import ExploredRun

from ._rows import Row

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"


class Stream(httpcore.AsyncNetworkStream):  # type: ignore[misc]
    """A connection on which each request is answered at once."""

    def __init__(self) -> None:
        self._answers: list[bytes] = []

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        await checkpoint()
        return self._answers.pop(0) if self._answers else b""

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        await checkpoint()
        if buffer:
            self._answers.append(ANSWER)

    async def aclose(self) -> None:
        pass

    def get_extra_info(self, info: str) -> Any:
        return None


class Network(httpcore.AsyncNetworkBackend):  # type: ignore[misc]
    """A network on which each connection comes about."""

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> Stream:
        await checkpoint()
        return Stream()


async def a_request_after_all_others(x: ExploredRun) -> None:
    """Two requests share one place; one may be cancelled; a third gets through, after them."""
    pool = httpcore.AsyncConnectionPool(max_connections=1, network_backend=Network())

    async def asks(url: str) -> None:
        response = await pool.request("GET", url)
        assert response.status == 200

    async with trio.open_nursery() as nursery:
        nursery.start_soon(asks, "http://one/")
        nursery.start_soon(asks, "http://two/")
    with x.not_cancelled(), trio.move_on_after(10) as patience:
        await asks("http://three/")
    assert not patience.cancelled_caught, f"no place is free in {pool!r}"


Library = partial(Row, library="httpcore")
ROWS = [
    Library(
        what="AsyncConnectionPool",
        holds="a place that is free is given to the next request",
        program=a_request_after_all_others,
        verdict="refuted",
        options={"cancel": "own"},
        script="httpcore_connecting.py",
        judgement="bug, open as encode/httpcore #1093: the connection that a cancelled request was to make "
        "stays in the pool forever, CONNECTING",
    ),
    Library(
        what="AsyncConnectionPool, nothing cancelled",
        holds="a place that is free is given to the next request",
        program=a_request_after_all_others,
        options={"cancels": 0},
    ),
]
