"""Calls between real processes, killed while they host and while they call."""

from __future__ import annotations

import sys

import pytest
import trio

from structsync.distributed import CallOutcomeUnknown, Session
from tests.distributed.children import child
from tests.distributed.conftest import Place
from tests.distributed.shops import Counter, Counting

pytest.importorskip("msgspec")

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


async def test_a_call_is_carried_out_in_another_process(place: Place) -> None:
    async with child("host", *place.arguments) as host, place.opens() as session:
        assert await host.says() == ["hosts"]
        counter = session.connect("counter", Counting)
        assert [await counter.add("tea") for _ in range(3)] == [1, 2, 3]


async def test_the_outcome_of_a_call_whose_host_was_killed_is_unknown(place: Place) -> None:
    async with child("host", *place.arguments) as host, place.opens() as session:
        assert await host.says() == ["hosts"]

        async def kill() -> None:
            assert await host.says() == ["entered", "tea"]
            await host.kill()

        async with trio.open_nursery() as nursery:
            nursery.start_soon(kill)
            with pytest.raises(CallOutcomeUnknown, match="'wait' of 'counter'"):
                await session.connect("counter", Counting).wait("tea")
        async with session.host("counter", Counter()):
            assert await session.connect("counter", Counting).add("tea") == 1


async def test_a_call_to_a_host_that_is_dead_waits_for_the_next_one(place: Place) -> None:
    async with place.opens() as session, place.opens() as other:
        counter = session.connect("counter", Counting)
        async with child("host", *place.arguments) as host:
            assert await host.says() == ["hosts"]
            assert await counter.add("tea") == 1
            await host.kill()
        async with trio.open_nursery() as nursery:

            async def call() -> None:
                assert await counter.add("tea") == 1
                nursery.cancel_scope.cancel()

            async def host_again(session: Session) -> None:
                async with session.host("counter", Counter()):
                    await trio.sleep_forever()

            nursery.start_soon(call)
            nursery.start_soon(host_again, other)


async def test_a_call_whose_caller_was_killed_is_cancelled(place: Place) -> None:
    said: list[tuple[str, ...]] = []
    changed = trio.Event()

    def say(*words: str) -> None:
        nonlocal changed
        said.append(words)
        changed.set()

    async with place.opens() as session, session.host("counter", Counter(say)):
        async with child("call", *place.arguments) as caller:
            await changed.wait()
            assert said == [("entered", "tea")]
            changed = trio.Event()
            await caller.kill()
            await changed.wait()
        assert said[1:] == [("cancelled", "tea")]
        assert await session.connect("counter", Counting).add("tea") == 1
