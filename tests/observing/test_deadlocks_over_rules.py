"""Calls that start together wait for the task inside a monitor of one of them, until the rule ends."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

import structsync
from structsync import DeadlockError, Entry, Lock, Monitor, Synchronizer, deadlock_guard
from structsync._core.queue.waits_for import Need
from structsync.observing import needs

from .crossing import nothing, use


class Met:
    """Two monitors with an entry each, and a lock."""

    def __init__(self) -> None:
        self.left, self.right = Monitor(name="left"), Monitor(name="right")
        self.lock = Lock(name="ledger")
        self.told: list[DeadlockError] = []

    def entries(self) -> tuple[Entry[[], None], Entry[[], None]]:
        return self.left.entry(nothing), self.right.entry(nothing)

    async def calls(self, entry: Entry[[], None]) -> None:
        """Hold the lock, and wait for a partner."""
        try:
            async with self.lock:
                await entry()
        except DeadlockError as error:
            self.told.append(error)

    async def is_inside(self, monitor: Monitor) -> None:
        """Be inside a monitor, and wait for the lock there."""

        async def inside() -> None:
            await wait_all_tasks_blocked()
            await use(self.lock)

        try:
            await monitor.entry(inside)()
        except DeadlockError as error:
            self.told.append(error)


@pytest.fixture
def met() -> Met:
    return Met()


async def run_both(met: Met, entry: Entry[[], None]) -> None:
    async with trio.open_nursery() as nursery:
        nursery.start_soon(met.is_inside, met.right, name="teller")
        nursery.start_soon(met.calls, entry, name="clerk")
        nursery.start_soon(leave_when_told, met, nursery)


async def leave_when_told(met: Met, nursery: trio.Nursery) -> None:
    await wait_all_tasks_blocked(0.01)
    assert met.told
    nursery.cancel_scope.cancel()


async def test_a_partners_monitor_may_be_taken_by_who_waits_for_the_caller(met: Met) -> None:
    left, right = met.entries()
    with deadlock_guard():
        async with Synchronizer() as synchronizer:
            synchronizer.atomic(left, right)
            await run_both(met, left)
    (error,) = met.told
    text = str(error)
    assert "waits for a call of Monitor 'right' to start together with, where teller is" in text
    assert "waits for Lock 'ledger', which clerk holds" in text
    assert {task.name for task in error.tasks} == {"teller", "clerk"}
    assert met.left.statistics().tasks_waiting == met.right.statistics().tasks_waiting == 0


def no_rule_ends(request: Any, rules: Any) -> Any:
    return [
        Need(((one.arbiter.owner, 1),), 1, needs.Reason(one.primitive, is_partner=True))
        for one in rules.bonded()[1:]
        if one.arbiter.owner is not None
    ]


@pytest.mark.parametrize("planted", [None, no_rule_ends])
async def test_the_end_of_the_rule_is_a_way_out(
    met: Met, planted: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    if planted is not None:
        monkeypatch.setattr(needs, "_of_partners", planted)
    left, right = met.entries()
    with deadlock_guard(met.told.append):
        async with trio.open_nursery() as nursery:
            async with Synchronizer() as synchronizer:
                synchronizer.atomic(left, right)
                nursery.start_soon(met.is_inside, met.right)
                nursery.start_soon(met.calls, left)
                await wait_all_tasks_blocked(0.01)
                assert met.left.statistics().tasks_waiting == 1
    assert bool(met.told) == (planted is not None)


async def test_the_end_of_the_rule_is_none_where_its_task_waits_too(met: Met) -> None:
    """The task that entered the block waits for the lock: it closes the cycle, and is told of the rule."""
    left, right = met.entries()
    with deadlock_guard():
        async with trio.open_nursery() as nursery:
            async with Synchronizer() as synchronizer:
                synchronizer.atomic(left, right)
                nursery.start_soon(met.is_inside, met.right, name="teller")
                nursery.start_soon(met.calls, left, name="clerk")
                await wait_all_tasks_blocked(0.01)
                with pytest.raises(DeadlockError) as raised:
                    await use(met.lock)
    assert "clerk" in str(raised.value)
    assert "waits for a rule over Monitor 'right' to end, whose block" in str(raised.value)


@pytest.mark.parametrize("stays", [0, 1])
async def test_of_two_rules_over_the_same_entries_both_have_to_end(met: Met, stays: int) -> None:
    left, right = met.entries()
    rules = [Synchronizer(), Synchronizer()]
    ended = trio.Event()

    async def enters() -> None:
        async with rules[1 - stays] as rule:
            rule.atomic(left, right)
            await ended.wait()

    with deadlock_guard():
        async with trio.open_nursery() as outer, rules[stays] as rule:
            rule.atomic(left, right)
            outer.start_soon(enters)
            await wait_all_tasks_blocked()
            async with trio.open_nursery() as nursery:
                nursery.start_soon(met.is_inside, met.right)
                nursery.start_soon(met.calls, left)
                nursery.start_soon(leave_when_told, met, nursery)
            ended.set()
    assert len(met.told) == 1


async def test_a_rule_that_another_one_needs_to_concern_the_partner_ends_it_too(met: Met) -> None:
    """The left one starts with the middle one, by a rule that ends, and that one with the right one."""
    left, right = met.entries()
    middle = Monitor().entry(nothing)
    ended = trio.Event()

    async def enters() -> None:
        async with Synchronizer() as rule:
            rule.atomic(left, middle)
            await ended.wait()

    async def ends() -> None:
        await wait_all_tasks_blocked(0.01)
        ended.set()

    with deadlock_guard():
        async with trio.open_nursery() as outer, Synchronizer() as rule:
            rule.atomic(middle, right)
            outer.start_soon(enters)
            await wait_all_tasks_blocked()
            async with trio.open_nursery() as nursery:
                nursery.start_soon(met.is_inside, met.right)
                nursery.start_soon(met.calls, left)
                nursery.start_soon(ends)
    assert not met.told


async def test_a_call_from_inside_a_monitor_of_its_group_waits_for_itself(met: Met) -> None:
    left, right = met.entries()
    with deadlock_guard():
        async with Synchronizer() as synchronizer:
            synchronizer.atomic(left, right)
            with pytest.raises(DeadlockError, match="waits for a call of Monitor 'right'"):
                await met.right.entry(left)()


async def test_that_a_partner_is_called_and_that_a_rule_permits_it_is_owed_by_no_task(
    met: Met,
) -> None:
    """Any task may call it, and any may change what a rule looks at: the guard says nothing."""
    left, right = met.entries()
    disabled = True

    async def helps() -> None:
        nonlocal disabled
        await wait_all_tasks_blocked(0.01)
        await right()
        disabled = False
        met.left.changed()

    async with Synchronizer() as synchronizer:
        synchronizer.disable(left, when=lambda: disabled)
        synchronizer.atomic(left, right)
        with deadlock_guard():
            async with trio.open_nursery() as nursery:
                nursery.start_soon(met.calls, left)
                nursery.start_soon(use, met.lock)
                nursery.start_soon(right)
                await wait_all_tasks_blocked(0.01)
                disabled = False
                met.left.changed()
    assert not met.told


async def test_a_task_that_waits_for_a_nursery_in_its_block_may_end_the_rule_after_that(
    met: Met,
) -> None:
    """The caller is a child of another nursery than the one that the block waits for."""
    left, right = met.entries()

    async def block() -> None:
        async with Synchronizer() as synchronizer:
            synchronizer.atomic(left, right)
            started.set()
            async with trio.open_nursery() as inner:
                inner.start_soon(wait_all_tasks_blocked, 0.02)

    started = trio.Event()
    with deadlock_guard():
        async with trio.open_nursery() as nursery:
            nursery.start_soon(block)
            await started.wait()
            nursery.start_soon(met.is_inside, met.right)
            nursery.start_soon(met.calls, left)
    assert not met.told
    assert structsync.snapshot([met.left]).primitives[0].waiters == ()


async def test_the_rule_may_end_before_the_nursery_of_the_caller_does(met: Met) -> None:
    left, right = met.entries()

    async def later(function: Callable[..., Awaitable[None]], *args: Any) -> None:
        await wait_all_tasks_blocked()
        await function(*args)

    with deadlock_guard():
        async with trio.open_nursery() as outer:
            outer.start_soon(later, met.is_inside, met.right)
            outer.start_soon(later, met.calls, left)
            async with Synchronizer() as synchronizer:
                synchronizer.atomic(left, right)
                async with trio.open_nursery() as inner:
                    inner.start_soon(wait_all_tasks_blocked, 0.02)
    assert not met.told


async def test_a_chain_of_nurseries_between_them_is_followed(met: Met) -> None:
    left, right = met.entries()

    async def nested() -> None:
        await run_both(met, left)

    with deadlock_guard():
        async with Synchronizer() as synchronizer:
            synchronizer.atomic(left, right)
            async with trio.open_nursery() as nursery:
                nursery.start_soon(nested)
    assert len(met.told) == 1
