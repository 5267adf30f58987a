"""Letters travel over real sockets. No schedule decides what a network does: not explored."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import trio
from courier import Rules, open_courier
from courier.wire import ACCEPTED, over_tcp

PROJECT = Path(__file__).parents[1]


@asynccontextmanager
async def open_receiver(letters: list[str], answer: bytes = ACCEPTED) -> AsyncIterator[int]:
    """Keep what arrives in a list; yield the port."""

    async def receive(stream: trio.SocketStream) -> None:
        line = b""
        while not line.endswith(b"\n"):
            line += await stream.receive_some()
        letters.append(line.decode().rstrip("\n"))
        await stream.send_all(answer)
        await stream.aclose()

    async with trio.open_nursery() as nursery:
        serve = partial(trio.serve_tcp, receive, 0, host="127.0.0.1")
        (listener, *_) = await nursery.start(serve)
        yield listener.socket.getsockname()[1]
        nursery.cancel_scope.cancel()


def test_letters_arrive() -> None:
    received: list[str] = []

    async def main() -> None:
        async with open_receiver(received) as port:
            async with open_courier(over_tcp("127.0.0.1", port)) as courier:
                for number in range(20):
                    await courier.post(f"letter {number}")
            assert sorted(courier.delivered) == sorted(received)

    trio.run(main)
    assert len(received) == 20


def test_a_letter_that_is_not_accepted_is_tried_again_and_then_refused() -> None:
    received: list[str] = []

    async def main() -> None:
        async with open_receiver(received, b"no room\n") as port:
            rules = Rules(attempts=3, pause=0)
            async with open_courier(over_tcp("127.0.0.1", port), rules) as courier:
                await courier.post("hello")
        assert courier.refused == ["hello"]

    trio.run(main)
    assert received == ["hello"] * 3


def test_the_command_delivers_its_input() -> None:
    received: list[str] = []

    async def main() -> subprocess.CompletedProcess[bytes]:
        async with open_receiver(received) as port:
            command = [sys.executable, "-m", "courier", "127.0.0.1", str(port)]
            return await trio.run_process(
                command, stdin=b"one\ntwo\n", capture_stdout=True, cwd=PROJECT
            )

    assert trio.run(main).stdout.split() == [b"2", b"delivered"]
    assert sorted(received) == ["one", "two"]
