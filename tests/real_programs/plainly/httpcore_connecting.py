"""httpcore: a queued request that is cancelled as a place becomes free leaves a connection that no task makes."""

from collections.abc import Callable, Iterable
from typing import Any

import httpcore
import trio
from trio.testing import wait_all_tasks_blocked

ANSWER = b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"


class Stream(httpcore.AsyncNetworkStream):  # type: ignore[misc]
    def __init__(self, when_closed: Callable[[], None]) -> None:
        self._when_closed = when_closed

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return ANSWER

    async def write(self, buffer: bytes, timeout: float | None = None) -> None: ...

    async def aclose(self) -> None:
        self._when_closed()

    def get_extra_info(self, info: str) -> Any:
        return None


class Network(httpcore.AsyncNetworkBackend):  # type: ignore[misc]
    def __init__(self, when_closed: Callable[[], None]) -> None:
        self._when_closed = when_closed
        self.may_connect = trio.Event()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> Stream:
        await self.may_connect.wait()
        return Stream(self._when_closed)


async def main() -> str:
    second = trio.CancelScope()
    # The first request closes its connection, and in that very step its place goes to the second.
    network = Network(when_closed=second.cancel)
    pool = httpcore.AsyncConnectionPool(max_connections=1, network_backend=network)

    async def asks(url: str, scope: trio.CancelScope) -> None:
        with scope:
            await pool.request("GET", url)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(asks, "http://one/", trio.CancelScope())
        await wait_all_tasks_blocked()
        nursery.start_soon(asks, "http://two/", second)
        await wait_all_tasks_blocked()
        network.may_connect.set()
    with trio.move_on_after(1) as patience:
        await pool.request("GET", "http://three/")
    return str(pool.connections) if patience.cancelled_caught else ""


if connections := trio.run(main):
    raise SystemExit(f"shown: nothing uses the pool, and no request gets through: {connections}")
