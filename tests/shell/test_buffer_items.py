"""Buffer.item(): an item in hand is used up where its block ends well, and else is back where it was."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest
import trio
import trio.testing

import structsync
from structsync import Buffer, PermitLeakError, PrimitiveEvent, open_scope

settle = trio.testing.wait_all_tasks_blocked


class StopError(Exception):
    """What ends a block."""


async def fail_with_one(buffer: Buffer[Any]) -> Any:
    with suppress(StopError):
        async with buffer.item() as item:
            raise StopError
    return item


def filled(*items: Any, room: int = 3, **options: Any) -> Buffer[Any]:
    buffer = Buffer[Any](room, **options)
    buffer.put_many_nowait(items)
    return buffer


def rest(buffer: Buffer[Any]) -> list[Any]:
    return buffer.get_many_nowait(9) if buffer.statistics().items else []


async def test_a_block_that_ends_well_has_used_its_item_up() -> None:
    buffer = filled(1, 2)
    async with buffer.item() as item:
        assert item == 1
    assert rest(buffer) == [2]


@pytest.mark.parametrize(
    ("options", "out", "after"),
    [
        ({}, 1, [1, 2, 3]),
        ({"policy": "lifo"}, 2, [3, 2, 1]),
        ({"policy": "priority", "key": lambda item: -item}, 2, [3, 2, 1]),
    ],
)
async def test_a_block_that_fails_puts_its_item_where_it_was(
    options: Any, out: int, after: list[int]
) -> None:
    buffer = filled(1, 2, **options)
    with pytest.raises(StopError):
        async with buffer.item() as item:
            assert item == out
            buffer.put_nowait(3)
            raise StopError
    assert rest(buffer) == after


async def test_a_cancelled_block_puts_its_item_where_it_was() -> None:
    buffer = filled(1, 2)
    with trio.move_on_after(0):
        async with buffer.item():
            await trio.sleep_forever()
    assert rest(buffer) == [1, 2]


async def test_of_several_that_come_back_the_oldest_is_next() -> None:
    buffer = filled("a", "b", "c")
    blocks = [buffer.item() for _ in range(3)]
    for block in blocks:
        await block.__aenter__()
    for block in (blocks[1], blocks[2], blocks[0]):
        await block.__aexit__(StopError, StopError(), None)
    assert rest(buffer) == ["a", "b", "c"]


async def test_who_waits_for_an_item_gets_the_one_that_comes_back(nursery: trio.Nursery) -> None:
    buffer, got = filled(1), list[int]()

    async def get() -> None:
        got.append(await buffer.get())

    with suppress(StopError):
        async with buffer.item():
            nursery.start_soon(get)
            await settle()
            assert got == []
            raise StopError
    await settle()
    assert got == [1]


async def test_an_item_in_hand_keeps_its_room_until_it_is_used_up(nursery: trio.Nursery) -> None:
    buffer = filled(1, room=1)
    async with buffer.item():
        with pytest.raises(trio.WouldBlock):
            buffer.put_nowait(2)
        nursery.start_soon(buffer.put, 2)
        await settle()
        found = buffer.statistics()
        assert (found.items, found.lent, found.tasks_putting) == (0, 1, 1)
        assert "0/1 items, 1 in hand" in repr(buffer)
    await settle()
    assert (buffer.statistics().lent, rest(buffer)) == (0, [2])


async def test_a_batch_does_not_wait_for_more_than_can_come(autojump_clock: Any) -> None:
    buffer = filled(1, 2, room=2)
    async with buffer.item():
        assert await buffer.get_batch(2, max_wait=9) == [2]
    assert trio.current_time() == 0


async def test_the_end_is_told_when_nothing_can_come_back(nursery: trio.Nursery) -> None:
    buffer, told = filled(1), list[str]()

    async def get() -> None:
        with suppress(trio.EndOfChannel):
            await buffer.get()
        told.append("the end")

    buffer.complete()
    async with buffer.item():
        nursery.start_soon(get)
        await settle()
        with pytest.raises(trio.WouldBlock):
            buffer.get_nowait()
        assert told == []
    await settle()
    assert told == ["the end"]
    with pytest.raises(trio.EndOfChannel):
        async with buffer.item():
            pass


async def test_what_comes_back_to_a_complete_buffer_can_be_got() -> None:
    buffer = filled(1)
    buffer.complete()
    await fail_with_one(buffer)
    assert [item async for item in buffer] == [1]


async def test_workers_do_each_job_once_whichever_of_them_is_stopped(autojump_clock: Any) -> None:
    jobs, done = filled(*range(9), room=9), list[int]()

    async def work() -> None:
        with suppress(trio.EndOfChannel):
            while True:
                async with jobs.item() as job:
                    await trio.sleep(1)
                    done.append(job)

    async def be_stopped(after: float) -> None:
        with trio.move_on_after(after):
            await work()

    jobs.complete()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(be_stopped, 1.5)
        nursery.start_soon(be_stopped, 2.5)
        nursery.start_soon(work)
    assert sorted(done) == [*range(9)]


@pytest.mark.parametrize("fails", [False, True])
async def test_a_closed_buffer_drops_what_is_in_hand_at_the_end_of_its_block(fails: bool) -> None:
    buffer = filled(1)
    with suppress(StopError):
        async with buffer.item() as item:
            buffer.close()
            assert (item, buffer.statistics().lent) == (1, 1)
            if fails:
                raise StopError
    assert (buffer.statistics().items, buffer.statistics().lent) == (0, 0)


async def test_a_block_is_entered_once_and_again_after_its_end() -> None:
    buffer = filled(1, 2)
    block = buffer.item()
    async with block:
        assert repr(block).endswith("entered>")
        with pytest.raises(RuntimeError, match="entered already"):
            async with block:
                pass
    async with block as item:
        assert item == 2
    assert "entered" not in repr(block)


async def test_a_block_that_was_left_cannot_be_left_again() -> None:
    buffer = filled(1, 2)
    block = buffer.item()
    async with block:
        pass
    for error in (None, ValueError()):
        with pytest.raises(RuntimeError, match="is not entered; leave it once"):
            await block.__aexit__(None, error, None)
    assert buffer.statistics().items == 1


async def test_entering_that_is_cancelled_has_taken_nothing() -> None:
    buffer, block = Buffer[int](1), None
    with trio.move_on_after(0):
        async with (block := buffer.item()):
            pass
    buffer.put_nowait(1)
    assert block is not None
    async with block as item:
        assert item == 1


def test_a_subclass_of_the_block_is_refused() -> None:
    with pytest.raises(TypeError, match="BufferItem is final"):
        type("Mine", (structsync.BufferItem,), {})


async def test_observers_see_the_loan_and_its_end_and_a_scope_a_leak() -> None:
    events: list[PrimitiveEvent] = []
    buffer = filled(1)
    with structsync.observe(events.append):
        await fail_with_one(buffer)
    assert [event.kind for event in events] == ["requested", "granted", "released"]
    with pytest.raises(PermitLeakError, match="1 not returned to <Buffer"):
        async with open_scope() as scope:
            await scope.own(buffer).item().__aenter__()


async def test_a_scope_counts_items_in_hand_and_no_others() -> None:
    async with open_scope() as scope:
        buffer = scope.own(Buffer[int](2))
        await buffer.put(1)
        await buffer.put(2)
        await buffer.get()
        await fail_with_one(buffer)


async def test_who_has_an_item_in_hand_is_shown() -> None:
    buffer = filled(1)
    with structsync.trace_waits():
        async with buffer.item():
            (found,) = structsync.snapshot([buffer]).primitives
            assert [one.name for one in found.holders] == [trio.lowlevel.current_task().name]
            assert found.holders[0].since is not None


async def test_what_a_finalizer_puts_back_in_a_transition_comes_right_after_it() -> None:
    buffer, other = filled(1), structsync.Semaphore(1)
    block = buffer.item()
    await block.__aenter__()

    def leave_while_informed(event: PrimitiveEvent) -> None:
        if event.kind == "released" and event.primitive is other:
            block.__aexit__(StopError, StopError(), None)
            assert buffer.statistics().lent == 1

    with structsync.observe(leave_while_informed):
        other.release()
    assert rest(buffer) == [1]
