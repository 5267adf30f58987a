"""Faults on real servers and with real processes: never more holders than permits, and nothing is lost.

Each has a control: what the fault does where the rule that guards against it is taken away.
"""

from __future__ import annotations

import os
import random
from pathlib import Path
from typing import Any

import pytest
import trio

from structsync.distributed import Session, SharedStatistics, membership, open_session
from tests.distributed.children import child
from tests.distributed.enduring import endure
from tests.distributed.history import Held, complaints
from tests.distributed.servers import TTL, Server, base, opens, server
from tests.distributed.watch import BRINGS_NOTHING_BACK, MISSES_NOTHING, Watch, planted
from tests.distributed.way import Way, way

pytest.importorskip("hiredis")

pytestmark = [pytest.mark.timeout(120), pytest.mark.slow]


def by(one: Way) -> Any:
    return open_session(one.url, namespace="test", ttl=TTL)


# ==== The network ====


async def silence(folder: Path, victim: Server) -> list[str]:
    """Nothing comes from or to a holder any more, and no connection is closed."""
    watch = Watch()
    async with way(folder, victim) as one, by(one) as here, opens(victim) as there:
        async with trio.open_nursery() as nursery:
            await nursery.start(watch.hold, here)
            one.is_silent = True
            await watch.take(there)
            one.cut()
    return watch.complaints()


async def test_a_holder_that_is_cut_off_stops_before_the_next_one_begins(
    tmp_path: Path, victim: Server
) -> None:
    assert await silence(tmp_path, victim) == []


