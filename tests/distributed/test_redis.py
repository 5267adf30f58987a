"""What the engine on a server does beyond the conformance suite: refusals, and a server that goes away."""

from __future__ import annotations

import logging
import signal
from typing import Any

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from structsync.distributed import LeaseLost, client, open_session
from structsync.distributed.engine import LONGEST
from tests.distributed.servers import (
    ENDS,
    LASTS,
    Server,
    base,
    hosting,
    opens,
    opens_briefly,
    silent,
)
from tests.distributed.waiting import until_waiting

pytest.importorskip("hiredis")


pytestmark = pytest.mark.timeout(90)

#: In seconds, for a session that has to outlive what takes a good part of its lease.
LONG = 4 * ENDS

# ==== Refused ====


@pytest.mark.parametrize("policy", ["allkeys-lru", "volatile-ttl"])
async def test_a_server_that_evicts_is_refused(victim: Server, policy: str) -> None:
    victim.ask("CONFIG", "SET", "maxmemory-policy", policy)
    with pytest.raises(RuntimeError, match=f"policy is {policy}.* set maxmemory-policy to noevict"):
        async with opens(victim):
            pytest.fail("it was opened")


async def test_a_server_that_still_loads_its_data_counts_as_one_that_cannot_be_reached(
    redis: Server, namespace: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    import hiredis

    from structsync.distributed.redis.connection import Command, Connection

    exchange = Connection.exchange

    async def loading(self: Connection, *commands: Command) -> list[Any]:
        """What one says that was started a moment ago: it lets in, and cannot do anything yet."""
        replies = await exchange(self, *commands)
        error = hiredis.ReplyError("LOADING Redis is loading the dataset in memory")
        return [
            error if command[0] == "SCRIPT" else reply
            for command, reply in zip(commands, replies, strict=True)
        ]

    monkeypatch.setattr(Connection, "exchange", loading)
    with pytest.raises(ConnectionError, match="was started just now: LOADING"):
        async with opens(redis, namespace):
            pytest.fail("it was opened")


async def test_another_ttl_is_refused_while_the_namespace_is_in_use(
    redis: Server, namespace: str
) -> None:
    async with opens(redis, namespace):
        with pytest.raises(ValueError, match=f"in use with ttl={LASTS:g}, not 3"):
            async with opens(redis, namespace, ttl=3):
                pytest.fail("it was opened")
    async with opens(redis, namespace, ttl=3):
        pass


async def test_another_version_is_refused_while_the_namespace_is_in_use(
    redis: Server, namespace: str
) -> None:
    async with opens(redis, namespace):
        redis.ask("HSET", base(namespace), "version", "99")
        with pytest.raises(
            RuntimeError, match="in use in version 99, and this structsync speaks 1"
        ):
            async with opens(redis, namespace):
                pytest.fail("it was opened")


async def test_a_script_that_fails_is_told_with_the_reason(redis: Server, namespace: str) -> None:
    redis.ask("SET", base(namespace), "what another task keeps there")
    with pytest.raises(RuntimeError, match=r"refuses the script of the log: .*WRONGTYPE"):
        async with opens(redis, namespace):
            pytest.fail("it was opened")


async def test_a_log_that_is_broken_ends_the_session_with_the_reason(
    redis: Server, namespace: str
) -> None:
    with pytest.raises(RuntimeError, match=r"refuses what a session needs: .*WRONGTYPE"):
        async with opens(redis, namespace) as here:
            redis.ask("SET", f"{base(namespace)}:entries:lock", "broken")
            with pytest.raises(LeaseLost):
                await here.lock("lock").__aenter__()


@pytest.mark.parametrize(
    ("says", "told"),
    [
        (b"", r"\d has closed the connection$"),
        (b"-DENIED it is protected\r\n", r"\d has closed the connection: DENIED it is protected$"),
        (b"+OK\r\n", r"\d has closed the connection$"),
    ],
)
async def test_a_server_that_hangs_up_is_told_with_what_it_says(says: bytes, told: str) -> None:
    async with hosting(says) as url:
        with pytest.raises(ConnectionError, match=told):
            async with open_session(url, namespace="test"):
                pytest.fail("it was opened")


async def test_a_server_that_says_nothing_is_given_up_after_a_lease(
    autojump_clock: MockClock,
) -> None:
    with silent() as url, trio.fail_after(60):
        with pytest.raises(TimeoutError, match="silent has not answered within ttl=3 seconds"):
            async with open_session(url, namespace="test", ttl=3):
                pytest.fail("it was opened")
        assert trio.current_time() == pytest.approx(3)


# ==== Connections ====


async def test_a_connection_that_is_cut_is_made_again(redis: Server, namespace: str) -> None:
    async with opens(redis, namespace) as here, opens(redis, namespace) as there:
        async with trio.open_nursery() as nursery:
            tokens: list[int] = []

            async def wait() -> None:
                async with there.lock("lock") as grant:
                    tokens.append(grant.token)

            async with here.lock("lock") as grant:
                nursery.start_soon(wait)
                await until_waiting(here.lock("lock"), 1)
                redis.ask("CLIENT", "KILL", "TYPE", "pubsub")
            with trio.fail_after(LASTS / 4):  # not only when it renews its lease
                while not tokens:  # noqa: ASYNC110 - nothing says so
                    await trio.sleep(0.01)
        assert tokens[0] > grant.token


async def test_a_hint_that_was_missed_is_made_up_for_when_the_connection_is_there_again(
    redis: Server, namespace: str
) -> None:
    async with opens(redis, namespace) as here, opens(redis, namespace) as there:
        async with trio.open_nursery() as nursery:

            async def wait() -> None:
                async with there.lock("lock"):
                    nursery.cancel_scope.cancel()

            async with here.lock("lock"):
                nursery.start_soon(wait)
                await until_waiting(here.lock("lock"), 1)
                deaf: Any = there._engine
                deaf.hinted, hinted = (lambda *_: False), deaf.hinted
            deaf.hinted = hinted
            redis.ask("CLIENT", "KILL", "TYPE", "pubsub")
            with trio.fail_after(LASTS / 4):
                await trio.sleep_forever()


async def test_a_script_that_was_forgotten_is_loaded_again(redis: Server, namespace: str) -> None:
    async with opens(redis, namespace) as here:
        redis.ask("SCRIPT", "FLUSH")
        async with here.lock("lock"):
            pass


async def test_garbage_on_the_channel_is_ignored(redis: Server, namespace: str) -> None:
    async with opens(redis, namespace) as here:
        async with here.lock("lock"):
            for log in ("lock", "other", "\\xff", ""):
                redis.ask("PUBLISH", f"{base(namespace)}:to:{here.identity}", log)
            pushed: Any = here._engine
            pushed._pushed([b"invalidate", None])
            assert (await here.lock("lock").statistics()).holders == 1


async def test_a_server_that_is_stopped_for_a_while_costs_nothing(victim: Server) -> None:
    async with opens(victim, ttl=LONG) as here:
        async with here.lock("lock"):
            assert victim.process is not None
            victim.process.send_signal(signal.SIGSTOP)
            await trio.sleep(0.3 * LONG)  # more than a quarter: the connection is given up
            victim.process.send_signal(signal.SIGCONT)
        async with here.lock("lock"):
            pass


async def test_a_server_that_is_away_for_longer_than_the_lease_ends_the_session(
    victim: Server, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    async with opens_briefly(victim) as here:
        with pytest.raises(LeaseLost):
            async with here.lock("lock"):
                victim.kill()
                await trio.sleep_forever()
    assert "has ended; trying again" in caplog.text
    assert "could not be told that a session has ended" in caplog.text


async def test_a_session_that_ends_while_its_connection_is_away_says_so_by_another_one(
    redis: Server, namespace: str
) -> None:
    async with opens(redis, namespace) as here:
        engine: Any = here._engine
        engine.connection.is_usable = False
    assert redis.ask("EXISTS", f"{base(namespace)}:sessions") == b":0"


async def test_who_is_not_the_primary_for_a_while_is_asked_again(victim: Server) -> None:
    async with opens(victim, ttl=LONG) as here:
        async with here.lock("lock"):
            victim.ask("REPLICAOF", "127.0.0.1", "1")
            await trio.sleep(0.4 * LONG)  # in which it renews its lease
            victim.ask("REPLICAOF", "NO", "ONE")
            await trio.sleep(0.2 * LONG)


async def test_a_primary_without_replicas_renews_no_lease_where_it_needs_one(
    victim: Server,
) -> None:
    async with opens_briefly(victim) as here:
        with pytest.raises(LeaseLost):
            async with here.lock("lock"):
                victim.ask("CONFIG", "SET", "min-replicas-to-write", "1")
                await trio.sleep_forever()


# ==== Logs ====


async def test_a_long_log_is_replaced_by_a_snapshot(
    redis: Server, namespace: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "COMPACT_AFTER", 10)
    async with opens(redis, namespace) as here, opens(redis, namespace) as there:
        semaphore = here.semaphore("db", 2)
        async with semaphore:
            while redis.ask("HEXISTS", f"{base(namespace)}:log:db", "snapshot") == b":0":
                async with there.semaphore("db", 2):
                    await semaphore.statistics()
            assert int(redis.ask("LLEN", f"{base(namespace)}:entries:db")[1:]) < 60
            async with opens(redis, namespace) as late:
                assert (await late.semaphore("db", 2).statistics()).value == 1
                redis.ask("CLIENT", "KILL", "TYPE", "pubsub")
                async with late.semaphore("db", 2):
                    pass


async def test_a_compaction_that_comes_too_late_is_left_out(redis: Server, namespace: str) -> None:
    async with opens(redis, namespace) as here:
        async with here.lock("lock"):
            await here._engine.compact("lock", 1, b"[]")
        assert redis.ask("HEXISTS", f"{base(namespace)}:log:lock", "offered") == b":0"


async def test_a_session_that_others_have_buried_is_over(redis: Server, namespace: str) -> None:
    async with opens(redis, namespace) as here:
        with pytest.raises(LeaseLost):
            async with here.lock("lock"):
                redis.ask("ZREM", f"{base(namespace)}:sessions", here.identity)
                with pytest.raises(LeaseLost):
                    await here.lock("lock/other").__aenter__()


async def test_when_the_last_session_is_over_nothing_is_left_but_the_namespace(
    victim: Server,
) -> None:
    async with opens(victim) as here, opens(victim) as there:
        async with here.lock("a/lock"), there.lock("b/lock"), there.lock("a/lock2"):
            pass
    assert victim.ask("DBSIZE") == b":1"


# ==== Messages ====


async def test_a_session_may_be_opened_and_end_where_messages_are_refused(victim: Server) -> None:
    """They are hints, and a session that is called renews its lease, and then looks."""
    victim.ask("ACL", "SETUSER", "default", "-publish")
    try:
        async with opens(victim) as here, here.lock("lock"):
            for _ in range(2):
                async with opens(victim) as there:
                    await there.lock("lock").statistics()
    finally:
        victim.ask("ACL", "SETUSER", "default", "+publish")


async def test_who_has_deleted_what_is_known_of_a_session_keeps_no_others_out(
    redis: Server, namespace: str
) -> None:
    async with opens(redis, namespace) as there:
        await there.lock("lock").statistics()
        async with opens(redis, namespace) as here:
            await here.lock("lock").statistics()
            for one in (here, there):
                redis.ask("DEL", f"{base(namespace)}:session:{one.identity}")
            async with there.lock("another/lock"):
                pass
        async with there.lock("lock"):
            assert [*there._clients["lock"].replica.core.sessions] == [there.identity]


async def test_a_message_to_no_session_or_while_the_server_is_away_is_known_to_be_lost(
    redis: Server, namespace: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opens(redis, namespace) as here:
        engine: Any = here._engine
        assert not await engine.send("no task", b"hello")
        assert await engine.send(here.identity, b"no message of a call")
        monkeypatch.setattr(engine, "connected", trio.Event())
        monkeypatch.setattr(engine, "patience", 0.01)
        assert not await engine.send(here.identity, b"hello")
        engine.connected.set()


async def test_of_long_messages_few_are_on_their_way_at_a_time(
    redis: Server, namespace: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What renews the lease is not behind more than these."""
    from structsync.distributed.redis.connection import Reply

    on_their_way: list[Reply] = []

    def post(*command: object) -> Reply:
        reply = Reply(None)
        if command[0] == "PUBLISH":
            on_their_way.append(reply)
        return reply

    async with opens(redis, namespace) as here:
        engine: Any = here._engine
        with monkeypatch.context() as patch:
            patch.setattr(engine.connection, "post", post)
            async with trio.open_nursery() as nursery:
                for _ in range(6):
                    nursery.start_soon(engine.send, "no task", bytes(LONGEST))
                await wait_all_tasks_blocked()
                for expected in (4, 6):
                    assert len(on_their_way) == expected
                    for reply in on_their_way:
                        reply.arrive()
                    await wait_all_tasks_blocked()


async def test_a_server_that_passes_no_messages_is_told_with_the_reason(victim: Server) -> None:
    with pytest.raises(RuntimeError, match="refuses what a session needs: NOPERM"):
        async with opens(victim) as here:
            victim.ask("ACL", "SETUSER", "default", "-publish")
            try:
                await here._engine.send("no task", b"hello")
            finally:
                victim.ask("ACL", "SETUSER", "default", "+publish")


async def test_a_server_that_refuses_to_renew_a_lease_ends_the_session_with_the_reason(
    victim: Server,
) -> None:
    states: list[str] = []
    with pytest.raises(RuntimeError, match="refuses what a session needs: NOPERM"):
        async with opens(victim, ttl=2 * ENDS) as here:
            victim.ask("ACL", "SETUSER", "default", "-evalsha")
            try:
                await trio.sleep_forever()
            finally:
                victim.ask("ACL", "SETUSER", "default", "+evalsha")
                states.append(repr(here))
    assert states[0].endswith(", closed>"), "no later than its tasks are cancelled"
