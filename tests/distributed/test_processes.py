"""Real processes on one engine: killed while they hold, while they wait, and before they tell any task."""

from __future__ import annotations

import sys

import pytest
import trio

from structsync.distributed import Session
from tests.distributed.children import Child, child
from tests.distributed.conftest import Place
from tests.distributed.history import Held, complaints
from tests.distributed.waiting import until_waiting

pytestmark = [
    pytest.mark.waits,
    pytest.mark.skipif(sys.platform != "linux", reason="sqlite:// needs Linux"),
    pytest.mark.timeout(90),
    pytest.mark.parametrize("place", ["sqlite", "redis"], indirect=True),
]


@pytest.fixture
def place(place: Place) -> Place:
    """Where others get what a process that is killed has held, after its lease."""
    return place.where_leases_end


async def holds(one: Child) -> int:
    assert await one.says() == ["asks"]
    word, token = await one.says()
    assert word == "holds"
    return int(token)


async def waits(one: Child, session: Session) -> None:
    assert await one.says() == ["asks"]
    await until_waiting(session.lock("lock"), 1)


async def test_a_holder_that_is_killed_lets_the_next_one_in(place: Place) -> None:
    async with child("hold", *place.arguments) as holder, place.opens() as session:
        token = await holds(holder)
        async with trio.open_nursery() as nursery:

            async def kill() -> None:
                await until_waiting(session.lock("lock"), 1)
                await holder.kill()

            nursery.start_soon(kill)
            async with session.lock("lock") as grant:
                assert grant.token > token


async def test_a_holder_that_runs_another_program_in_its_place_lets_the_next_one_in(
    place: Place,
) -> None:
    async with child("replace", *place.arguments) as holder, place.opens() as session:
        _, token = await holder.says()
        async with trio.open_nursery() as nursery:

            async def replace() -> None:
                await until_waiting(session.lock("lock"), 1)
                await holder.release()

            nursery.start_soon(replace)
            with trio.fail_after(30):
                async with session.lock("lock") as grant:
                    assert grant.token > int(token)


async def test_a_process_that_is_killed_inside_a_monitor_leaves_it(place: Place) -> None:
    async with child("enter", *place.arguments) as process, place.opens() as session:
        word, token = await process.says()
        assert word == "inside"
        monitor = session.monitor("monitor")
        call = monitor.do_when_free(lambda: monitor.grant().token)
        await until_waiting(monitor.lock, 1)
        await process.kill()
        assert await call.wait() > int(token)


async def test_a_waiter_that_is_killed_is_passed_over(place: Place) -> None:
    async with child("hold", *place.arguments) as holder, place.opens() as session:
        await holds(holder)
        async with child("hold", *place.arguments) as waiter:
            await waits(waiter, session)
            async with trio.open_nursery() as nursery:

                async def kill() -> None:
                    await until_waiting(session.lock("lock"), 2)
                    await waiter.kill()
                    await holder.release()

                nursery.start_soon(kill)
                async with session.lock("lock"):
                    assert await holder.says() == ["gave", "back"]


async def test_a_holder_and_a_waiter_that_are_killed_together_are_in_no_ones_way(
    place: Place,
) -> None:
    async with child("hold", *place.arguments) as holder, place.opens() as session:
        await holds(holder)
        async with child("hold", *place.arguments) as waiter:
            await waits(waiter, session)
            async with trio.open_nursery() as nursery:

                async def kill() -> None:
                    await until_waiting(session.lock("lock"), 2)
                    holder.process.kill()
                    waiter.process.kill()

                nursery.start_soon(kill)
                async with session.lock("lock"):
                    pass


async def test_who_dies_between_its_release_and_the_hint_has_released(place: Place) -> None:
    async with child("hold", *place.arguments, env={"DIE_BEFORE_HINT": "1"}) as holder:
        async with place.opens() as session:
            await holds(holder)
            async with trio.open_nursery() as nursery:

                async def release() -> None:
                    await until_waiting(session.lock("lock"), 1)
                    await holder.release()

                nursery.start_soon(release)
                with trio.fail_after(20):
                    async with session.lock("lock"):
                        assert await holder.says() == []


async def test_processes_share_permits_and_no_more(place: Place) -> None:
    history: list[Held] = []

    async def run() -> None:
        async with child("storm", *place.arguments, "25") as one:
            while words := await one.says():
                token, start, end = map(int, words[1:])
                history.append(Held(token, start, end))

    async with trio.open_nursery() as nursery:
        for _ in range(4):
            nursery.start_soon(run)
    assert len(history) == 100
    assert complaints(history, 2) == []
