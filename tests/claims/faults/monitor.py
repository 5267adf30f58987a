"""Faults of a monitor, each for one claim."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from structsync import Arbiter
from structsync._core.monitors.entry import EntryCore, Guard, Invocation
from structsync._core.monitors.hoare import HoareConditionCore
from structsync._core.monitors.lanes import Lanes
from structsync._core.monitors.monitor import MonitorCore
from structsync.specs import monitor_faults

from ...plants import monitor  # noqa: TID252 - the one home of the faults
from ._planting import Ended, OfASpec, Shared, fault

any_task_leaves = OfASpec(
    MonitorCore, monitor_faults.AnyTaskLeaves, "monitor.only_the_task_inside_leaves"
)


@fault(MonitorCore, "candidates", refuted_by="monitor.of_those_permitted_the_oldest_is_next")
def the_youngest_is_next(core: MonitorCore) -> Ended:
    return [*core.queue][::-1]


@fault(MonitorCore, "candidates", refuted_by="monitor.a_guard_on_the_state_answers_for_all")
def the_guard_is_evaluated_for_each_waiter(core: MonitorCore) -> Ended:
    return [*core.queue]


@fault(Guard, "holds", refuted_by="monitor.an_error_of_a_guard_ends_its_own_call_only")
def an_error_is_a_no(guard: Guard, invocation: Invocation) -> bool:
    try:
        return bool(guard.function(invocation))
    except LookupError:
        return False


@fault(MonitorCore, "remove", refuted_by="monitor.taking_an_entry_out_ends_its_calls_and_no_others")
def all_are_sent_away(core: MonitorCore, entry: EntryCore, cause: Any) -> Ended:
    entry.cause = cause
    return Arbiter.end(core, cause)


the_signaller_goes_to_the_end = Shared(
    monitor.a_signaller_gets_in_last,
    "monitor.a_signal_passes_the_monitor_on_and_its_sender_is_next",
)


@fault(
    HoareConditionCore, "signal", refuted_by="monitor.a_signal_that_finds_no_waiter_changes_nothing"
)
def the_monitor_is_left_in_any_case(
    core: HoareConditionCore, claim: Any, waiter: Any
) -> tuple[None, Ended]:
    return None, core.lock.release(claim)


signallers_are_forgotten = Shared(
    monitor.a_monitor_forgets_its_signallers_when_it_closes,
    "monitor.closing_reaches_signallers_and_waiters",
)


@fault(
    Lanes,
    "candidates",
    refuted_by="monitor.a_guard_on_the_state_that_raises_ends_all_that_it_was_evaluated_for",
)
def of_each_entry_the_oldest_alone_is_a_candidate(lanes: Lanes) -> Iterator[Any]:
    heads = [lane.head for lane in lanes.by_entry.values() if lane.head]
    yield from sorted(heads, key=lambda request: request.ticket)


@fault(MonitorCore, "candidates", refuted_by="monitor.once_one_is_let_in_no_guard_is_evaluated")
def all_guards_are_evaluated(core: MonitorCore) -> Iterator[Any]:
    for request in [*core.urgent, *core.queue.candidates()]:
        request.claim.entry.permits(request.claim)
        yield request
