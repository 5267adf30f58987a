"""A server that is started again, with less than it knew, and a clock that is set: nothing is granted twice.

Each has a control: the same with a fault in the script, which the judge of histories complains about.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
import trio

from structsync.distributed import LeaseLost
from tests.distributed.servers import ENDS, Server, base, server
from tests.distributed.servers import opens_briefly as opens
from tests.distributed.waiting import until_waiting
from tests.distributed.watch import Watch, planted

pytestmark = [pytest.mark.waits, pytest.mark.timeout(90)]


async def empty_restart(victim: Server) -> list[str]:
    """A holder is cut off while the server is started without what it knew."""
    watch = Watch()
    async with opens(victim) as here, trio.open_nursery() as nursery:
        await nursery.start(watch.hold, here)
        engine: Any = here._engine
        engine.address = dataclasses.replace(engine.address, path="/nowhere")
        victim.restart()
        async with opens(victim) as there:
            await watch.take(there)
    return watch.complaints()


async def test_a_server_that_has_forgotten_everything_grants_nothing_for_a_while(
    victim: Server,
) -> None:
    assert await empty_restart(victim) == []


@pytest.mark.slow
async def test_a_server_that_grants_at_once_is_complained_about(
    victim: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    planted(monkeypatch, "if now < grace then", "if false then")
    assert "2 of 1 permits" in str(await empty_restart(victim))


async def test_a_server_that_has_forgotten_nothing_costs_nothing() -> None:
    order: list[str] = []
    with server("--appendonly", "yes", "--appendfsync", "always") as victim:
        victim.is_no_news("test")
        async with opens(victim) as here, opens(victim) as there, trio.open_nursery() as nursery:

            async def wait() -> None:
                async with there.lock("lock") as later:
                    assert later.token > grant.token
                    order.append("in")

            async with here.lock("lock") as grant:
                nursery.start_soon(wait)
                await until_waiting(here.lock("lock"), 1)
                victim.restart()
                await trio.sleep(2 * ENDS)
                order.append("out")
    assert order == ["out", "in"]


async def test_a_session_that_closes_after_a_restart_is_over_when_the_grace_period_is() -> None:
    watch = Watch()
    with server("--appendonly", "yes", "--appendfsync", "always") as victim:
        victim.is_no_news("test")
        async with opens(victim) as there, trio.open_nursery() as nursery:
            async with opens(victim) as here:
                await nursery.start(watch.hold, here)
                victim.restart()
                await trio.sleep(0.1 * ENDS)
            start = trio.current_time()
            await watch.take(there)
            assert trio.current_time() - start > 0.5 * ENDS
    assert watch.complaints() == []


async def test_after_a_failover_a_namespace_that_is_new_waits_too(
    redis: Server, victim: Server, namespace: str
) -> None:
    with server("--repl-diskless-sync-delay", "0") as primary:
        await follow(victim, primary)
        victim.ask("REPLICAOF", "NO", "ONE")
        start = trio.current_time()
        async with opens(victim, namespace) as here:
            async with here.lock("lock"):
                assert trio.current_time() - start > 0.9 * ENDS


async def follow(replica: Server, primary: Server) -> None:
    """Make one the replica of the other, and return when it is."""
    port = primary.open_port()
    replica.ask("REPLICAOF", "127.0.0.1", str(port))
    while b"online" not in primary.ask_all("INFO", "replication"):  # noqa: ASYNC110 - it does not say
        await trio.sleep(0.05)


# ==== Clocks ====


async def jump(redis: Server, namespace: str, seconds: float) -> None:
    """Do to a holder what a clock that is set does."""
    async with opens(redis, namespace) as here:
        async with here.lock("lock"):
            now = int(redis.ask_all("TIME").split(b"\r\n")[2])
            redis.ask("HSET", base(namespace), "now", f"{(now - seconds) * 1e6:.0f}")
            ends = now + ENDS - seconds
            redis.ask("ZADD", f"{base(namespace)}:sessions", f"{ends * 1e6:.0f}", here.identity)
            await trio.sleep(0.5 * ENDS)


@pytest.mark.parametrize("seconds", [3600, -3600])
async def test_a_clock_that_is_set_ends_no_lease(
    redis: Server, namespace: str, seconds: float
) -> None:
    await jump(redis, namespace, seconds)


@pytest.mark.slow
async def test_a_clock_that_is_believed_ends_a_lease(
    redis: Server, namespace: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    planted(monkeypatch, "if now < before or now - before > ttl / 2 then", "if false then")
    with pytest.raises(LeaseLost):
        await jump(redis, namespace, 3600)
