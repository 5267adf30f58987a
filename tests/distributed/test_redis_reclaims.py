"""A server that has lost what it knew is told by the sessions, and nothing is lost or granted twice.

Each has a control: the same with a fault in the script, which is seen to do harm.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeAlias

import pytest
import trio

from structsync.distributed import LeaseLost, Session, client
from tests.distributed.children import child
from tests.distributed.history import Held, complaints
from tests.distributed.servers import ENDS, Server, base, server
from tests.distributed.servers import opens_briefly as opens
from tests.distributed.waiting import until_waiting
from tests.distributed.watch import BRINGS_NOTHING_BACK, MISSES_NOTHING, Watch, planted

pytest.importorskip("hiredis")

pytestmark = [pytest.mark.waits, pytest.mark.timeout(90)]


def everything(victim: Server) -> None:
    """Start a server again with nothing."""
    victim.kill()
    (victim.folder / "dump.rdb").unlink(missing_ok=True)
    victim.start()


def what_came_since(victim: Server) -> None:
    """Start a server again with what it has saved."""
    victim.restart()


Loses: TypeAlias = Callable[[Server], None]
each_loss = pytest.mark.parametrize("lose", [everything, what_came_since])


class Queue:
    """One lock, and those who hold it one after the other."""

    def __init__(self) -> None:
        self.history: list[Held] = []
        self.order: list[str] = []
        self.lost: list[str] = []
        self.let_go = trio.Event()

    async def hold(
        self, session: Session, name: str, task_status: Any = trio.TASK_STATUS_IGNORED
    ) -> None:
        """Hold the lock until all may go on, or until the lease is lost."""
        try:
            async with session.lock("lock") as grant:
                start = trio.current_time()
                self.order.append(name)
                task_status.started()
                try:
                    await self.let_go.wait()
                finally:
                    end = trio.current_time()
                    self.history.append(Held(grant.token, int(start * 1e9), int(end * 1e9)))
        except LeaseLost:
            self.lost.append(name)


async def stand_in_line(lose: Loses, victim: Server) -> Queue:
    """Three sessions stand in a queue when the server loses what it knew; a fourth one comes later."""
    queue = Queue()
    async with opens(victim) as one, opens(victim) as two, opens(victim) as three:
        async with three.lock("lock"):
            pass
        victim.ask("SAVE")
        async with trio.open_nursery() as nursery:
            await nursery.start(queue.hold, one, "a")
            for count, (session, name) in enumerate([(two, "b"), (three, "c"), (two, "d")], 1):
                nursery.start_soon(queue.hold, session, name)
                await until_waiting(one.lock("lock"), count)
            lose(victim)
            await trio.sleep(1.5 * ENDS)
            async with opens(victim) as newcomer, trio.open_nursery() as later:
                later.start_soon(queue.hold, newcomer, "e")
                async with newcomer.lock("lock/other"):
                    pass  # so it is in the queue
                queue.let_go.set()
    return queue


@each_loss
async def test_a_queue_outlives_what_its_server_has_lost(lose: Loses, victim: Server) -> None:
    queue = await stand_in_line(lose, victim)
    assert (queue.order, queue.lost) == (["a", "b", "c", "d", "e"], [])
    assert complaints(queue.history, 1) == []


@pytest.mark.slow
@each_loss
async def test_where_no_session_brings_back_what_is_lost_all_of_them_lose(
    lose: Loses, victim: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    planted(monkeypatch, *BRINGS_NOTHING_BACK)
    queue = await stand_in_line(lose, victim)
    assert (queue.order, {*queue.lost}) == (["a", "e"], {"a", "b", "c", "d"})


async def holder_and_newcomer(lose: Loses, victim: Server) -> list[str]:
    """One holds what the server has lost, and another one asks for it at once."""
    watch = Watch()
    async with opens(victim) as here, trio.open_nursery() as nursery:
        async with here.lock("lock"):
            pass
        victim.ask("SAVE")
        await nursery.start(watch.hold, here)
        lose(victim)
        async with opens(victim) as there:
            with trio.move_on_after(2.5 * ENDS):
                await watch.take(there)
            nursery.cancel_scope.cancel()
    return complaints(watch.history, 1)


@pytest.mark.slow
@each_loss
async def test_a_newcomer_does_not_get_what_the_server_has_lost(
    lose: Loses, victim: Server
) -> None:
    assert await holder_and_newcomer(lose, victim) == []


@pytest.mark.slow
async def test_a_grant_that_no_session_misses_is_complained_about(
    victim: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    planted(monkeypatch, *MISSES_NOTHING)
    assert "2 of 1 permits" in str(await holder_and_newcomer(what_came_since, victim))


# ==== Who brings it back ====


async def one_is_behind(victim: Server) -> Queue:
    """Who has not read the last grant is the first to bring back what the server has lost."""
    queue = Queue()
    async with opens(victim) as behind, opens(victim) as ahead, trio.open_nursery() as nursery:
        async with behind.lock("lock"):
            pass
        await nursery.start(queue.hold, ahead, "ahead")
        engine: Any = ahead._engine
        address, engine.address = engine.address, dataclasses.replace(engine.address, path="/no")
        everything(victim)
        while victim.ask("EXISTS", f"{base('test')}:log:lock") != b":1":  # noqa: ASYNC110
            await trio.sleep(0.01)
        engine.address = address
        nursery.start_soon(queue.hold, behind, "behind")
        await trio.sleep(1.5 * ENDS)
        queue.let_go.set()
    return queue


async def test_who_has_read_most_brings_back_what_is_lost(victim: Server) -> None:
    queue = await one_is_behind(victim)
    assert (queue.order, queue.lost) == (["ahead", "behind"], [])
    assert complaints(queue.history, 1) == []


@pytest.mark.slow
async def test_where_the_first_one_is_believed_the_holder_loses(
    victim: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_time = "if goes_further and now < grace then"
    planted(monkeypatch, in_time, "if goes_further and ends == 0 and now < grace then")
    assert (await one_is_behind(victim)).lost == ["ahead"]


async def test_what_a_dead_session_held_is_free_when_the_grace_period_is_over(
    victim: Server,
) -> None:
    async with opens(victim) as here, child("hold", victim.url, "test", str(ENDS)) as holder:
        assert [(await holder.says())[0] for _ in range(2)] == ["asks", "holds"]
        async with trio.open_nursery() as nursery:

            async def die() -> None:
                await until_waiting(here.lock("lock"), 1)
                await holder.kill()
                everything(victim)

            nursery.start_soon(die)
            start = trio.current_time()
            async with here.lock("lock"):
                assert trio.current_time() - start > 0.9 * ENDS


async def too_late(victim: Server) -> bool:
    """Return whether a session still holds that comes back after the grace period."""
    async with opens(victim) as here:
        with suppress(LeaseLost):
            async with here.lock("lock"):
                everything(victim)
                victim.is_no_news("test")
                await trio.sleep(0.8 * ENDS)
                return True
    return False


async def test_who_comes_after_the_grace_period_has_lost_its_lease(victim: Server) -> None:
    assert not await too_late(victim)


async def ended_before(victim: Server) -> bool:
    """Return whether a session still holds that has ended, and comes back in the grace period."""
    async with opens(victim) as there, opens(victim) as here:
        with suppress(LeaseLost):
            async with here.lock("lock"):
                victim.ask("ZADD", f"{base('test')}:sessions", "1", here.identity)
                await there._engine.renew({}, lambda log: None)
                async with there.lock("lock"):
                    victim.restart()
                    await trio.sleep(0.8 * ENDS)
                    return True
    return False


async def test_who_has_ended_does_not_come_back_with_a_grace_period() -> None:
    with server("--appendonly", "yes", "--appendfsync", "always") as victim:
        victim.is_no_news("test")
        assert not await ended_before(victim)


# ==== What is brought back ====


async def test_counts_waits_and_readers_outlive_what_their_server_has_lost(victim: Server) -> None:
    order: list[str] = []
    async with opens(victim) as here, opens(victim) as there:
        async with trio.open_nursery() as nursery:

            async def wait_for_a_notification() -> None:
                lock = there.lock("x/lock")
                async with lock:
                    await there.condition("x/changed", lock).wait()
                order.append("notified")

            async def wait_for_the_latch() -> None:
                await there.latch("x/start", 2).wait()
                order.append("counted")

            await here.latch("x/start", 2).count_down()
            nursery.start_soon(wait_for_a_notification)
            nursery.start_soon(wait_for_the_latch)
            async with here.rwlock("x/page").reading() as first:
                await until_waiting(here.latch("x/start", 2), 1)
                await until_waiting(here.condition("x/changed", here.lock("x/lock")), 1)
                everything(victim)
                await here.latch("x/start", 2).count_down()
                async with there.rwlock("x/page").reading() as second:
                    assert second.token > first.token
            lock = here.lock("x/lock")
            async with lock:
                await here.condition("x/changed", lock).notify()
    assert order == ["counted", "notified"]


async def test_a_log_that_was_compacted_is_brought_back(
    victim: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "COMPACT_AFTER", 10)
    async with opens(victim) as here, opens(victim) as there:
        async with here.lock("lock/held") as grant:
            for _ in range(3):
                for session in (here, there):
                    for _ in range(6):
                        async with session.lock("lock"):
                            pass
            async with opens(victim) as newcomer:
                await newcomer.lock("lock").statistics()
                histories: list[Any] = [
                    one._clients["lock"].replica.history for one in (here, newcomer)
                ]
                assert all(one.base.position > 0 and one.base.stamp > 0 for one in histories)
                everything(victim)
                async with there.lock("lock") as later:
                    assert later.token > grant.token
                found = await newcomer.lock("lock/held").statistics()
                assert found.holders == 1
