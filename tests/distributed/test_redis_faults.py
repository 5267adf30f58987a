"""Faults on real servers and with real processes: never more holders than permits, and nothing is lost.

Each has a control: what the fault does where the rule that guards against it is taken away.
"""

from __future__ import annotations

import random
import signal
import time
from pathlib import Path
from typing import Any

import pytest
import trio

from structsync._core.shared.core import SharedCore
from structsync._core.shared.operations import Operation, Verb
from structsync.distributed import Session, membership, open_session
from tests.distributed.history import Held, complaints
from tests.distributed.servers import ENDS, LASTS, Server, server
from tests.distributed.servers import opens_briefly as opens
from tests.distributed.waiting import until_waiting
from tests.distributed.watch import (
    BRINGS_NOTHING_BACK,
    HAS_NO_GRACE,
    LOOKS_AT_NO_CLOCK,
    MISSES_NOTHING,
    Watch,
    planted,
)
from tests.distributed.way import Way, way

pytest.importorskip("hiredis")

pytestmark = [pytest.mark.waits, pytest.mark.timeout(120), pytest.mark.slow]


def by(one: Way, ttl: float = ENDS) -> Any:
    return open_session(one.url, namespace="test", ttl=ttl)


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


async def cuts(folder: Path, victim: Server) -> list[Held]:
    """Connections are cut again and again, each time when an answer may be on its way."""
    history: list[Held] = []
    async with way(folder, victim) as one, by(one, LASTS) as here, by(one, LASTS) as there:
        async with trio.open_nursery() as nursery:

            async def work(session: Session) -> None:
                for _ in range(60):
                    async with session.lock("lock") as grant:
                        start = time.monotonic_ns()
                        await trio.sleep(random.uniform(0, 0.03))
                        history.append(Held(grant.token, start, time.monotonic_ns()))

            async def cut() -> None:
                while True:
                    await trio.sleep(random.uniform(0, 0.2))
                    await one.lose_an_answer()

            async with trio.open_nursery() as workers:
                nursery.start_soon(cut)
                workers.start_soon(work, here)
                workers.start_soon(work, there)
            nursery.cancel_scope.cancel()
    return history


async def test_connections_that_are_cut_again_and_again_cost_nothing(
    tmp_path: Path, victim: Server
) -> None:
    history = await cuts(tmp_path, victim)
    assert len(history) == 120
    assert complaints(history, 1) == []


async def test_where_operations_count_twice_a_cut_costs_the_session(
    tmp_path: Path, victim: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    apply = SharedCore.apply

    def twice(self: SharedCore, entry: Operation, stamp: int = 0) -> Any:
        if entry.verb is not Verb.END and entry.session in self.sessions:
            self.sessions[entry.session] = -1
        return apply(self, entry, stamp)

    monkeypatch.setattr(SharedCore, "apply", twice)
    with trio.move_on_after(4 * ENDS) as too_long:
        try:
            await cuts(tmp_path, victim)
        except Exception:  # noqa: BLE001 - whatever comes of it
            return
    assert too_long.cancelled_caught


async def sleep_over_a_grant(folder: Path, victim: Server) -> bool:
    """Return whether one gets in that cannot be reached when it is its turn."""
    async with way(folder, victim) as one, opens(victim) as here, by(one) as there:
        entered = trio.Event()

        async def wait() -> None:
            async with there.lock("lock"):
                entered.set()

        async with trio.open_nursery() as nursery:
            async with here.lock("lock"):
                nursery.start_soon(wait)
                await until_waiting(there.lock("lock"), 1)
                one.is_silent = True
            await here.lock("lock").statistics()
            one.is_silent = False
            one.cut()
            with trio.move_on_after(0.8 * ENDS):
                await entered.wait()
            in_time = entered.is_set()
            nursery.cancel_scope.cancel()
    return in_time


async def test_a_grant_that_is_told_while_nothing_is_heard_is_found_out(
    tmp_path: Path, victim: Server
) -> None:
    assert await sleep_over_a_grant(tmp_path, victim)


async def test_a_session_that_does_not_look_sleeps_over_its_grant(
    tmp_path: Path, victim: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(membership.Membership, "_hinted", lambda *_: None)
    assert not await sleep_over_a_grant(tmp_path, victim)


# ==== Servers that stop ====


async def pause(victim: Server) -> list[str]:
    """A server is stopped for longer than a lease, while one holds and one waits."""
    assert victim.process is not None
    watch = Watch()
    async with opens(victim) as here, trio.open_nursery() as nursery:
        await nursery.start(watch.hold, here)
        victim.process.send_signal(signal.SIGSTOP)
        try:
            await trio.sleep(1.2 * ENDS)
        finally:
            victim.process.send_signal(signal.SIGCONT)
        async with opens(victim) as later:
            await watch.take(later)
        nursery.cancel_scope.cancel()
    return watch.complaints()


async def test_a_server_that_stops_for_a_while_grants_nothing_twice(victim: Server) -> None:
    assert await pause(victim) == []


async def test_a_holder_that_does_not_notice_that_its_server_has_stopped_is_complained_about(
    victim: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def never(self: membership.Membership) -> None:
        await trio.sleep_forever()

    planted(monkeypatch, *LOOKS_AT_NO_CLOCK)
    monkeypatch.setattr(membership, "MARGIN", -1000)
    monkeypatch.setattr(membership.Membership, "_renew", never)
    assert "2 of 1 permits" in str(await pause(victim))


async def absence(victim: Server) -> list[str]:
    """A server that keeps its data is away for longer than a lease."""
    watch = Watch()
    async with opens(victim) as here, trio.open_nursery() as nursery:
        await nursery.start(watch.hold, here)
        victim.kill()
        await trio.sleep(1.2 * ENDS)
        victim.start()
        async with opens(victim) as there:
            await watch.take(there)
        nursery.cancel_scope.cancel()
    return watch.complaints()


async def test_a_server_that_is_away_for_longer_than_a_lease_grants_nothing_twice() -> None:
    with server("--appendonly", "yes", "--appendfsync", "always") as victim:
        victim.is_no_news("test")
        assert await absence(victim) == []


async def test_a_holder_that_does_not_notice_that_its_server_is_away_is_complained_about(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    planted(monkeypatch, *HAS_NO_GRACE)
    planted(monkeypatch, "or (ends > 0 and now < grace)", "")
    planted(monkeypatch, "~= 'append' and now >= grace", "~= 'append'")
    planted(monkeypatch, *LOOKS_AT_NO_CLOCK)
    monkeypatch.setattr(membership, "MARGIN", -1000)
    with server("--appendonly", "yes", "--appendfsync", "always") as victim:
        victim.is_no_news("test")
        assert "2 of 1 permits" in str(await absence(victim))


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
                with trio.move_on_after(2.5 * ENDS):
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
    """A holder goes on with the old primary, and everybody else with the new one."""
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
