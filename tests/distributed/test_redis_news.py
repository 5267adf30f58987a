"""A hint that brings the entries: the session that is let in reads nothing, and is not misled either."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
import trio
from trio.lowlevel import checkpoint

from structsync._core.shared.operations import Operation, Verb
from structsync.distributed import LeaseLost, Session
from structsync.distributed.engine import Tail
from structsync.distributed.replica import Replica
from tests.distributed.servers import Server, base, opens
from tests.distributed.waiting import until_waiting

pytest.importorskip("hiredis")

from structsync.distributed.redis import news

pytestmark = pytest.mark.timeout(90)

JOINED = Operation(Verb.JOIN, "ghost").encode()


async def hand_over(
    here: Session, there: Session, before: Callable[[], Awaitable[object]] = checkpoint
) -> list[str]:
    """Have a task of there wait for a lock and get it from here; return what there has asked the server meanwhile.

    Before here releases it, something is done.
    """
    engine: Any = there._engine
    asked: list[str] = []
    original = engine._command

    def command(verb: str, *details: Any) -> Any:
        asked.append(verb)
        return original(verb, *details)

    async def wait(task_status: trio.TaskStatus[None]) -> None:
        task_status.started()
        async with there.lock("lock"):
            engine._command = original
            let_in.set()

    let_in = trio.Event()
    async with trio.open_nursery() as nursery:
        async with here.lock("lock"):
            await nursery.start(wait)
            await until_waiting(here.lock("lock"), 1)
            engine._command = command
            await before()
        with trio.fail_after(5):
            await let_in.wait()
    return [verb for verb in asked if verb != "renew"]


async def test_a_session_that_is_let_in_reads_nothing(redis: Server, namespace: str) -> None:
    async with opens(redis, namespace) as here, opens(redis, namespace) as there:
        assert await hand_over(here, there) == []
        assert await hand_over(there, here) == []


async def test_a_session_is_let_in_by_the_call_that_releases(
    redis: Server, namespace: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opens(redis, namespace) as here, opens(redis, namespace) as there:
        monkeypatch.setattr(here._engine, "hint", lambda *_: None)
        assert await hand_over(here, there) == []
        assert await hand_over(here, there) == []


async def test_a_session_that_is_let_in_unforeseen_is_told_afterwards(
    redis: Server, namespace: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opens(redis, namespace) as here, opens(redis, namespace) as there:
        monkeypatch.setattr(Replica, "foreseen", lambda *_: {})
        assert await hand_over(here, there) == []


async def test_a_session_is_told_to_read_where_the_call_that_releases_could_not_tell_it(
    redis: Server, namespace: str
) -> None:
    async with (
        opens(redis, namespace) as here,
        opens(redis, namespace) as there,
        opens(redis, namespace) as elsewhere,
    ):

        async def compact() -> None:
            async with elsewhere.lock("lock/other"):  # which the one that releases has not read
                pass
            redis.ask("HSET", f"{base(namespace)}:log:lock", "offered", "1000")

        assert await hand_over(here, there, compact) == ["append"]


async def test_news_of_more_than_is_told_is_read(
    redis: Server, namespace: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("structsync.distributed.client.AT_ONCE", 1)
    async with opens(redis, namespace) as here, opens(redis, namespace) as there:

        async def use_another() -> None:
            async with here.lock("lock/other"):
                pass

        assert await hand_over(here, there, use_another) == ["append"]


async def test_news_that_do_not_continue_what_was_read_are_read(
    redis: Server, namespace: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opens(redis, namespace) as here, opens(redis, namespace) as there:
        news_for = Replica.news_for

        def misled(*arguments: Any) -> Tail | None:
            tail = news_for(*arguments)
            assert tail is not None
            return tail._replace(stamps=[stamp + 1 for stamp in tail.stamps])

        monkeypatch.setattr(Replica, "news_for", misled)
        assert await hand_over(here, there) == ["append"]


@pytest.mark.parametrize(
    "said",
    [
        b"lock",
        b"lock\nx\n1 []\n2 []",
        b"lock\n" + b"9" * 5000,
        b"lock\n0\n7 [1]\nnone [2]",
        b"\xff\nx",
    ],
)
def test_what_cannot_be_read_is_no_news(said: bytes) -> None:
    assert news.understood(news.NEWS + said)[1] is None


@pytest.mark.parametrize("log", ["lock", "two\nlines", "\N{SNOWMAN}"])
def test_news_come_as_they_were_written(log: str) -> None:
    told = Tail(3, [b'["join"]', b'["a","b"]', b"[]"], None, [5, 6, 9])
    assert news.understood(news.written(log, told)) == (log, told)


async def test_news_that_come_while_a_session_connects_are_read_instead(
    redis: Server, namespace: str
) -> None:
    async with opens(redis, namespace) as here, opens(redis, namespace) as there:
        engine: Any = there._engine

        async def connects() -> None:
            pushed = engine._pushed

            def while_connecting(said: list[Any]) -> None:
                connected, engine.connected = engine.connected, trio.Event()
                pushed(said)
                engine.connected = connected

            engine.connection._pushed = while_connecting

        assert await hand_over(here, there, connects) == ["append"]


async def test_news_of_a_log_in_which_a_session_takes_no_part_are_dropped(
    redis: Server, namespace: str
) -> None:
    async with opens(redis, namespace) as here:
        assert not here._hinted("unknown", Tail(0, []))


async def test_garbage_that_continues_what_was_read_is_read_instead(
    redis: Server, namespace: str
) -> None:
    async with opens(redis, namespace) as here:
        async with here.lock("lock"):
            engine: Any = here._engine
            position, stamp = engine.seen["lock"]
            garbage = Tail(position - 1, [b"", b"garbage"], None, [int(stamp), int(stamp) + 1])
            engine._take_news(news.written("lock", garbage))
            assert (await here.lock("lock").statistics()).holders == 1
            assert engine.seen["lock"] == (position, stamp)


async def test_a_session_that_has_believed_what_was_never_appended_loses_its_lease(
    redis: Server, namespace: str
) -> None:
    async with opens(redis, namespace) as here:
        engine: Any = here._engine
        with pytest.raises(LeaseLost):
            async with here.lock("lock"):
                position, stamp = engine.seen["lock"]
                last = int(stamp)
                forged = Tail(position - 1, [b"", JOINED], None, [last, last + 1])
                engine._take_news(news.written("lock", forged))
                assert "ghost" in here._clients["lock"].replica.core.sessions
                await here.lock("lock").statistics()