async def test_a_holder_that_does_not_count_its_lease_is_complained_about(
    tmp_path: Path, victim: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(membership, "MARGIN", -0.5)
    assert "2 of 1 permits" in str(await silence(tmp_path, victim))


async def test_connections_that_are_cut_again_and_again_cost_nothing(
    tmp_path: Path, victim: Server
) -> None:
    order: list[int] = []
    async with way(tmp_path, victim) as one, by(one) as here, by(one) as there:
        async with trio.open_nursery() as nursery:

            async def work(session: Session) -> None:
                for _ in range(60):
                    async with session.lock("lock") as grant:
                        order.append(grant.token)
                        await trio.sleep(random.uniform(0, 0.03))

            async def cut() -> None:
                while True:
                    await trio.sleep(random.uniform(0, 0.2))
                    one.cut()

            async with trio.open_nursery() as workers:
                nursery.start_soon(cut)
                workers.start_soon(work, here)
                workers.start_soon(work, there)
            nursery.cancel_scope.cancel()
    assert len(order) == 120
    assert order == sorted({*order})


# ==== Replicas ====


async def replica_of(primary: Server, replica: Server) -> None:
    """Make one the replica of the other, and return when it is."""
    replica.ask("REPLICAOF", "127.0.0.1", str(primary.open_port()))
    while b"state=online" not in primary.ask_all("INFO", "replication"):  # noqa: ASYNC110
        await trio.sleep(0.05)


async def promote(primary: Server, replica: Server) -> None:
    """Let a replica take the place of the primary, which runs on and does not know."""
    while replica.ask_all("INFO", "replication").count(b"master_link_status:up") == 0:  # noqa: ASYNC110
        await trio.sleep(0.05)
    replica.ask("REPLICAOF", "NO", "ONE")
    while b"connected_slaves:0" not in primary.ask_all("INFO", "replication"):  # noqa: ASYNC110
        await trio.sleep(0.01)


async def failover(folder: Path, primary: Server, *, unreplicated: bool) -> list[Held]:
    """The primary dies; the replica that takes its place may not have the last grant."""
    watch = Watch()
    with server("--repl-diskless-sync-delay", "0") as replica:
        await replica_of(primary, replica)
        async with way(folder, primary) as one, by(one) as here, trio.open_nursery() as nursery:
            async with here.lock("lock"):
                pass
            if not unreplicated:
                await nursery.start(watch.hold, here)
            await trio.sleep(0.1)
            await promote(primary, replica)
            if unreplicated:
                await nursery.start(watch.hold, here)
            primary.kill()
            one.server = replica
            async with by(one) as there:
                with trio.move_on_after(2.5 * TTL):
                    await watch.take(there)
            nursery.cancel_scope.cancel()
    return watch.history


async def test_a_failover_that_loses_nothing_costs_nothing(tmp_path: Path, victim: Server) -> None:
    held = await failover(tmp_path, victim, unreplicated=False)
    assert len(held) == 1  # another one was not granted anything


async def test_a_grant_that_did_not_reach_the_replica_is_still_held(
    tmp_path: Path, victim: Server
) -> None:
    held = await failover(tmp_path, victim, unreplicated=True)
    assert len(held) == 1
    assert complaints(held, 1) == []


async def test_where_no_session_brings_back_what_did_not_reach_the_replica_the_holder_loses(
    tmp_path: Path, victim: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    planted(monkeypatch, *BRINGS_NOTHING_BACK)
    held = await failover(tmp_path, victim, unreplicated=True)
    assert len(held) == 2
    assert complaints(held, 1) == []


async def test_a_grant_that_did_not_reach_the_replica_and_is_not_missed_is_complained_about(
    tmp_path: Path, victim: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    planted(monkeypatch, *MISSES_NOTHING)
    held = await failover(tmp_path, victim, unreplicated=True)
    assert "2 of 1 permits" in str(complaints(held, 1))


async def split(primary: Server, needed: int) -> list[str]:
    """A holder goes on with the old primary, and every other task with the new one."""
    watch = Watch()
    with server("--repl-diskless-sync-delay", "0") as replica:
        await replica_of(primary, replica)
        primary.ask("CONFIG", "SET", "min-replicas-to-write", str(needed))
        async with opens(primary) as here, trio.open_nursery() as nursery:
            await nursery.start(watch.hold, here)
            await trio.sleep(0.1)
            await promote(primary, replica)
            async with opens(replica) as there:
                await watch.take(there)
            nursery.cancel_scope.cancel()
            primary.ask("CONFIG", "SET", "min-replicas-to-write", "0")
    return watch.complaints()


async def test_a_primary_that_needs_a_replica_stops_when_another_one_takes_its_place(
    victim: Server,
) -> None:
    assert await split(victim, needed=1) == []


async def test_two_primaries_that_both_grant_are_complained_about(victim: Server) -> None:
    assert "2 of 1 permits" in str(await split(victim, needed=0))


# ==== Processes ====


async def test_no_task_is_let_in_where_a_lease_never_ends(
    victim: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    planted(monkeypatch, "if verb ~= 'append' and now >= grace then", "if false then")
    async with child("hold", victim.url, "test", str(TTL)) as holder, opens(victim) as here:
        assert await holder.says() == ["asks"]
        assert (await holder.says())[0] == "holds"
        await holder.kill()
        with trio.move_on_after(2 * TTL) as scope:
            await here.lock("lock").__aenter__()
        assert scope.cancelled_caught


async def mixed(seconds: float) -> list[Held]:
    """Four processes are killed at random times, and so is the server."""
    history: list[Held] = []
    with server("--appendonly", "yes", "--appendfsync", "always") as victim:
        victim.is_no_news("test")
        async with trio.open_nursery() as nursery:
            for _ in range(4):
                nursery.start_soon(endure, victim.url, history, seconds)
            for _ in range(2):
                await trio.sleep(seconds / 3)
                victim.restart()
        async with open_session(victim.url, namespace="test", ttl=1.5) as session:
            with trio.fail_after(10):
                async with session.semaphore("db", 2).permits(2):
                    pass
            statistics = await session.semaphore("db", 2).statistics()
            assert statistics == SharedStatistics(0, 0, 2)
    assert len(history) > 20
    return history


async def test_processes_and_a_server_that_are_killed_share_permits_and_no_more() -> None:
    assert complaints(await mixed(9), 2) == []


async def test_a_namespace_that_is_deleted_while_it_is_in_use_is_complained_about(
    redis: Server, namespace: str
) -> None:
    """The page says not to do it: two hold until the first one asks again."""
    watch = Watch()
    async with opens(redis, namespace) as here, trio.open_nursery() as nursery:
        await nursery.start(watch.hold, here)
        for key in ("", ":sessions", ":entries:lock", ":read:lock"):
            redis.ask("DEL", base(namespace) + key)
        async with opens(redis, namespace) as there:
            await watch.take(there)
        nursery.cancel_scope.cancel()
    assert "2 of 1 permits" in str(watch.complaints())


# ==== Cancellations ====


async def test_random_cancellations_leave_nothing_behind(redis: Server, namespace: str) -> None:
    sessions, tasks, rounds = 3, 4, int(os.environ.get("STRUCTSYNC_CANCELLATIONS", "2000"))
    inside = cancelled = 0

    async def work(session: Session) -> None:
        nonlocal inside, cancelled
        for _ in range(rounds // (sessions * tasks)):
            with trio.move_on_after(random.uniform(0, 0.01)) as scope:
                async with session.semaphore("db", 2).permits(random.choice([1, 1, 2])) as grant:
                    inside += 1
                    assert grant.token > 0
                    await trio.sleep(random.uniform(0, 0.005))
            cancelled += scope.cancelled_caught

    async with opens(redis, namespace) as a, opens(redis, namespace) as b:
        async with opens(redis, namespace) as c:
            async with trio.open_nursery() as nursery:
                for session in (a, b, c):
                    for _ in range(tasks):
                        nursery.start_soon(work, session)
            for session in (a, b, c):
                found = await session.semaphore("db", 2).statistics()
                assert found == SharedStatistics(0, 0, 2)
                async with session.semaphore("db", 2).permits(2):
                    pass
                connection: Any = session._engine
                assert not connection.connection.replies
    assert inside > rounds / 100
    assert cancelled > rounds / 10
