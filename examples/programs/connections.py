"""Connections to an echo server: costly to make, so a few are kept, and lent to one task at a time.

A connection whose request failed or was cancelled may have half an answer in it, or a whole one that no task has
read. So the pool does not lend it again, but closes it.

Prints::

    6 requests over 2 connections
    one was cancelled: its connection is gone, the next answer is right: again
    all connections are closed
"""

from collections.abc import Awaitable, Callable

import trio

from structsync import ResourcePool
from structsync.testing import ExploredRun, explore


class Client:
    """Sends lines and returns their answers, over a pool of connections."""

    def __init__(self, connect: Callable[[], Awaitable[trio.abc.Stream]], most: int) -> None:
        self.pool = ResourcePool(connect, most, close=close, name="connections")

    async def ask(self, line: bytes) -> bytes:
        async with self.pool.item() as stream:
            await stream.send_all(line + b"\n")
            answer = b""
            while not answer.endswith(b"\n"):
                answer += await stream.receive_some() or b"\n"
            return answer.rstrip()


async def close(stream: trio.abc.Stream) -> None:
    await stream.aclose()


class Server:
    """Echoes what it is sent, and counts its connections."""

    def __init__(self) -> None:
        self.connected = self.ever = 0
        self.patience, self.all_gone = trio.Event(), trio.Event()

    async def echo(self, stream: trio.SocketStream) -> None:
        self.connected += 1
        self.ever += 1
        try:
            async for chunk in stream:
                if chunk == b"slow\n":
                    await self.patience.wait()
                await stream.send_all(chunk)
        except trio.BrokenResourceError:
            pass  # the client did not wait for its answer
        finally:
            self.connected -= 1
            if not self.connected:
                self.all_gone.set()


async def main() -> None:
    server = Server()
    async with trio.open_nursery() as nursery:
        (listener,) = await trio.open_tcp_listeners(0, host="127.0.0.1")
        nursery.start_soon(trio.serve_listeners, server.echo, [listener])
        port: int = listener.socket.getsockname()[1]

        async def connect() -> trio.SocketStream:
            return await trio.open_tcp_stream("127.0.0.1", port)

        client = Client(connect, 2)
        with trio.fail_after(30):
            async with client.pool:
                async with trio.open_nursery() as requests:
                    for number in range(6):
                        requests.start_soon(client.ask, b"%d" % number)
                print(f"6 requests over {server.ever} connections")
                with trio.move_on_after(0.01):
                    await client.ask(b"slow")
                server.patience.set()
                kept = client.pool.statistics().idle
                answer = (await client.ask(b"again")).decode()
                gone = "is gone" if kept == 1 else "is kept"
                print(
                    f"one was cancelled: its connection {gone}, the next answer is right: {answer}"
                )
            await server.all_gone.wait()
        print("all connections are closed")
        nursery.cancel_scope.cancel()


class Line(trio.abc.Stream):
    """A connection for the exploration: what was sent comes back, once."""

    def __init__(self, open_lines: list[object]) -> None:
        self.open_lines = open_lines
        self.echo = b""
        open_lines.append(self)

    async def send_all(self, data: bytes | bytearray | memoryview) -> None:
        self.echo += bytes(data)
        await trio.lowlevel.checkpoint()

    async def wait_send_all_might_not_block(self) -> None:
        await trio.lowlevel.checkpoint()

    async def receive_some(self, max_bytes: int | None = None) -> bytes:
        await trio.lowlevel.checkpoint()
        answer, self.echo = self.echo, b""
        return answer

    async def aclose(self) -> None:
        self.open_lines.remove(self)
        await trio.lowlevel.checkpoint()


@explore(exhaustive=True)
async def test_an_answer_belongs_to_its_request_and_no_connection_is_left(x: ExploredRun) -> None:
    lines: list[object] = []
    x.always(lambda: len(lines) <= 1, "there is one connection at most")
    x.finally_(lambda: not lines, "no connection is left")

    async def connect() -> trio.abc.Stream:
        await trio.lowlevel.checkpoint()
        return Line(lines)

    async def ask(line: bytes) -> None:
        with trio.CancelScope():
            assert await client.ask(line) == line

    client = Client(connect, 1)
    async with client.pool, trio.open_nursery() as nursery:
        nursery.start_soon(ask, b"one")
        nursery.start_soon(ask, b"two")


if __name__ == "__main__":
    trio.run(main)
