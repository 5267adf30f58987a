"""An item and a permit in one step, and the first of several: claims on buffers."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable
from typing import Any

import pytest
import trio
import trio.testing

from structsync import (
    Buffer,
    Claim,
    Lock,
    PrimitiveEvent,
    Semaphore,
    acquire_all,
    acquire_any,
    first_of,
    observe,
)

settle = trio.testing.wait_all_tasks_blocked


async def test_an_item_and_a_permit_are_taken_in_one_step() -> None:
    buffer, slots = Buffer[tuple[int, ...]](2), Semaphore(0, max_value=1)
    items: list[object] = []
    get, permit = buffer.get_claim(), slots.claim()

    async def work() -> None:
        async with acquire_all(get, permit) as held:
            items.append(held.item(get))
            with pytest.raises(ValueError, match="has no item"):
                held.item(permit)  # type: ignore[arg-type]

    async with trio.open_nursery() as nursery:
        nursery.start_soon(work)
        await settle()
        buffer.put_nowait((1, 2))
        await settle()
        assert buffer.statistics().items == 1  # nothing is taken before there is a permit
        slots.release()
        await settle()
        assert items == [(1, 2)]
    assert (slots.value, buffer.statistics().items) == (1, 0)


async def test_a_group_that_takes_an_item_lets_in_who_waits_to_put() -> None:
    buffer, lock = Buffer[str](1), Lock()
    buffer.put_nowait("a")
    async with trio.open_nursery() as nursery:
        nursery.start_soon(buffer.put, "b")
        await settle()
        async with acquire_all(lock.claim(), get := buffer.get_claim()) as held:
            assert held.item(get) == "a"
        assert buffer.statistics().items == 1
    assert buffer.get_nowait() == "b"


async def test_a_group_that_waits_is_let_in_by_a_put_and_lets_in_a_put() -> None:
    buffer, lock = Buffer[str](1), Lock()
    got: list[object] = []

    async def work() -> None:
        async with acquire_all(lock.claim(), get := buffer.get_claim()) as held:
            got.append(held.item(get))

    lock.acquire_nowait()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(work)
        await settle()
        buffer.put_nowait("a")
        nursery.start_soon(buffer.put, "b")
        await settle()
        assert buffer.statistics().tasks_putting == 1
        lock.release()
    assert got == ["a"]
    assert buffer.get_nowait() == "b"


async def test_a_put_of_a_group_lets_in_who_waits_to_get() -> None:
    buffer, slots = Buffer[str](1), Semaphore(1)
    got: list[str] = []

    async def get() -> None:
        got.append(await buffer.get())

    async with trio.open_nursery() as nursery:
        nursery.start_soon(get)
        await settle()
        with acquire_all(buffer.put_claim("a"), slots.claim()).request() as request:
            held = await request.wait()
            with pytest.raises(ValueError, match="has no item"):
                held.item(held.claims[0])
    assert got == ["a"]
    assert slots.value == 1


async def test_the_first_of_several_is_taken_and_no_other() -> None:
    left, right = Buffer[int](1), Buffer[int](1)
    right.put_nowait(1)
    first = await first_of(left.get_claim(), claim := right.get_claim())
    assert (first.claim, first.item) == (claim, 1)
    left.put_nowait(2)
    right.put_nowait(3)
    assert (await first_of(left.get_claim(), right.get_claim())).item == 2
    assert (left.statistics().items, right.get_nowait()) == (0, 3)


@pytest.mark.parametrize("which", range(3))
async def test_who_waits_for_the_first_of_several_is_let_in_by_any(which: int) -> None:
    left, right, slots = Buffer[object](1), Buffer[object](1), Semaphore(0)
    claims = [left.get_claim(), right.get_claim(), slots.claim()]
    found: list[object] = []

    async def wait() -> None:
        first = await first_of(*claims)
        found.extend([claims.index(first.claim), first.item])

    async with trio.open_nursery() as nursery:
        nursery.start_soon(wait)
        await settle()
        acts: list[Callable[[], None]] = [
            lambda: left.put_nowait((1,)),
            lambda: right.put_nowait(2),
            slots.release,
        ]
        acts[which]()
    assert found == [which, [(1,), 2, None][which]]
    assert all(one.statistics().tasks_waiting == 0 for one in (left, right, slots))
    assert slots.value == 0  # nothing is given back


async def test_observers_hear_that_a_choice_has_left_the_other_queues() -> None:
    buffer, slots, kinds = Buffer[int](1), Semaphore(0), list[str]()

    def observer(event: PrimitiveEvent) -> None:
        if event.primitive is slots:
            kinds.append(event.kind)

    with observe(observer):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(first_of, buffer.get_claim(), slots.claim())
            await settle()
            buffer.put_nowait(1)
    assert kinds == ["requested", "withdrawn"]


@pytest.mark.parametrize("waits", [False, True])
def test_a_choice_leaves_no_reference_cycle(waits: bool) -> None:
    tasks = list[weakref.ref[trio.lowlevel.Task]]()

    async def choose(*claims: Claim[Any]) -> None:
        tasks.append(weakref.ref(trio.lowlevel.current_task()))
        await first_of(*claims)

    async def main() -> None:
        buffer, slots = Buffer[int](1), Semaphore(0 if waits else 1)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(choose, buffer.get_claim(), slots.claim())
            await settle()
            if waits:
                slots.release()
        await trio.lowlevel.checkpoint()
        assert tasks[0]() is None

    gc.disable()
    try:
        trio.run(main)
    finally:
        gc.enable()


async def test_one_buffer_may_be_put_into_or_got_from() -> None:
    buffer = Buffer[str](1)
    claims = buffer.put_claim("a"), buffer.get_claim()
    assert (await first_of(*claims)).claim is claims[0]
    first = await first_of(*claims)
    assert (first.claim, first.item) == (claims[1], "a")


async def test_a_cancelled_choice_has_taken_nothing() -> None:
    left, right = Buffer[int](1), Buffer[int](1)
    right.put_nowait(0)
    events: list[str] = []
    with observe(lambda event: events.append(event.kind)), trio.move_on_after(0):
        await first_of(left.get_claim(), right.put_claim(1))
    assert events == ["requested", "requested", "withdrawn", "withdrawn"]
    assert right.get_nowait() == 0
    with trio.CancelScope() as scope:
        scope.cancel()
        right.put_nowait(1)
        await first_of(left.get_claim(), right.get_claim())
    assert right.get_nowait() == 1


async def test_the_end_of_one_ends_the_choice() -> None:
    left, right = Buffer[int](1), Buffer[int](1)

    async def told() -> None:
        with pytest.raises(trio.EndOfChannel):
            await first_of(left.get_claim(), right.get_claim())

    async with trio.open_nursery() as nursery:
        nursery.start_soon(told)
        await settle()
        right.complete()
    await told()
    assert left.statistics().tasks_waiting == 0


async def test_a_comparison_that_fails_ends_the_group_alone() -> None:
    buffer, lock = Buffer[object](2, policy="priority"), Lock()
    buffer.put_nowait(1)
    buffer.put_nowait(1)

    async def told() -> None:
        with pytest.raises(TypeError, match="not supported"):
            async with acquire_all(lock.claim(), buffer.put_claim("a")):
                raise AssertionError("entered")

    lock.acquire_nowait()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(told)
        await settle()
        buffer.get_nowait()
        lock.release()
    assert not lock.locked()


async def test_what_makes_no_choice_is_refused() -> None:
    buffer = Buffer[int](1)
    with pytest.raises(ValueError, match="needs at least one claim"):
        await first_of()
    with pytest.raises(ValueError, match="two on"):
        await first_of(buffer.get_claim(), buffer.get_claim())
    with pytest.raises(TypeError):
        await first_of(buffer)  # type: ignore[arg-type]  # the mistake
    with pytest.raises(ValueError, match="use await first_of"):
        acquire_any(buffer.get_claim())
    with pytest.raises(ValueError, match="needs the policy 'fifo'"):
        await first_of(Semaphore(1, policy="priority").claim())
    with pytest.raises(RuntimeError, match="claim this primitive once only"):
        async with acquire_all(buffer.get_claim(), buffer.get_claim()):
            raise AssertionError("entered")
    assert isinstance(buffer.get_claim(), Claim)
