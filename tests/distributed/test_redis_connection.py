"""One connection: replies belong to requests, and no task waits for a connection that has ended."""

from __future__ import annotations

import math
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
import trio
from trio.testing import MockClock, memory_stream_pair, wait_all_tasks_blocked

pytest.importorskip("hiredis")

from structsync.distributed.errors import DeliveryFailed
from structsync.distributed.redis import connection, server
from structsync.distributed.redis.connection import Connection


class Pair:
    """A connection, what was pushed to it, and the other end of it."""

    def __init__(self, patience: float = math.inf) -> None:
        self.pushed: list[Any] = []
        ours, self.peer = memory_stream_pair()
        self.connection = Connection(ours, self.pushed.append, patience)

    async def says(self, data: bytes) -> None:
        await self.peer.send_all(data)
        await wait_all_tasks_blocked()


@asynccontextmanager
async def running() -> AsyncIterator[Pair]:
    pair = Pair()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(pair.connection.run)
        yield pair
        pair.connection.drop()
    assert not pair.connection.is_usable


async def test_replies_come_in_the_order_of_requests_and_pushes_between_them() -> None:
    async with running() as pair:
        first, second = pair.connection.post("GET", "a"), pair.connection.post("GET", b"b")
        await pair.says(b":1\r\n>3\r\n$7\r\nmessage\r\n$1\r\nc\r\n$1\r\nd\r\n#f\r\n")
        assert await first.wait() == 1
        assert await second.wait() is False
        assert pair.pushed == [[b"message", b"c", b"d"]]
        assert await pair.peer.receive_some() == (
            b"*2\r\n$3\r\nGET\r\n$1\r\na\r\n*2\r\n$3\r\nGET\r\n$1\r\nb\r\n"
        )


async def test_a_reply_that_was_abandoned_is_not_taken_for_the_next_one() -> None:
    async with running() as pair:
        with trio.move_on_after(0):
            await pair.connection.post("GET", "a").wait()
        second = pair.connection.post("GET", "b")
        await pair.says(b"$5\r\nfirst\r\n$6\r\nsecond\r\n")
        assert await second.wait() == b"second"


async def test_a_request_that_cannot_be_encoded_takes_no_reply() -> None:
    async with running() as pair:
        with pytest.raises(UnicodeEncodeError):
            pair.connection.post("GET", "\udc80")
        second = pair.connection.post("GET", "b")
        await pair.says(b"$6\r\nsecond\r\n")
        assert second.value == b"second"


async def test_a_connection_that_leaves_a_request_without_an_answer_for_too_long_is_dropped(
    autojump_clock: MockClock,
) -> None:
    pair = Pair(patience=10)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(pair.connection.run)
        await trio.sleep(100)  # it owes no answer
        assert pair.connection.is_usable
        reply = pair.connection.post("GET", "a")
        with pytest.raises(DeliveryFailed), trio.fail_after(1000):
            await reply.wait()
        assert trio.current_time() <= 110
    assert not pair.connection.is_usable


@pytest.mark.parametrize("data", [b"garbage\r\n", b":1\r\n:2\r\n", b"*1\r\n"])
async def test_who_waits_when_the_connection_ends_is_told(data: bytes) -> None:
    async with running() as pair:
        async with trio.open_nursery() as nursery:

            async def wait() -> None:
                replies = [pair.connection.post("GET", name) for name in "abc"]
                with pytest.raises(DeliveryFailed):
                    await replies[2].wait()

            nursery.start_soon(wait)
            await wait_all_tasks_blocked()
            await pair.says(data)
            await pair.peer.aclose()
        assert not pair.connection.is_usable


async def test_a_reply_to_nothing_ends_the_connection() -> None:
    async with running() as pair:
        reply = pair.connection.post("GET", "a")
        await pair.says(b":1\r\n:2\r\n")
        assert await reply.wait() == 1
        assert not pair.connection.is_usable


async def test_who_exchanges_when_the_connection_ends_is_told() -> None:
    pair = Pair()
    await pair.peer.aclose()
    with pytest.raises(DeliveryFailed):
        await pair.connection.exchange(("PING",))
    assert not pair.connection.is_usable


async def test_a_connection_on_which_half_a_request_was_sent_is_not_used_again() -> None:
    pair = Pair()
    pair.connection.stream.send_stream.send_all_hook = trio.sleep_forever  # type: ignore[attr-defined]
    with trio.move_on_after(0.01):
        await pair.connection.exchange(("PING",))
    assert not pair.connection.is_usable


# ==== A socket of its own ====


class Handle:
    """A socket that says once that there is nothing, and then that it has broken; its other end is elsewhere."""

    def __init__(self, its: socket.socket) -> None:
        self.its = its
        self.errors = [ConnectionResetError(), BlockingIOError()]

    def getpeername(self) -> tuple[str, int]:
        return "192.0.2.1", 6379

    def fileno(self) -> int:
        return self.its.fileno()

    def recv(self, length: int) -> bytes:
        raise self.errors.pop()


async def test_what_is_readable_and_empty_is_waited_for_and_what_has_broken_is_told() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.send(b":1\r\n")
        handle: Any = Handle(ours)
        with pytest.raises(trio.BrokenResourceError):
            await connection._received(handle)
        assert not handle.errors


@asynccontextmanager
async def near() -> AsyncIterator[tuple[Connection, socket.socket]]:
    """A connection that nothing runs in the background, and the other end of it."""
    ours, theirs = socket.socketpair()
    one = Connection(trio.SocketStream(trio.socket.from_stdlib_socket(ours)), lambda said: None)
    with theirs:
        yield one, theirs
        await one.close()


async def test_a_reply_that_comes_at_once_needs_no_other_task() -> None:
    async with near() as (one, theirs):
        arrived = list[Any]()
        one.post_then(arrived.append, "GET", "a")
        theirs.send(b":1\r\n")
        one.linger()
        assert arrived == [1]


async def test_a_reply_that_does_not_come_at_once_is_not_waited_for() -> None:
    async with near() as (one, theirs):
        arrived = list[Any]()
        one.post_then(arrived.append, "GET", "a")
        one.linger()
        theirs.close()
        one.linger()
        assert arrived == []
    one.linger()
    assert arrived == [None]


async def test_garbage_that_comes_at_once_ends_the_connection() -> None:
    async with near() as (one, theirs):
        theirs.send(b"garbage\r\n")
        one.linger()
        assert not one.is_usable


async def test_a_connection_that_breaks_at_once_is_left_to_the_background() -> None:
    async with near() as (one, theirs):
        one.post("GET", "a")
        broken: Any = Handle(theirs)
        one._near = broken
        one.linger()
        assert len(broken.errors) == 1
        assert one.is_usable


async def test_a_server_of_another_machine_is_not_waited_for() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        assert connection._is_near(ours)
        elsewhere: Any = Handle(ours)
        assert not connection._is_near(elsewhere)


SAID = {b"version": b"7.0.15", b"mode": b"standalone", b"role": b"master"}


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({b"version": b"6.2.14"}, "version 6.2.14; it takes Redis 7"),
        ({b"mode": b"cluster"}, "a node of a cluster"),
        ({b"role": b"replica"}, "is a replica; use the address of the primary"),
    ],
)
def test_a_server_that_will_not_do_is_refused(changed: dict[bytes, bytes], problem: str) -> None:
    server._check("h:1", SAID)
    with pytest.raises(RuntimeError, match=problem):
        server._check("h:1", {**SAID, **changed})
