"""A program that reaches for a thread, a socket, a process or a file is told which call does it, and where."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable

import pytest
import trio
from trio.lowlevel import checkpoint

from structsync.testing import NondeterminismError, explore


async def looks_up_a_host() -> None:
    await trio.socket.getaddrinfo("localhost", 9)


async def connects() -> None:
    await trio.open_tcp_stream("localhost", 9)


async def listens() -> None:
    await trio.open_tcp_listeners(0)


async def makes_a_socket() -> None:
    trio.socket.socket()


async def starts_a_process() -> None:
    await trio.run_process(["true"])


async def opens_a_file() -> None:
    await trio.open_file("letters.txt")


async def asks_a_path() -> None:
    await trio.Path("letters.txt").exists()


async def works_in_a_thread() -> None:
    await trio.to_thread.run_sync(len, "a")


def refusal(function: Callable[..., Awaitable[object]], *arguments: object) -> str:
    async def program() -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(function, *arguments)
            nursery.start_soon(checkpoint)

    with pytest.raises(NondeterminismError) as caught:
        explore(program)
    return str(caught.value)


@pytest.mark.parametrize(
    ("function", "does", "called"),
    [
        (looks_up_a_host, "uses a socket", r"getaddrinfo\(\) "),
        (connects, "uses a socket", r"open_tcp_stream\(\) "),
        (listens, "uses a socket", r"open_tcp_listeners\(\) "),
        (makes_a_socket, "uses a socket", r"socket\(\) "),
        (starts_a_process, "starts a process", r"\w*run_process\(\) "),
        (opens_a_file, "uses a file, which trio does in a thread", r"open_file\(\) "),
        (asks_a_path, "uses a file, which trio does in a thread", r"\w+\(\) "),
        (works_in_a_thread, "starts a thread", ""),
    ],
)
def test_what_trio_reaches_for_inside_is_told_as_what_the_program_does(
    function: Callable[[], Awaitable[object]], does: str, called: str
) -> None:
    line = function.__code__.co_firstlineno + 1
    told = refusal(function)
    where = rf"\({called}at {re.escape(__file__)}:{line}\), and "
    assert re.match(rf"the test {re.escape(does)} {where}", told), told


def test_a_task_that_is_a_function_of_a_library_says_that() -> None:
    told = refusal(trio.socket.getaddrinfo, "localhost", 9)
    assert told.startswith("the test uses a socket (getaddrinfo() in a library's code), and ")
