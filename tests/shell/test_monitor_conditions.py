"""Waiting inside a monitor: who goes on after a notification (Mesa) and after a signal (Hoare)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
import trio
import trio.testing

from structsync import (
    Monitor,
    MonitorCondition,
    PermitLeakError,
    PrimitiveEvent,
    entry,
    observe,
    open_scope,
)
from structsync._primitives.monitor import Discipline

settle = trio.testing.wait_all_tasks_blocked


class Stage:
    """A monitor with one condition, and what happened in it."""

    def __init__(self, nursery: trio.Nursery, discipline: Discipline) -> None:
        self.nursery = nursery
        self.monitor = Monitor(discipline=discipline)
        self.condition: MonitorCondition = self.monitor.condition()
        self.seen: list[str] = []
        self.scopes: dict[str, trio.CancelScope] = {}

    async def act(self, who: str, play: Callable[[], Awaitable[object]]) -> None:
        """Start a task that plays inside the monitor."""

        async def inside() -> None:
            self.seen.append(f"{who} in")
            try:
                await play()
            except trio.ClosedResourceError:
                owner = self.monitor.statistics().owner is trio.lowlevel.current_task()
                self.seen.append(f"{who} told {'inside' if owner else 'outside'}")
            finally:
                self.seen.append(f"{who} out")

        async def task() -> None:
            with trio.CancelScope() as self.scopes[who]:
                await self.monitor.entry(inside)()

        self.nursery.start_soon(task, name=who)
        await settle()

    async def wait(self, who: str) -> None:
        await self.act(who, self.condition.wait)


# ==== Mesa ====


async def test_mesa_the_notifier_goes_on_and_the_notified_wait_in_queue() -> None:
    async with trio.open_nursery() as nursery:
        stage = Stage(nursery, "mesa")
        await stage.wait("a")
        await stage.wait("b")
        go = trio.Event()

        async def notify() -> None:
            await go.wait()
            stage.condition.notify_all()
            stage.seen.append("notified")

        await stage.act("n", notify)
        await stage.act("c", trio.lowlevel.checkpoint)
        go.set()
    assert stage.seen[3:] == ["notified", "n out", "c in", "c out", "a out", "b out"]


async def test_mesa_a_cancelled_waiter_passes_its_notification_on() -> None:
    async with trio.open_nursery() as nursery:
        stage = Stage(nursery, "mesa")
        await stage.wait("a")
        await stage.wait("b")

        async def notify() -> None:
            stage.condition.notify()
            stage.scopes["a"].cancel()
            await settle()

        await stage.act("n", notify)
    assert stage.seen[3:] == ["n out", "b out", "a out"]


async def test_a_cancelled_waiter_is_inside_again_when_it_raises() -> None:
    async with trio.open_nursery() as nursery:
        stage = Stage(nursery, "mesa")
        await stage.wait("a")
        go = trio.Event()
        await stage.act("b", go.wait)
        stage.scopes["a"].cancel()
        await settle()
        assert "a out" not in stage.seen
        go.set()
    assert stage.seen[2:] == ["b out", "a out"]


# ==== Hoare ====


async def test_hoare_the_waiter_goes_on_at_once_and_the_signaller_before_newcomers() -> None:
    async with trio.open_nursery() as nursery:
        stage = Stage(nursery, "hoare")
        await stage.wait("a")
        go = trio.Event()

        async def signal() -> None:
            await go.wait()
            await stage.condition.signal()
            stage.seen.append("signalled")

        await stage.act("s", signal)
        await stage.act("c", trio.lowlevel.checkpoint)
        go.set()
    assert stage.seen[2:] == ["a out", "signalled", "s out", "c in", "c out"]


async def test_hoare_of_several_signallers_the_first_is_first() -> None:
    async with trio.open_nursery() as nursery:
        stage = Stage(nursery, "hoare")

        async def wait_then_signal() -> None:
            await stage.condition.wait()
            await stage.condition.signal()

        await stage.act("a", wait_then_signal)
        await stage.wait("b")
        await stage.act("s", stage.condition.signal)
    assert stage.seen[3:] == ["b out", "s out", "a out"]


async def test_hoare_a_signal_that_finds_no_task_is_a_checkpoint_and_not_kept() -> None:
    async with trio.open_nursery() as nursery:
        stage = Stage(nursery, "hoare")

        async def signal() -> None:
            with trio.testing.assert_checkpoints():
                await stage.condition.signal()

        await stage.act("s", signal)
        await stage.wait("a")
        assert "a out" not in stage.seen
        nursery.cancel_scope.cancel()


async def test_hoare_a_signaller_that_is_cancelled_meanwhile_returns_normally() -> None:
    async with trio.open_nursery() as nursery:
        stage = Stage(nursery, "hoare")
        go = trio.Event()

        async def wait() -> None:
            await stage.condition.wait()
            await go.wait()

        async def signal() -> None:
            await stage.condition.signal()
            stage.seen.append("returned")

        await stage.act("a", wait)
        await stage.act("s", signal)
        stage.scopes["s"].cancel()
        await settle()
        assert stage.seen[-1] == "s in"
        go.set()
    assert stage.seen[2:] == ["a out", "returned", "s out"]


async def test_hoare_a_signaller_cancelled_before_has_passed_nothing_on() -> None:
    async with trio.open_nursery() as nursery:
        stage = Stage(nursery, "hoare")
        await stage.wait("a")

        async def signal() -> None:
            stage.scopes["s"].cancel()
            await stage.condition.signal()

        await stage.act("s", signal)
        assert stage.condition.statistics().tasks_waiting == 1
        nursery.cancel_scope.cancel()


async def test_hoare_a_waiter_cancelled_before_the_signal_gets_none() -> None:
    async with trio.open_nursery() as nursery:
        stage = Stage(nursery, "hoare")
        await stage.wait("a")
        await stage.wait("b")

        async def signal() -> None:
            stage.scopes["a"].cancel()
            await settle()
            await stage.condition.signal()

        await stage.act("s", signal)
    assert stage.seen[3:] == ["b out", "s out", "a out"]


# ==== the end ====


async def test_closing_the_condition_sends_its_waiters_back_inside() -> None:
    async with trio.open_nursery() as nursery:
        stage = Stage(nursery, "hoare")
        await stage.wait("a")
        stage.condition.close()
        await settle()
        await stage.wait("b")
    assert stage.seen == ["a in", "a told inside", "a out", "b in", "b told inside", "b out"]


async def test_closing_the_monitor_reaches_those_who_wait_on_conditions() -> None:
    async with trio.open_nursery() as nursery:
        stage = Stage(nursery, "mesa")
        await stage.wait("a")
        stage.monitor.close()
    assert stage.seen == ["a in", "a told outside", "a out"]
    assert stage.monitor.statistics().owner is None


async def test_closing_the_monitor_reaches_those_who_signalled() -> None:
    async with trio.open_nursery() as nursery:
        stage = Stage(nursery, "hoare")

        async def wait() -> None:
            await stage.condition.wait()
            stage.monitor.close()
            with pytest.raises(trio.ClosedResourceError):
                await stage.condition.wait()

        await stage.act("a", wait)
        await stage.act("s", stage.condition.signal)
    assert sorted(stage.seen[2:]) == ["a out", "s out", "s told outside"]
    assert stage.monitor.statistics().owner is None


# ==== refusals ====


async def test_outside_the_monitor_conditions_refuse() -> None:
    for condition in (Monitor().condition(), Monitor(discipline="hoare").condition()):
        with pytest.raises(RuntimeError, match="must be inside the monitor to wait"):
            await condition.wait()
    with pytest.raises(RuntimeError, match="must be inside the monitor to notify"):
        Monitor().condition().notify()
    with pytest.raises(RuntimeError, match="must be inside the monitor to signal"):
        await condition.signal()


@pytest.mark.parametrize(
    "predicate", [trio.lowlevel.checkpoint, None, 3], ids=["async", "None", "3"]
)
async def test_what_is_no_predicate_is_refused_before_all_else(predicate: Any) -> None:
    with pytest.raises(TypeError, match=r"predicate must be (callable|a sync function)"):
        await Monitor().condition().wait_for(predicate)  # from outside, too


async def test_the_verb_of_the_other_discipline_is_refused() -> None:
    with pytest.raises(RuntimeError, match="'hoare': use await signal"):
        Monitor(discipline="hoare").condition().notify()
    with pytest.raises(RuntimeError, match=r"'mesa': use notify\(\)"):
        await Monitor().condition().signal()


def test_a_condition_shows_its_monitor() -> None:
    assert "on <Monitor at" in repr(Monitor().condition())


async def test_a_guard_cannot_wait_or_signal() -> None:
    inside, other = Monitor(discipline="hoare"), Monitor()
    condition = inside.condition()

    async def body() -> None:
        for forbidden in (condition.wait, condition.signal):
            step = forbidden()
            with pytest.raises(RuntimeError, match="must not change"):
                await other.entry(list, lambda step=step: step.send(None))()

    await inside.entry(body)()


async def test_hoare_the_repr_counts_those_who_signalled_as_the_statistics_do() -> None:
    seen: list[tuple[int, bool]] = []
    async with trio.open_nursery() as nursery:
        monitor = Monitor(discipline="hoare")
        condition = monitor.condition()

        async def wait() -> None:
            await condition.wait()
            seen.append((monitor.statistics().tasks_waiting, ", 1 waiting," in repr(monitor)))

        nursery.start_soon(monitor.entry(wait))
        await settle()
        await monitor.entry(condition.signal)()
    assert seen == [(1, True)]


# ==== observed and owned ====


async def test_hoare_a_signal_is_observed_as_a_release_and_two_grants() -> None:
    async with trio.open_nursery() as nursery:
        stage = Stage(nursery, "hoare")
        await stage.wait("a")
        events: list[tuple[str, str]] = []

        def observer(event: PrimitiveEvent) -> None:
            if event.primitive is stage.monitor:
                assert event.task is not None
                events.append((event.kind, event.task.name))

        with observe(observer):
            await stage.act("s", stage.condition.signal)
    assert events == [
        ("requested", "s"),
        ("granted", "s"),
        ("released", "s"),
        ("granted", "a"),
        ("released", "a"),
        ("granted", "s"),
        ("released", "s"),
    ]


async def test_a_scope_owns_a_monitor_and_its_condition() -> None:
    async with open_scope() as scope:
        monitor = scope.own(Monitor())
        condition = scope.own(monitor.condition())
        await monitor.entry(list)()
    with pytest.raises(trio.ClosedResourceError):
        await monitor.entry(condition.wait)()


async def test_a_scope_that_ends_while_a_task_is_inside_reports_it() -> None:
    stay = trio.Event()
    async with trio.open_nursery() as nursery:
        with pytest.raises(PermitLeakError):
            async with open_scope() as scope:
                nursery.start_soon(scope.own(Monitor()).entry(stay.wait))
                await settle()
        stay.set()


async def test_a_notification_without_a_number_wakes_one() -> None:
    class Room(Monitor):
        def __init__(self) -> None:
            super().__init__()
            self.arrived = self.condition()
            self.woken = 0

        @entry
        async def wait(self) -> None:
            await self.arrived.wait()
            self.woken += 1

        @entry
        def change(self) -> None:
            self.arrived.notify()

    room = Room()
    async with trio.open_nursery() as nursery:
        for _ in range(3):
            nursery.start_soon(room.wait)
        await trio.testing.wait_all_tasks_blocked()
        await room.change()
        await trio.testing.wait_all_tasks_blocked()
        assert room.woken == 1
        nursery.cancel_scope.cancel()
