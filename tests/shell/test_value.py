"""Value: who waits for a value gets it, however soon the next one follows."""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any

import pytest
import trio
import trio.testing

from structsync import Changes, PrimitiveEvent, Semaphore, Value, observe, open_scope

settle = trio.testing.wait_all_tasks_blocked


async def test_a_value_that_held_for_a_moment_is_not_missed() -> None:
    """With trio-util's the waiter looks when it runs, and finds 0 again."""
    value, found = Value(0), []

    async def wait() -> None:
        found.append(await value.wait_for(lambda number: number > 5))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(wait)
        await settle()
        value.value = 3
        value.value = 7
        value.value = 0
    assert found == [7]
    assert value.value == 0


async def test_what_is_there_already_is_returned_at_once() -> None:
    assert await Value("ready").wait_for(lambda state: state == "ready") == "ready"


async def test_all_who_wait_for_a_value_are_granted_and_no_other_task() -> None:
    value, found = Value(0), []

    async def wait(least: int) -> None:
        found.append((least, await value.wait_for(lambda number: number >= least)))

    async with trio.open_nursery() as nursery:
        for least in (9, 1, 2):
            nursery.start_soon(wait, least)
            await settle()
        value.value += 2
        await settle()
        assert sorted(found) == [(1, 2), (2, 2)]
        assert value.statistics().tasks_waiting == 1
        value.value = 9
    assert found[2:] == [(9, 9)]


async def test_an_error_of_a_predicate_is_raised_by_its_wait_alone() -> None:
    value, found = Value(1), list[object]()

    async def divide() -> None:
        with pytest.raises(ZeroDivisionError):
            await value.wait_for(lambda number: 1 / number > 1)
        found.append("told")

    async def wait() -> None:
        found.append(await value.wait_for(lambda number: number == 0))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(divide)
        nursery.start_soon(wait)
        await settle()
        value.value = 0
    assert sorted(map(str, found)) == ["0", "told"]
    with pytest.raises(ZeroDivisionError):
        await value.wait_for(lambda number: 1 / number)


async def test_a_predicate_must_not_assign() -> None:
    value = Value(0)

    def assign(number: int) -> None:
        value.value = 3

    with pytest.raises(RuntimeError, match="must not change a structsync primitive"):
        await value.wait_for(assign)
    assert value.value == 0


async def test_a_predicate_must_be_a_sync_function() -> None:
    async def predicate(number: int) -> bool:
        return True

    for wrong in (predicate, 3):
        with pytest.raises(TypeError, match="predicate must be"):
            await Value(0).wait_for(wrong)  # type: ignore[arg-type]  # the mistake


async def test_a_predicate_that_returns_a_coroutine_is_an_error_and_no_yes() -> None:
    async def ready() -> bool:
        return False

    value = Value(0)
    with pytest.raises(TypeError, match="a predicate must be a sync function, but it returned a c"):
        await value.wait_for(lambda number: ready())

    async def told_later() -> None:
        with pytest.raises(TypeError, match="it returned a coroutine"):
            await value.wait_for(lambda number: number and ready())

    async with trio.open_nursery() as nursery:
        nursery.start_soon(told_later)
        await settle()
        value.value = 1


async def test_a_cancelled_wait_changes_nothing() -> None:
    value = Value(0)
    with trio.move_on_after(0) as scope:
        await value.wait_for(bool)
    assert scope.cancelled_caught
    assert value.statistics().tasks_waiting == 0


async def test_changes_are_each_assignment_from_now_on_in_order() -> None:
    value = Value(0)
    changes = value.changes()
    for number in (1, 2, 2, 3):
        value.value = number
    assert [await anext(changes) for _ in range(4)] == [1, 2, 2, 3]
    late = value.changes()
    async with trio.open_nursery() as nursery:
        seen: list[int] = []

        async def follow(which: Changes[int]) -> None:
            async for number in which:
                seen.append(number)
                return

        nursery.start_soon(follow, changes)
        nursery.start_soon(follow, late)
        await settle()
        assert seen == []
        value.value = 4
    assert seen == [4, 4]


async def test_a_cancelled_step_loses_no_change() -> None:
    value = Value(0)
    changes = value.changes()
    with trio.move_on_after(0):
        await anext(changes)
    value.value = 1
    value.value = 2
    with trio.CancelScope() as scope:
        scope.cancel()
        await anext(changes)
    assert [await anext(changes), await anext(changes)] == [1, 2]


async def test_two_tasks_in_one_iterator_are_refused() -> None:
    value = Value(0)
    changes = value.changes()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(changes.__anext__)
        await settle()
        with pytest.raises(trio.BusyResourceError, match=r"call changes\(\) for each"):
            await anext(changes)
        value.value = 1
    value.value = 2
    assert await anext(changes) == 2


async def test_closing_ends_waits_and_iterators() -> None:
    value = Value(0, name="state")
    changes = value.changes()

    async def closed(wait: Callable[[], Any]) -> None:
        with pytest.raises(trio.ClosedResourceError):
            await wait()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(closed, lambda: value.wait_for(bool))
        nursery.start_soon(closed, changes.__anext__)
        await settle()
        value.close()
    value.value = 1
    assert value.closed
    with pytest.raises(trio.ClosedResourceError):
        await value.wait_for(bool)
    with pytest.raises(trio.ClosedResourceError):
        await anext(changes)


def test_it_can_be_assigned_outside_a_run() -> None:
    value = Value(0)
    value.value = 1
    assert value.value == 1


async def test_an_iterator_that_no_task_has_holds_nothing() -> None:
    value = Value(0)
    changes = value.changes()
    for number in range(100_000):  # one chain, which is let go without recursion
        value.value = number
    assert await anext(changes) == 0
    del changes
    gc.collect()
    assert value._newest.next is None


async def test_statistics_and_repr_show_the_value() -> None:
    value = Value("on", name="switch")
    assert value.statistics().value == "on"
    assert repr(value).startswith("<Value 'switch' at 0x")
    assert "value 'on'" in repr(value)
    assert repr(value.changes()).startswith("<Changes of <Value 'switch'")


async def test_a_value_has_no_claim_to_give_back() -> None:
    with pytest.raises(NotImplementedError):
        Value(0)._release(None)  # type: ignore[arg-type]  # no task does


async def test_a_value_may_be_awaited_while_something_is_held() -> None:
    value, permits = Value(0), Semaphore(1, max_value=1)

    async def hold() -> None:
        async with permits:
            await value.wait_for(bool)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(hold)
        await settle()
        assert permits.value == 0
        value.value = 1
    assert permits.value == 1


async def test_observers_hear_of_waits_and_assignments() -> None:
    value, heard = Value(0), list[tuple[str, object]]()

    def is_two(number: int) -> bool:
        return number == 2

    def note(event: PrimitiveEvent) -> None:
        heard.append((event.kind, event.details.get("predicate", event.details.get("assign"))))

    with observe(note):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(value.wait_for, is_two)
            await settle()
            value.value = 2
        await value.wait_for(frozenset([2]).__contains__)
    name = is_two.__qualname__
    kinds = ["requested", "changed", "granted", "requested", "granted"]
    known = "frozenset.__contains__"
    assert heard == list(zip(kinds, [name, 2, name, known, known], strict=True))


async def test_a_scope_misses_nothing_of_a_value() -> None:
    async with open_scope() as scope:
        value = scope.own(Value(1))
        await value.wait_for(bool)
