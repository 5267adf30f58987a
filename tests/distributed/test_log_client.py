"""What a log client does with an answer that comes while no task waits for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
import trio

from structsync._core.shared.operations import Operation, Verb
from structsync.distributed import LeaseLost
from structsync.distributed.client import AT_ONCE, LogClient
from structsync.distributed.engine import Appended, Tail
from structsync.distributed.memory import Hub, MemoryEngine


class Answering(MemoryEngine):
    """Answers at once, always with the same."""

    entries: Sequence[bytes]

    def __init__(self, *entries: bytes) -> None:
        super().__init__(Hub(), None)
        self.entries = entries

    def append_soon(
        self,
        log: str,
        operations: Sequence[bytes],
        after: int,
        done: Appended,
        told: Mapping[str, Tail],
    ) -> bool:
        done(Tail(0, self.entries))
        return True


async def test_an_answer_that_cannot_be_read_is_raised_where_it_ends_the_session() -> None:
    client = LogClient(Answering(b"no entry"), "session 1", "log")
    client.hinted()
    with pytest.raises(ValueError, match="not an entry of a log"):
        await client.drive()


async def test_a_long_answer_is_applied_in_the_background() -> None:
    entries = [Operation(Verb.JOIN, f"session {one}").encode() for one in range(AT_ONCE + 1)]
    client = LogClient(Answering(*entries), "session 0", "log")
    async with trio.open_nursery() as nursery:
        client.hinted()
        assert client.replica.position == 0
        nursery.start_soon(client.drive)
        await trio.testing.wait_all_tasks_blocked()
        assert client.replica.position == len(entries)
        nursery.cancel_scope.cancel()


async def test_news_that_come_while_there_is_something_to_read_are_read_instead() -> None:
    joined = [Operation(Verb.JOIN, f"session {one}").encode() for one in range(3)]
    engine = Answering(*joined[:2])
    engine.forgets = True
    client = LogClient(engine, "session 0", "log")
    client.is_busy = True
    assert not client.told(Tail(0, joined[:1], None, [1]))
    client.is_busy = False
    assert not client.told(Tail(1, joined[1:2], None, [2]))
    assert client.replica.position == 2, "it was read"
    news = Tail(1, joined[1:], None, [2, 3])
    client.unread = True
    engine.entries = ()
    assert not client.told(news), "there may be something to read that others do not know"
    assert client.told(news)
    assert [*client.replica.core.sessions] == ["session 0", "session 1", "session 2"]


async def test_news_of_a_log_that_loses_nothing_are_read_instead() -> None:
    joined = [Operation(Verb.JOIN, f"session {one}").encode() for one in range(3)]
    client = LogClient(Answering(*joined[:2]), "session 0", "log")
    assert not client.told(Tail(0, joined, None, [1, 2, 3])), "no history that they could continue"
    assert client.replica.position == 2, "it was read"


class Failing(Answering):
    """Cannot even send."""

    def append_soon(self, *arguments: Any) -> bool:
        raise ZeroDivisionError


async def test_what_fails_while_it_is_sent_is_raised_where_it_ends_the_session() -> None:
    client = LogClient(Failing(), "session 1", "log")
    pending = client.begin("log/lock", Verb.RELEASE, 0)
    with pytest.raises(ZeroDivisionError):
        await client.drive()
    assert not client.is_busy
    client.lose()
    with pytest.raises(LeaseLost):
        await pending.wait()


class Late(MemoryEngine):
    """Answers when it is told to."""

    def __init__(self) -> None:
        super().__init__(Hub(), None)
        self.answers = trio.Event()

    async def append(self, log: str, operations: Sequence[bytes], after: int) -> Tail:
        await self.answers.wait()
        return Tail(0, [Operation(Verb.JOIN, "session 0").encode()])


async def test_an_answer_that_comes_after_the_session_has_ended_changes_nothing() -> None:
    engine = Late()
    client = LogClient(engine, "session 0", "log")
    async with trio.open_nursery() as nursery:
        client.hinted()
        nursery.start_soon(client.drive)
        await trio.testing.wait_all_tasks_blocked()
        client.lose()
        engine.answers.set()
    assert client.replica.position == 0
