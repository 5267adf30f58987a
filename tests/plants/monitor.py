"""Faults of monitors."""

from __future__ import annotations

from typing import Any

import pytest

from structsync import Monitor
from structsync._core.monitors.entry import EntryCore, Invocation
from structsync._core.monitors.hoare import HoareConditionCore
from structsync._core.monitors.lanes import Lanes
from structsync._core.monitors.monitor import MonitorCore
from structsync._core.queue.arbiter import Arbiter
from structsync._core.queue.request import Queue, Request
from structsync.specs import monitor_faults

from ._reuse import plant


def two_are_inside(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(MonitorCore, "admits", lambda self, claim: claim.entry.permits(claim))
    patch.setattr(MonitorCore, "admissible", lambda self, claim, priority=0: self.admits(claim))


def guards_are_not_evaluated(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(EntryCore, "permits", lambda self, invocation: True)


def guards_are_evaluated_on_arrival_only(patch: pytest.MonkeyPatch) -> None:
    """A newcomer whose guard holds goes in, and it is not asked again when it is its turn."""
    intact = MonitorCore.admissible

    def admissible(self: MonitorCore, claim: Invocation, priority: int = 0) -> bool:
        answer = intact(self, claim, priority)
        if self.owner is not None and claim.entry.permits(claim):
            claim.entry = self.reentry
        return answer

    patch.setattr(MonitorCore, "admissible", admissible)


def a_monitor_left_lets_no_task_in(patch: pytest.MonkeyPatch) -> None:
    plant(patch, MonitorCore, monitor_faults.LeavingEvaluatesNoGuard)


def a_guard_that_is_removed_lets_no_task_in(patch: pytest.MonkeyPatch) -> None:
    plant(patch, MonitorCore, monitor_faults.ReplacingAGuardEvaluatesNone)


def a_change_evaluates_no_guard(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Monitor, "changed", lambda self: None)


def the_oldest_call_of_an_entry_blocks_the_others(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(EntryCore, "reads_request", property(lambda self: False))


def a_monitor_forgets_its_conditions_when_it_closes(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(MonitorCore, "end", Arbiter.end)


def a_monitor_forgets_its_signallers_when_it_closes(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(MonitorCore, "waiting", Arbiter.waiting)


def a_monitor_that_closes_leaves_its_signallers_waiting(patch: pytest.MonkeyPatch) -> None:
    intact = MonitorCore.end

    def end(self: MonitorCore, cause: Any) -> list[Request[Any]]:
        signallers, self.urgent = self.urgent, Queue()
        ended = intact(self, cause)
        self.urgent = signallers
        return ended

    patch.setattr(MonitorCore, "end", end)


def a_closed_monitor_takes_new_calls(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(MonitorCore, "refuse", lambda self, claim: self.refuse_impossible(claim))


def an_entry_that_closes_forgets_its_callers(patch: pytest.MonkeyPatch) -> None:
    plant(patch, MonitorCore, monitor_faults.TakenOutTellsNoTask)


def the_waiter_that_was_signalled_waits_in_queue(patch: pytest.MonkeyPatch) -> None:
    """Mesa in place of Hoare: who stands in the queue already goes before it."""

    def signal(
        self: HoareConditionCore, claim: Any, waiter: Any
    ) -> tuple[None, list[Request[Any]]]:
        self.notify(1)
        return None, []

    patch.setattr(HoareConditionCore, "signal", signal)


def a_signaller_gets_in_last(patch: pytest.MonkeyPatch) -> None:
    def hand_over(self: MonitorCore, signaller: Request[Any], waiter: Request[Any]) -> None:
        self.discharge(signaller.claim)
        self.join(signaller)
        self.grant(waiter)

    patch.setattr(MonitorCore, "hand_over", hand_over)


def a_signaller_is_forgotten(patch: pytest.MonkeyPatch) -> None:
    intact = MonitorCore.hand_over

    def hand_over(self: MonitorCore, signaller: Request[Any], waiter: Request[Any]) -> None:
        intact(self, signaller, waiter)
        self.urgent.clear()

    patch.setattr(MonitorCore, "hand_over", hand_over)


def entries_take_turns(patch: pytest.MonkeyPatch) -> None:
    """Each entry's calls in order, and not those of all entries."""

    def candidates(self: MonitorCore) -> list[Request[Any]]:
        calls = [request for lane in self.queue.by_entry.values() for request in lane]
        return [*self.urgent, *calls]

    patch.setattr(MonitorCore, "candidates", candidates)


def a_lane_that_is_empty_stays(patch: pytest.MonkeyPatch) -> None:
    """A newcomer stands behind those who have left."""

    def remove(self: Lanes, request: Request[Any]) -> None:
        self.by_entry[request.claim.entry].remove(request)
        self.length -= 1

    patch.setattr(Lanes, "remove", remove)


def a_restored_monitor_has_no_lanes(patch: pytest.MonkeyPatch) -> None:
    """Its calls are counted, and no task finds them."""
    intact = MonitorCore.restore

    def restore(self: MonitorCore, snapshot: Any) -> None:
        intact(self, snapshot)
        self.queue.by_entry.clear()

    patch.setattr(MonitorCore, "restore", restore)


def a_restored_monitor_knows_no_signallers(patch: pytest.MonkeyPatch) -> None:
    def restore(self: MonitorCore, snapshot: Any) -> None:
        rest, _ = snapshot
        Arbiter.restore(self, rest)

    patch.setattr(MonitorCore, "restore", restore)


def nowait_does_not_look(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(MonitorCore, "admissible_or_error", lambda self, claim, priority=0: True)
