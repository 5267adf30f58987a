"""trio-util: values that can be waited for."""

from __future__ import annotations

from functools import partial

import trio
import trio.testing
from trio.lowlevel import checkpoint
from trio_util import AsyncValue, RepeatedEvent, wait_any

from ._rows import Row


async def the_value_that_woke_is_returned() -> None:
    value = AsyncValue(0)
    matching: list[int] = []

    async def sets(number: int) -> None:
        value.value = number
        matching.append(number)

    async def waits() -> None:
        waited = value.value == 0
        found = await value.wait_value(lambda number: number > 0)
        assert not waited or found == matching[0], "not the value that triggered the wakeup"

    async with trio.open_nursery() as nursery:
        nursery.start_soon(waits)
        nursery.start_soon(sets, 1)
        nursery.start_soon(sets, 2)


async def a_value_is_held_for_so_long() -> None:
    value = AsyncValue(1)
    matches_since = [0.0]

    async def waits() -> None:
        await value.wait_value(lambda number: number > 0, held_for=2)
        assert trio.current_time() - matches_since[-1] >= 2, "it was not held for so long"

    async def changes() -> None:
        await trio.sleep(1)
        value.value = 0
        await trio.sleep(2)
        value.value = 3
        matches_since.append(trio.current_time())

    async with trio.open_nursery() as nursery:
        nursery.start_soon(waits)
        nursery.start_soon(changes)


async def the_most_recent_value_is_returned() -> None:
    value = AsyncValue(1)

    async def waits() -> None:
        found = await value.wait_value(lambda number: number > 0, held_for=2)
        assert found == value.value, "not the most recent value"

    async def changes() -> None:
        await trio.sleep(1)
        value.value = 2

    async with trio.open_nursery() as nursery:
        nursery.start_soon(waits)
        nursery.start_soon(changes)


async def the_last_value_arrives() -> None:
    value = AsyncValue(0)
    seen: list[int] = []

    async def sets(number: int) -> None:
        value.value = number

    async def looks() -> None:
        async for number in value.eventual_values(lambda number: number > 0):
            seen.append(number)
            await checkpoint()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(looks)
        async with trio.open_nursery() as setters:
            for number in (1, 2, 3):
                setters.start_soon(sets, number)
        await trio.testing.wait_all_tasks_blocked()
        assert seen
        assert seen[-1] == value.value, f"saw {seen}, and it is {value.value}"
        nursery.cancel_scope.cancel()


async def what_comes_was_held() -> None:
    value = AsyncValue(0)

    async def sets(number: int) -> None:
        value.value = number

    async def looks() -> None:
        async for number in value.eventual_values(lambda number: number > 0, held_for=1):
            assert value.value == number, f"{number} was not held, and it is {value.value}"

    async with trio.open_nursery() as nursery:
        nursery.start_soon(looks)
        nursery.start_soon(sets, 1)
        nursery.start_soon(sets, 0)
        await trio.sleep(3)
        nursery.cancel_scope.cancel()


async def no_event_is_missed() -> None:
    event = RepeatedEvent()
    work: list[int] = []
    done: list[int] = []

    async def puts(number: int) -> None:
        work.append(number)
        event.set()

    async def works() -> None:
        async for _ in event.events(repeat_last=True):
            done[:] = work
            await checkpoint()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(works)
        async with trio.open_nursery() as putters:
            putters.start_soon(puts, 1)
            putters.start_soon(puts, 2)
        await trio.testing.wait_all_tasks_blocked()
        assert done == work
        nursery.cancel_scope.cancel()


async def the_first_of_two_ends_both() -> None:
    first, second = trio.Event(), trio.Event()

    async def sets(event: trio.Event) -> None:
        event.set()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(wait_any, first.wait, second.wait)
        nursery.start_soon(sets, first)


Library = partial(Row, library="trio_util")
ROWS = [
    Library(
        what="AsyncValue.wait_value()",
        holds="the value that triggered the wakeup is returned",
        program=the_value_that_woke_is_returned,
        verdict="refuted",
        options={"cancels": 0},
        script="trio_util_wait_value.py",
        judgement="bug: a later value that matches too takes its place before the waiter runs",
    ),
    Library(
        what="AsyncValue.wait_value(held_for=)",
        holds="the value has matched for as long",
        program=a_value_is_held_for_so_long,
        options={"cancels": 0},
    ),
    Library(
        what="AsyncValue.wait_value(held_for=), value",
        holds="the most recent value is returned",
        program=the_most_recent_value_is_returned,
        verdict="refuted",
        options={"cancels": 0},
        script="trio_util_held_for.py",
        judgement="bug: it is the value of when the wait began",
    ),
    Library(
        what="AsyncValue.eventual_values()",
        holds="the last value arrives",
        program=the_last_value_arrives,
        options={"cancels": 0},
    ),
    Library(
        what="AsyncValue.eventual_values(held_for=)",
        holds="a value that comes was held for as long",
        program=what_comes_was_held,
        verdict="refuted",
        options={"cancels": 0},
        script="trio_util_eventual_values.py",
        judgement="bug: a value that stops to match before the loop runs is taken for one that is held",
    ),
    Library(
        what="RepeatedEvent.events()",
        holds="the last event is seen",
        program=no_event_is_missed,
        options={"cancels": 0},
    ),
    Library(
        what="wait_any()",
        holds="it ends with the first",
        program=the_first_of_two_ends_both,
        options={"cancel": "own"},
    ),
]
