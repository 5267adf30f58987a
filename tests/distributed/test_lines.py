"""Streams between the sessions of one machine: who is heard, and who is cut off."""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import count
from typing import Any

import pytest
import trio

from structsync.distributed import engine, lines
from structsync.distributed.lines import Lines

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="sqlite:// needs Linux"),
    pytest.mark.timeout(60),
]

_numbers = count()


class End:
    """The lines of one session, and what it has heard."""

    def __init__(self, address: str, number: int) -> None:
        self.lines = Lines(address, number, f"session {number}")
        self.heard: list[bytes] = []
        self.changed = trio.Event()

    def take(self, message: bytes) -> None:
        self.heard.append(message)
        self.changed.set()

    async def hears(self, *messages: bytes) -> None:
        while self.heard != [*messages]:
            self.changed = trio.Event()
            await self.changed.wait()


@asynccontextmanager
async def two() -> AsyncIterator[tuple[End, End, str]]:
    """Open the lines of session 1 and session 2; yield what their addresses begin with, too."""
    address = f"\0structsync-test-{os.getpid()}-{next(_numbers)}-"
    async with trio.open_nursery() as nursery:
        ends = [End(address, 1), End(address, 2)]
        for end in ends:
            await nursery.start(end.lines.serve, end.take)
        yield ends[0], ends[1], address
        nursery.cancel_scope.cancel()


async def test_messages_come_in_order_in_both_directions() -> None:
    async with two() as (one, other, _):
        long = b"x" * engine.LONGEST
        assert await one.lines.send("session 2", 2, b"")
        assert await one.lines.send("session 2", 2, long)
        await other.hears(b"", long)
        assert await other.lines.send("session 1", 1, b"back")
        await one.hears(b"back")
        assert len(one.lines.lines) == len(other.lines.lines) == 1
        assert await one.lines.send("session 1", 1, b"to itself")
        await one.hears(b"back", b"to itself")


async def test_who_is_not_there_gets_nothing() -> None:
    async with two() as (one, _, _):
        assert not await one.lines.send("session 3", 3, b"hello")
        await one.lines.drain("session 3")


async def test_a_line_that_has_ended_is_made_again() -> None:
    async with two() as (one, other, _):
        await one.lines.send("session 2", 2, b"first")
        await other.hears(b"first")
        async with trio.open_nursery() as nursery:
            nursery.start_soon(one.lines.drain, "session 2")
            await trio.testing.wait_all_tasks_blocked()
            await trio.aclose_forcefully(other.lines.lines["session 1"].stream)
        assert await one.lines.send("session 2", 2, b"second")
        await other.hears(b"first", b"second")


async def test_what_is_sent_as_the_other_side_ends_is_known_to_be_lost() -> None:
    async with two() as (one, other, _):
        await one.lines.send("session 2", 2, b"first")
        line = one.lines.lines["session 2"]
        await trio.aclose_forcefully(line.stream)
        assert not await line.send(b"second")
        await other.hears(b"first")


@pytest.mark.parametrize("runs", [False, True])
async def test_what_a_session_had_sent_is_read_although_a_process_that_it_has_forked_keeps_its_stream_open(
    monkeypatch: pytest.MonkeyPatch, runs: bool
) -> None:
    """If it runs still, it says what it was saying, for which it has a limit of time."""
    waited = 0.02 if runs else 60
    monkeypatch.setattr(lines, "SENDING", waited)
    monkeypatch.setattr(lines, "is_running", lambda _: runs)
    async with two() as (one, other, _):
        await one.lines.send("session 2", 2, b"first")
        await other.hears(b"first")
        assert await other.lines.send("session 1", 1, b"last")
        with trio.fail_after(20):
            await one.lines.drain("session 2")
        assert one.heard == [b"last"]


async def test_a_session_that_ends_ends_its_streams_although_a_process_that_it_has_forked_has_them() -> (
    None
):
    async with two() as (one, other, _):
        await one.lines.send("session 2", 2, b"first")
        await other.hears(b"first")
        kept = other.lines.lines["session 1"].stream.socket.dup()
        other.lines.nursery.cancel_scope.cancel()
        with trio.fail_after(2):
            await one.lines.drain("session 2")
        kept.close()


async def test_a_stream_that_is_being_closed_is_drained() -> None:
    async with two() as (one, other, _):
        await one.lines.send("session 2", 2, b"first")
        await other.hears(b"first")
        one.lines.lines["session 2"].stream.socket.close()
        await one.lines.drain("session 2")


async def test_a_peer_that_sends_too_much_at_once_is_cut_off_and_no_other() -> None:
    async with two() as (one, other, address):
        for wrong in (b"\xff\xff\xff\xff", b"\0\0\0\3you\xff\xff\xff\xff", b"\0"):
            stream = await trio.open_unix_socket(f"{address}2")
            await stream.send_all(wrong)
            if len(wrong) > 1:
                assert await stream.receive_some() == b""
            await stream.aclose()
        assert await one.lines.send("session 2", 2, b"hello")
        await other.hears(b"hello")


async def deaf(self: lines.Line, received: object) -> None:
    await trio.sleep_forever()


async def test_who_does_not_read_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "SENDING", 0.05)
    async with two() as (one, other, _):
        monkeypatch.setattr(lines.Line, "receive", deaf)
        sent = True
        while sent:
            sent = await one.lines.send("session 2", 2, bytes(engine.LONGEST))
        assert other.heard == []


async def test_other_users_are_not_heard_and_nothing_is_sent_to_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with two() as (one, other, address):
        user = os.getuid()
        monkeypatch.setattr(os, "getuid", lambda: user + 1)
        assert not await one.lines.send("session 2", 2, b"hello")
        async with await trio.open_unix_socket(f"{address}2") as stream:
            with pytest.raises(trio.BrokenResourceError):
                while True:
                    await stream.send_all(b"\0\0\0\3you")
        assert other.heard == []


async def test_a_session_that_takes_no_connections_is_given_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def never(path: Any) -> None:
        await trio.sleep_forever()

    monkeypatch.setattr(lines, "SENDING", 0.05)
    async with two() as (one, _, _):
        monkeypatch.setattr(trio, "open_unix_socket", never)
        assert not await one.lines.send("session 2", 2, b"hello")
