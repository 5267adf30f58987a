"""Tickets are left out of a fingerprint, so states are not merged where a guard looks at one."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest
import trio
from trio.lowlevel import checkpoint

from structsync import Invocation, Monitor, Semaphore
from structsync.testing import Exploration, ExploredRun, Verdict, explore
from structsync.testing._state.fingerprint import Fingerprinter

from .conftest import Program, states


def the_ticket_is(wanted: int) -> Exploration:
    """Explore a call that waits forever unless it has that ticket.

    It has 2 or 3, as another task came too late to arrive or not. All else is the same. An arrival
    counts only while another call waits, as one does all the time.
    """

    async def test(x: ExploredRun) -> None:
        monitor, too_late, parked = Monitor(), list[bool](), trio.Event()
        call = monitor.entry(list[int])

        def never() -> bool:
            parked.set()
            return False

        async def arrive() -> None:
            if not too_late:
                await call()

        async def hurry() -> None:
            too_late.append(True)

        async with trio.open_nursery() as outer:
            outer.start_soon(monitor.entry(list, never))
            await parked.wait()
            await call()
            async with trio.open_nursery() as nursery:
                nursery.start_soon(arrive)
                nursery.start_soon(hurry)
            too_late.clear()
            # States are compared where there is a choice.
            async with trio.open_nursery() as nursery:
                nursery.start_soon(checkpoint)
                nursery.start_soon(checkpoint)
            await monitor.entry(list, lambda request: request.ticket == wanted)()
            outer.cancel_scope.cancel()

    return explore(test, search="states", cancels=0)


def the_item_is_there(*, read: bool = False) -> Exploration:
    """Explore calls whose guard looks at the request, and the last time perhaps at its ticket."""

    async def test(x: ExploredRun) -> None:
        monitor, items = Monitor(), list[int]()

        def guard(request: Invocation) -> bool:
            return request.args[0] in items and (not read or request.ticket >= 0)

        take = monitor.entry(items.remove, guard)
        async with trio.open_nursery() as nursery:
            for item in range(2):
                nursery.start_soon(take, item)
            await checkpoint()
            items += range(2)
            monitor.changed()

    return explore(test, search="states", cancels=0)


@pytest.mark.parametrize("wanted", [2, 3])
def test_what_a_ticket_tells_apart_is_not_merged(wanted: int) -> None:
    assert the_ticket_is(wanted).failure is not None


def test_if_states_were_merged_the_audit_would_see_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Fingerprinter, "refuse_what_is_left_out", lambda self: None)
    found = [the_ticket_is(wanted) for wanted in (2, 3)]
    assert {one.verdict for one in found} == {Verdict.REFUTED}
    assert [one.merges_audited > 0 for one in found].count(True) == 1


def test_a_guard_that_looks_at_the_rest_of_a_request_is_explored_by_states() -> None:
    found = the_item_is_there()
    assert found.verdict is Verdict.CONFIRMED
    assert found.states > 0


def test_a_guard_that_takes_an_argument_is_explored_by_states() -> None:
    async def test(x: ExploredRun) -> None:
        monitor, items = Monitor(), list[int]()

        def take_one(item: int, bin: int = 0) -> None:
            items.remove(item)

        take = monitor.entry(take_one, lambda item, bin=0: item in items)
        async with trio.open_nursery() as nursery:
            for item in range(2):
                nursery.start_soon(take, item)
            await checkpoint()
            items += range(2)
            monitor.changed()

    found = explore(test, search="states", cancels=0)
    assert found.verdict is Verdict.CONFIRMED
    assert found.states == the_item_is_there().states


def test_a_guard_that_reads_the_ticket_is_explored_by_schedules() -> None:
    found = the_item_is_there(read=True)
    assert found.verdict is Verdict.CONFIRMED
    assert "states" not in found.covered


# ==== what a queue has seen ====


def waits_after(withdrawn: int, wait: Callable[[], Awaitable[object]]) -> Program:
    """A task waits in a queue in which so many have waited before and have left again."""
    left = [None] * withdrawn

    async def once() -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(wait)
            await checkpoint()
            await checkpoint()
            nursery.cancel_scope.cancel()

    async def program() -> None:
        while left:
            left.pop()
            await once()
        await once()

    return program


def a_semaphore() -> Callable[[], Awaitable[object]]:
    return Semaphore(0).acquire


def a_monitor() -> Callable[[], Awaitable[object]]:
    return Monitor().entry(list, lambda _: False)


@pytest.mark.unmeasured
@pytest.mark.parametrize("make", [a_semaphore, a_monitor])
def test_how_many_have_waited_before_is_no_part_of_the_state(
    make: Callable[[], Callable[[], Awaitable[object]]],
) -> None:
    """Tickets only grow; two states that differ in nothing else are one."""
    few, many = states(waits_after(1, make())), states(waits_after(3, make()))
    assert len(many) > len(few)
    # While the last one waits; the states before and after are those of an empty queue.
    assert few[-4:] == many[-4:]
