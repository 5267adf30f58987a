"""The events of a semaphore, conditions and a monitor are those that their specifications allow.

The fault is planted in the primitive alone: the specification keeps the core that ships.
"""

from typing import Any

import pytest
import trio
from trio.testing import MockClock

from structsync import Condition, Lock, Semaphore
from structsync._core.monitors.monitor import MonitorCore
from structsync.checking import TraceRefuted, validate
from structsync.specs._broken_conditions import NoHeir
from structsync.specs.semaphore_faults import (
    HandsOverToTheNewest,
    NewcomerBarges,
    WithdrawalWakesNoTask,
)

from .traced_specs import (
    Box,
    TracedCondition,
    TracedMonitor,
    TracedSemaphore,
    fill_and_empty,
    notify_and_cancel,
    seen_of_box,
    seen_of_semaphore,
    several_users,
)


def run(program: Any, *arguments: Any) -> None:
    async def in_time() -> None:
        with trio.move_on_after(100):  # a wrong primitive may let it wait forever
            await program(*arguments)

    trio.run(in_time, clock=MockClock(autojump_threshold=0))


def semaphore_events() -> int:
    semaphore = Semaphore(2, max_value=2)
    with validate(TracedSemaphore, semaphore, observed=seen_of_semaphore) as trace:
        run(several_users, semaphore)
    return trace.events


def condition_events() -> int:
    lock = Lock(name="lock")
    full, empty = Condition(lock, name="full"), Condition(lock, name="empty")
    with validate(TracedCondition, lock, full, empty) as trace:
        run(notify_and_cancel, lock, full, empty)
    return trace.events


def monitor_events() -> int:
    box = Box()
    with validate(TracedMonitor, box, observed=seen_of_box) as trace:
        run(fill_and_empty, box)
    return trace.events


def test_a_semaphore_does_what_its_specification_allows() -> None:
    assert semaphore_events() == 20


def test_conditions_do_what_their_specification_allows() -> None:
    assert condition_events() > 20


def test_a_monitor_does_what_its_specification_allows() -> None:
    assert monitor_events() > 12


@pytest.mark.parametrize("fault", [WithdrawalWakesNoTask, NewcomerBarges, HandsOverToTheNewest])
def test_a_wrong_semaphore_is_found(fault: type, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("structsync._primitives.semaphore.SemaphoreCore", fault)
    with pytest.raises(TraceRefuted, match="TracedSemaphore"):
        semaphore_events()


def test_a_wrong_condition_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("structsync._primitives.condition.ConditionCore", NoHeir)
    with pytest.raises(TraceRefuted, match="TracedCondition"):
        condition_events()


class LeavingEvaluatesNoGuard(MonitorCore):
    def release(self, claim: Any) -> Any:
        self.discharge(claim)
        return []


def test_a_wrong_monitor_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("structsync._primitives.monitor.MonitorCore", LeavingEvaluatesNoGuard)
    with pytest.raises(TraceRefuted, match="TracedMonitor"):
        monitor_events()
