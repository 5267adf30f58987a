"""A subscription, or the end of a channel, whose block the collector leaves is closed, whatever runs meanwhile."""

from __future__ import annotations

from typing import Any

import pytest
import trio
import trio.testing

import structsync

from .collecting import Abandoned, struck
from .striking import Striker, every_call

pytestmark = pytest.mark.filterwarnings("error::pytest.PytestUnraisableExceptionWarning")


async def broadcast(striker: Striker, abandoned: Abandoned) -> list[int]:
    """One of two subscribers is collected; until then a put waits for it."""
    source, got = structsync.Broadcast[int](1), list[int]()
    abandoned.add(source.subscribe())

    async def consume(subscription: structsync.Subscription[int]) -> None:
        got.extend([item async for item in subscription])

    async def put_all() -> None:
        for item in range(3):
            await source.put(item)
        source.complete()

    with trio.fail_after(1), every_call(striker):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(consume, source.subscribe())
            nursery.start_soon(put_all)
            await trio.testing.wait_all_tasks_blocked()
            abandoned.collect()
    return got


def ends() -> tuple[structsync.SendingEnd[int], structsync.ReceivingEnd[int]]:
    return structsync.open_channel(1)


async def send(striker: Striker, abandoned: Abandoned) -> list[int]:
    """One of two ends is collected; until then what is received has no end."""
    sending, receiving = ends()
    got = list[int]()
    abandoned.add(sending.clone())

    async def send_all() -> None:
        with sending:
            for item in range(3):
                await sending.send(item)

    async def receive_all() -> None:
        got.extend([item async for item in receiving])

    with trio.fail_after(1), every_call(striker):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(send_all)
            nursery.start_soon(receive_all)
            await trio.testing.wait_all_tasks_blocked()
            abandoned.collect()
    return got


@pytest.mark.slow
@pytest.mark.parametrize("program", [broadcast, send])
def test_a_block_of_a_consumer_or_sender_that_is_collected_ends(program: Any) -> None:
    k, goes_on = 1, True
    while goes_on:
        goes_on, got = struck(program, k)
        assert got == [0, 1, 2], f"struck at function {k}"
        k += 1
    assert k > 100
