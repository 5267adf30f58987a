"""Buffer.get_batch: the items of a window of time, or as many as are wanted."""

from __future__ import annotations

import math
from typing import Any

import pytest
import trio
import trio.testing

from structsync import Buffer

settle = trio.testing.wait_all_tasks_blocked


class Getter:
    """A task that gets one batch."""

    def __init__(self, buffer: Buffer[int], most: int, max_wait: float) -> None:
        self.buffer, self.most, self.max_wait = buffer, most, max_wait
        self.scope = trio.CancelScope()
        self.got: list[int] | None = None
        self.at = math.nan

    async def __call__(self) -> None:
        with self.scope:
            self.got = await self.buffer.get_batch(self.most, max_wait=self.max_wait)
        self.at = trio.current_time()


async def test_as_many_as_are_wanted_are_got_at_once() -> None:
    buffer = Buffer[int](5)
    buffer.put_many_nowait(range(5))
    assert await buffer.get_batch(3, max_wait=9) == [0, 1, 2]
    assert await buffer.get_batch(9, max_wait=0) == [3, 4]


async def test_the_window_begins_with_its_first_item(
    autojump_clock: trio.testing.MockClock,
) -> None:
    buffer = Buffer[int](5)
    begin = trio.current_time()
    getter = Getter(buffer, 4, 2)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(getter)
        await trio.sleep(10)
        buffer.put_nowait(1)
        await trio.sleep(1)
        buffer.put_nowait(2)
        assert buffer.statistics().items == 2  # they stay in the buffer
    assert getter.got == [1, 2]
    assert getter.at - begin == pytest.approx(12)
    assert buffer.statistics().items == 0


async def test_the_window_of_who_comes_later_begins_at_once(
    autojump_clock: trio.testing.MockClock,
) -> None:
    buffer = Buffer[int](5)
    buffer.put_nowait(1)
    begin = trio.current_time()
    assert await buffer.get_batch(2, max_wait=3) == [1]
    assert trio.current_time() - begin == pytest.approx(3)


async def test_a_batch_is_complete_when_the_buffer_is_full(
    autojump_clock: trio.testing.MockClock,
) -> None:
    buffer = Buffer[int](2)
    getter = Getter(buffer, 9, 1000)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(getter)
        await settle()
        buffer.put_many_nowait([1, 2])
        buffer.put_nowait(3)  # it has left the buffer in that step
    assert getter.got == [1, 2]
    assert buffer.get_nowait() == 3


async def test_who_gets_later_waits_behind_a_batch(autojump_clock: trio.testing.MockClock) -> None:
    buffer = Buffer[int](5)
    first, second = Getter(buffer, 2, 5), Getter(buffer, 2, 5)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(first)
        await settle()
        nursery.start_soon(second)
        await settle()
        buffer.put_nowait(1)
        with pytest.raises(trio.WouldBlock):
            buffer.get_nowait()
        await trio.sleep(3)
        buffer.put_many_nowait([2, 3])
        await trio.sleep(4)
        assert (first.got, second.got) == ([1, 2], None)  # its window began when it was next
        await trio.sleep(2)
        assert second.got == [3]


async def test_completing_ends_the_window(autojump_clock: trio.testing.MockClock) -> None:
    buffer = Buffer[int](5)
    getter = Getter(buffer, 2, 1000)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(getter)
        await settle()
        buffer.put_nowait(1)
        buffer.complete()
    assert getter.got == [1]
    with pytest.raises(trio.EndOfChannel):
        await buffer.get_batch(2, max_wait=1)


async def test_a_cancelled_batch_leaves_its_items_to_the_next(
    autojump_clock: trio.testing.MockClock,
) -> None:
    buffer = Buffer[int](5)
    first, second = Getter(buffer, 3, 5), Getter(buffer, 1, 5)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(first)
        await settle()
        nursery.start_soon(second)
        await settle()
        buffer.put_many_nowait([1, 2])
        await settle()
        first.scope.cancel()
    assert (first.got, second.got) == (None, [1])
    assert contents(buffer) == [2]


def contents(buffer: Buffer[Any]) -> list[Any]:
    return buffer.get_many_nowait(100)


async def test_a_batch_that_is_cancelled_when_its_window_ends_is_got(
    autojump_clock: trio.testing.MockClock,
) -> None:
    buffer = Buffer[int](5)
    buffer.put_nowait(1)
    getter = Getter(buffer, 2, 5)
    getter.scope.deadline = trio.current_time() + 5
    async with trio.open_nursery() as nursery:
        nursery.start_soon(getter)
    assert (getter.got or contents(buffer)) == [1]


async def test_a_window_may_end_in_the_middle_of_a_step(
    autojump_clock: trio.testing.MockClock,
) -> None:
    """A comparison that cancels the window of a batch: it ends right after the step."""
    getters: list[Any] = []

    class Rank:
        def __lt__(self, other: object) -> bool:
            for request in buffer._core.queue:
                request.claim.scope.cancel()
            return False

    buffer = Buffer[Rank](5, policy="priority")

    async def get() -> None:
        getters.append(await buffer.get_batch(3, max_wait=9))

    one, other = Rank(), Rank()
    buffer.put_nowait(one)
    begin = trio.current_time()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(get)
        await settle()
        buffer.put_nowait(other)
    assert getters == [[one, other]]
    assert trio.current_time() == begin


@pytest.mark.parametrize("max_wait", [-1, math.nan, math.inf, 10**400, True, None, "1"])
async def test_a_window_has_a_length(max_wait: Any) -> None:
    with pytest.raises((TypeError, ValueError), match="max_wait must be"):
        await Buffer[int](1).get_batch(1, max_wait=max_wait)


async def test_a_batch_is_of_one_item_at_least() -> None:
    with pytest.raises(ValueError, match="max_items must be"):
        await Buffer[int](1).get_batch(0, max_wait=1)
