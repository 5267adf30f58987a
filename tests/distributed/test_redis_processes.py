"""Processes that are killed and stopped, and their server too: never more holders than permits, and nothing is lost.

Each has a control: what the fault does where the rule that guards against it is taken away.
"""

from __future__ import annotations

import itertools
import random
import signal
import time
from collections.abc import Callable
from functools import partial

import pytest
import trio

from tests.distributed import servers
from tests.distributed.children import child
from tests.distributed.enduring import Blocks, endure, nothing_is_left
from tests.distributed.history import Held, complaints
from tests.distributed.servers import ENDS, Server, base, server
from tests.distributed.servers import opens_briefly as opens
from tests.distributed.waiting import until_waiting
from tests.distributed.watch import (
    NEVER_BURIES,
    Watch,
    planted,
)

pytest.importorskip("hiredis")

pytestmark = [pytest.mark.waits, pytest.mark.timeout(120), pytest.mark.slow]


@pytest.mark.parametrize("who", ["holder", "waiter"])
async def test_no_task_is_let_in_where_a_lease_never_ends(
    victim: Server, monkeypatch: pytest.MonkeyPatch, who: str
) -> None:
    planted(monkeypatch, *NEVER_BURIES)
    hold = ("hold", victim.url, "test", str(ENDS))
    async with child(*hold) as holder, opens(victim) as here:
        assert [(await holder.says())[0] for _ in range(2)] == ["asks", "holds"]
        if who == "waiter":
            async with child(*hold) as waiter:
                assert await waiter.says() == ["asks"]
                await until_waiting(here.lock("lock"), 1)
                await waiter.kill()
            await holder.release()
            assert await holder.says() == ["gave", "back"]
        else:
            await holder.kill()
        with trio.move_on_after(2 * ENDS) as scope:
            await here.lock("lock").__aenter__()
        assert scope.cancelled_caught


async def steps_after(victim: Server, **env: str) -> int:
    """Return how many steps a stopped holder takes that is let go on when another one holds."""
    steps = 0
    async with (
        child("tick", victim.url, "test", str(ENDS), env=env) as holder,
        opens(victim) as here,
    ):
        word, token = await holder.says()
        assert word == "holds"
        holder.process.send_signal(signal.SIGSTOP)
        async with here.lock("lock") as grant:
            assert grant.token > int(token)
            since = time.monotonic_ns()
            holder.process.send_signal(signal.SIGCONT)
            with trio.move_on_after(0.5 * ENDS):
                while words := await holder.says():
                    steps += int(words[1]) > since
    return steps


async def test_a_holder_that_was_stopped_stops_at_its_first_checkpoint(victim: Server) -> None:
    assert await steps_after(victim) <= 1  # that which it had slept for


async def test_a_holder_that_was_stopped_and_counts_no_lease_goes_on(victim: Server) -> None:
    assert await steps_after(victim, COUNTS_NO_LEASE="1") > 10


#: How many blocks are seen in each life of a server, however long that takes on a busy machine.
BLOCKS = 10


async def mixed(
    *options: str, permits: int = 2, until: Callable[[list[Held]], object] = bool
) -> list[Held]:
    """Four processes are killed at random times, and so is the server, twice; and on until enough is seen."""
    blocks = Blocks()
    with server(*options) as victim:
        victim.is_no_news("test")
        async with trio.open_nursery() as nursery:
            for _ in range(4):
                nursery.start_soon(partial(endure, victim.url, blocks, PERMITS=str(permits)))
            for life in range(3):
                if life:
                    victim.restart()
                await trio.sleep(random.uniform(1, 3))
                while len(blocks.ended) < (life + 1) * BLOCKS:  # noqa: ASYNC110 - it is counted by those who write
                    await trio.sleep(0.01)
            while not until(blocks.ended):  # noqa: ASYNC110 - the same
                await trio.sleep(0.1)
            nursery.cancel_scope.cancel()
        await nothing_is_left(victim.url, permits)
    return blocks.ended


@pytest.mark.parametrize(
    "options", [("--appendonly", "yes", "--appendfsync", "always"), ()], ids=["kept", "forgotten"]
)
async def test_processes_and_a_server_that_are_killed_share_permits_and_no_more(
    options: tuple[str, ...],
) -> None:
    history = await mixed(*options)
    assert len(history) >= 3 * BLOCKS
    assert complaints(history, 2) == []


async def test_processes_that_share_a_permit_too_many_are_complained_about() -> None:
    """Which rules keep them from it, the other controls show: leases, the grace period, burial."""
    found = await mixed(permits=3, until=lambda history: complaints(history, 2))
    assert "3 of 2 permits" in str(complaints(found, 2))


async def test_a_namespace_that_is_deleted_while_it_is_in_use_is_complained_about(
    redis: Server, namespace: str
) -> None:
    """The page says not to do it: two hold until the first one asks again."""
    found, names = list[str](), (f"{namespace} {number}" for number in itertools.count())
    by = partial(servers.opens, ttl=2 * ENDS)
    while not found:  # within the limit of time; the first one may ask again before the other holds
        watch, name = Watch(), next(names)
        async with by(redis, name) as here, trio.open_nursery() as nursery:
            await nursery.start(watch.hold, here)
            for key in ("", ":sessions", ":entries:lock", ":read:lock"):
                redis.ask("DEL", base(name) + key)
            async with by(redis, name) as there:
                await watch.take(there)
            nursery.cancel_scope.cancel()
        found = watch.complaints()
    assert "2 of 1 permits" in str(found)
