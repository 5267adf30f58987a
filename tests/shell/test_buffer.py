"""Buffer: items between those who put and those who get."""

from __future__ import annotations

import gc
import math
import weakref
from collections.abc import Callable
from typing import Any

import pytest
import trio
import trio.testing

from structsync import Buffer, PrimitiveEvent, Semaphore, observe, open_scope

settle = trio.testing.wait_all_tasks_blocked


def contents(buffer: Buffer[Any]) -> list[Any]:
    return buffer.get_many_nowait(100) if buffer.statistics().items else []


# ==== putting and getting ====


async def test_items_come_out_in_the_order_in_which_they_were_put() -> None:
    buffer = Buffer[int](3)
    for item in range(3):
        await buffer.put(item)
    assert [await buffer.get() for _ in range(3)] == [0, 1, 2]


async def test_what_is_refused_behind_others_in_a_cancelled_scope_is_cancelled() -> None:
    buffer = Buffer[int](1)
    async with trio.open_nursery() as nursery:
        for item in range(2):
            nursery.start_soon(buffer.put, item)
            await settle()
        with trio.CancelScope() as scope:
            scope.cancel()
            await buffer.put_many([2, 3])
        assert scope.cancelled_caught
        with pytest.raises(ValueError, match="cannot put 2 items at once into a buffer for 1"):
            await buffer.put_many([2, 3])
        assert [await buffer.get() for _ in range(2)] == [0, 1]


async def test_a_put_returns_nothing_whether_it_waited_or_not(autojump_clock: object) -> None:
    buffer, returned = Buffer[int](1), list[object]()

    async def put(item: int) -> None:
        call: Any = buffer.put(item)
        returned.append(await call)

    async with trio.open_nursery() as nursery:
        for item in range(2):
            nursery.start_soon(put, item)
        await settle()
        assert buffer.get_nowait() in (0, 1)
    assert returned == [None, None]


async def test_the_youngest_comes_out_of_a_stack() -> None:
    buffer = Buffer[int](3, policy="lifo")
    await buffer.put_many(range(3))
    assert [buffer.get_nowait() for _ in range(3)] == [2, 1, 0]


async def test_the_smallest_comes_first_and_the_oldest_among_equals() -> None:
    buffer = Buffer[tuple[int, str]](9, policy="priority", key=lambda item: item[0])
    for item in [(1, "a"), (0, "b"), (1, "c"), (2, "d"), (0, "e"), (1, "f")]:
        buffer.put_nowait(item)
    assert "".join(name for _, name in contents(buffer)) == "beacfd"


async def test_items_are_compared_themselves_without_a_key() -> None:
    buffer = Buffer[str](3, policy="priority")
    await buffer.put_many("cab")
    assert contents(buffer) == ["a", "b", "c"]


async def test_a_key_is_called_once_for_each_item_and_outside_of_the_step() -> None:
    called: list[int] = []

    def key(item: int) -> int:
        called.append(item)
        if item == 1:
            buffer.put_nowait(0)
        return item

    buffer = Buffer[int](3, policy="priority", key=key)
    await buffer.put(1)
    assert called == [1, 0]
    assert contents(buffer) == [0, 1]


async def test_who_puts_into_a_full_buffer_waits_for_room_and_who_gets_for_an_item() -> None:
    buffer = Buffer[str](1)
    order: list[str] = []

    async def put(item: str) -> None:
        await buffer.put(item)
        order.append(f"{item} put")

    async def get() -> None:
        order.append(f"{await buffer.get()} got")

    async with trio.open_nursery() as nursery:
        for item in "abc":
            nursery.start_soon(put, item)
            await settle()
        assert order == ["a put"]
        assert (buffer.statistics().tasks_putting, buffer.statistics().tasks_waiting) == (2, 2)
        for _ in range(4):
            nursery.start_soon(get)
            await settle()
        assert [one for one in order if one.endswith("got")] == ["a got", "b got", "c got"]
        assert buffer.statistics().tasks_getting == 1
        await buffer.put("d")
    assert order[-1] == "d got"


async def test_a_nowait_does_what_would_not_wait() -> None:
    buffer = Buffer[int](1)
    with pytest.raises(trio.WouldBlock):
        buffer.get_nowait()
    buffer.put_nowait(1)
    with pytest.raises(trio.WouldBlock):
        buffer.put_nowait(2)
    assert buffer.get_nowait() == 1


async def test_a_nowait_does_not_pass_who_waits() -> None:
    buffer = Buffer[int](2)
    buffer.put_nowait(1)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(buffer.put_many, [2, 3])
        await settle()
        with pytest.raises(trio.WouldBlock):  # there is room for it
            buffer.put_nowait(4)
        assert buffer.get_nowait() == 1
    assert contents(buffer) == [2, 3]


