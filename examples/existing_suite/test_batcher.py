from collections.abc import AsyncGenerator
from typing import TypeAlias

import pytest
import trio
from batcher import Batcher
from trio.testing import MockClock

Batches: TypeAlias = trio.MemoryReceiveChannel[list[str]]


@pytest.fixture
async def batcher() -> AsyncGenerator[tuple[Batcher, Batches]]:
    send, receive = trio.open_memory_channel[list[str]](10)
    async with send, receive:
        yield Batcher(2, send), receive


async def test_a_full_batch_is_handed_on(batcher: tuple[Batcher, Batches]) -> None:
    made, batches = batcher
    await made.add("a")
    await made.add("b")
    assert await batches.receive() == ["a", "b"]


async def test_nothing_is_lost(
    batcher: tuple[Batcher, Batches], nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    made, batches = batcher

    async def late() -> None:
        await trio.sleep(1)
        await trio.lowlevel.checkpoint()  # looks the keys up
        await made.add("late")

    nursery.start_soon(late)
    await made.add("early")
    await trio.sleep(1)
    await made.add("in time")
    await trio.sleep(1)
    await made.flush()
    assert await batches.receive() + await batches.receive() == ["early", "in time", "late"]


async def test_in_a_thread() -> None:
    assert await trio.to_thread.run_sync(len, "abc") == 3