async def test_items_of_any_kind_are_handed_over_as_they_are() -> None:
    buffer = Buffer[object](math.inf)
    items: list[object] = [None, (), (1, 2), [], Exception()]
    got: dict[int, object] = {}

    async def get(number: int) -> None:
        got[number] = await buffer.get()

    async with trio.open_nursery() as nursery:
        for number in range(len(items)):
            nursery.start_soon(get, number)
            await settle()
        for item in items:
            buffer.put_nowait(item)
    assert all(got[number] is item for number, item in enumerate(items))


async def test_several_items_are_put_in_one_step() -> None:
    buffer = Buffer[int](3)
    await buffer.put(0)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(buffer.put_many, [1, 2, 3])
        await settle()
        assert buffer.statistics().items == 1
        assert await buffer.get() == 0
        assert buffer.statistics().items == 3
    with pytest.raises(trio.WouldBlock):
        buffer.put_many_nowait([4])
    assert await buffer.get_many(2) == [1, 2]
    buffer.put_many_nowait(iter([4, 5]))
    assert buffer.get_many_nowait(9) == [3, 4, 5]


async def test_what_was_got_is_not_kept() -> None:
    class Item:
        pass

    buffer = Buffer[Item](1)
    for rounds in range(2):
        item = Item()
        reference = weakref.ref(item)
        async with trio.open_nursery() as nursery:
            if rounds:
                nursery.start_soon(buffer.get)
                await settle()
            await buffer.put(item)
            if not rounds:
                await buffer.get()
        del item
        gc.collect()
        assert reference() is None


# ==== the end ====


async def test_a_complete_buffer_is_drained_and_then_ends() -> None:
    buffer = Buffer[int](2)
    buffer.put_many_nowait([1, 2])
    buffer.complete()
    buffer.complete()
    assert buffer.completed
    assert [item async for item in buffer] == [1, 2]
    with pytest.raises(trio.EndOfChannel, match="complete, and empty"):
        await buffer.get()
    with pytest.raises(trio.EndOfChannel):
        buffer.get_nowait()
    with pytest.raises(trio.ClosedResourceError, match="nothing more can be put"):
        await buffer.put(3)
    with pytest.raises(trio.ClosedResourceError):
        buffer.put_nowait(3)


async def test_who_waits_is_told_of_the_end() -> None:
    full, empty = Buffer[int](1), Buffer[int](1)
    full.put_nowait(1)
    async with trio.open_nursery() as nursery:

        async def told(error: type[Exception], call: Callable[..., Any], *args: Any) -> None:
            with pytest.raises(error):
                await call(*args)

        nursery.start_soon(told, trio.ClosedResourceError, full.put, 2)
        nursery.start_soon(told, trio.EndOfChannel, empty.get)
        nursery.start_soon(told, trio.EndOfChannel, empty.get)
        await settle()
        full.complete()
        empty.complete()
    assert contents(full) == [1]


async def test_closing_drops_the_items() -> None:
    buffer = Buffer[int](2)
    buffer.put_nowait(1)
    buffer.close()
    assert buffer.closed
    assert buffer.statistics().items == 0
    buffer.complete()
    assert not buffer.completed
    for call in (buffer.get_nowait, lambda: buffer.put_nowait(2)):
        with pytest.raises(trio.ClosedResourceError, match="this Buffer was closed"):
            call()


async def test_a_scope_closes_it() -> None:
    async with open_scope() as scope:
        buffer = scope.own(Buffer[int](2))
        buffer.put_nowait(1)
    assert buffer.closed


# ==== what users run inside ====


async def test_an_error_of_the_key_leaves_the_item_out() -> None:
    buffer = Buffer[int](3, policy="priority", key=lambda item: 1 // item)
    with pytest.raises(ZeroDivisionError):
        await buffer.put(0)
    with pytest.raises(ZeroDivisionError):
        await buffer.put_many([1, 0])
    assert buffer.statistics().items == 0


async def test_an_error_of_a_comparison_leaves_the_item_out() -> None:
    buffer = Buffer[object](3, policy="priority")
    with pytest.raises(TypeError, match="not supported"):
        buffer.put_nowait({})
    await buffer.put(1)
    with pytest.raises(TypeError, match="not supported"):
        await buffer.put("a")
    with pytest.raises(TypeError, match="not supported"):
        buffer.put_many_nowait([0, "a"])
    assert contents(buffer) == [1]


async def test_an_error_of_a_comparison_ends_the_put_that_waits_for_it_alone() -> None:
    buffer = Buffer[object](1, policy="priority")
    buffer.put_nowait(1)

    async def told() -> None:
        with pytest.raises(TypeError, match="not supported"):
            await buffer.put({})

    async with trio.open_nursery() as nursery:
        nursery.start_soon(told)
        await settle()
        nursery.start_soon(buffer.put, 2)
        await settle()
        assert buffer.get_nowait() == 1
        await settle()
        assert buffer.get_nowait() == 2


async def test_an_item_is_not_lost_where_a_comparison_fails_the_second_time() -> None:
    class Moody:
        patience = 4

        def __lt__(self, other: object) -> bool:
            Moody.patience -= 1
            return bool(1 // max(Moody.patience, 0))

    buffer = Buffer[Moody](5, policy="priority")
    first, second = Moody(), Moody()
    buffer.put_nowait(first)
    buffer.put_nowait(second)
    assert contents(buffer) == [first, second]


async def test_a_comparison_must_not_use_the_buffer() -> None:
    class Nosy:
        def __lt__(self, other: object) -> bool:
            buffer.get_nowait()
            return True

    buffer = Buffer[Nosy](3, policy="priority")
    with pytest.raises(RuntimeError, match="must not change"):
        await buffer.put(Nosy())


async def test_what_a_comparison_releases_is_released_right_after_the_step() -> None:
    """In the decision, and where the item is put in by it."""
    semaphore = Semaphore(0)
    compared = 0

    class Rank:
        def __lt__(self, other: object) -> bool:
            nonlocal compared
            compared += 1
            if compared in (1, 4):
                semaphore.release()
                assert semaphore.value == compared // 4
            return False

    buffer = Buffer[Rank](3, policy="priority")
    await buffer.put(Rank())
    assert (semaphore.value, compared) == (1, 1)
    await buffer.put(Rank())
    assert (semaphore.value, compared) == (2, 4)
    assert buffer.statistics().items == 2


async def test_an_observer_must_not_use_the_buffer() -> None:
    buffer = Buffer[int](3)
    refused: list[str] = []

    def put(event: PrimitiveEvent) -> None:
        try:
            buffer.put(2).send(None)
        except RuntimeError as error:
            refused.append(str(error))

    with observe(put):
        await buffer.put(1)
    assert len(refused) == 2
    assert "must not change" in refused[0]
    assert contents(buffer) == [1]


# ==== the rest ====


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"max_items": 0}, ValueError),
        ({"max_items": True}, TypeError),
        ({"max_items": 1.5}, TypeError),
        ({"max_items": -math.inf}, TypeError),
        ({"max_items": math.nan}, TypeError),
        ({"policy": "eligible"}, ValueError),
        ({"key": len}, ValueError),
        ({"policy": "priority", "key": 1}, TypeError),
        ({"name": 1}, TypeError),
    ],
)
def test_bad_arguments_are_refused(options: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        Buffer(**{"max_items": 1} | options)


def test_an_async_key_is_refused() -> None:
    async def key(item: int) -> int:
        return item

    with pytest.raises(TypeError, match="key must be a sync function"):
        Buffer[int](1, policy="priority", key=key)


async def test_what_can_never_be_put_is_refused_at_once() -> None:
    buffer = Buffer[int](2)
    with pytest.raises(ValueError, match="cannot put 3 items at once into a buffer for 2"):
        await buffer.put_many([1, 2, 3])
    with pytest.raises(ValueError, match="nothing to put"):
        buffer.put_many_nowait([])
    for number in (0, True):
        with pytest.raises((TypeError, ValueError), match="max_items must be"):
            await buffer.get_many(number)


async def test_observers_hear_of_both_sides() -> None:
    heard: list[tuple[str, object]] = []
    details: list[set[str]] = []

    def note(event: PrimitiveEvent) -> None:
        heard.append((event.kind, event.claim))
        details.append({name for name in event.details if name != "task"})

    buffer = Buffer[str](1)
    with observe(note):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(buffer.get)
            await settle()
            await buffer.put("item")
        buffer.close()
    assert all(not event for event in details)
    kinds = [kind for kind, _ in heard]
    assert kinds == ["requested", "requested", "granted", "granted", "closed"]
    assert heard[3] == ("granted", "item")


def test_its_repr_shows_the_state() -> None:
    buffer = Buffer[int](2, policy="lifo", name="jobs")
    buffer.put_nowait(1)
    buffer.complete()
    assert repr(buffer).startswith("<Buffer 'jobs' at ")
    assert repr(buffer).endswith(": 1/2 items, lifo, complete, 0 waiting>")
    assert "0/inf items, 0 waiting>" in repr(Buffer(math.inf))
    assert Buffer(1).max_items == 1
