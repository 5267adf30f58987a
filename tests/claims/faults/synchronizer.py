"""Faults of rules over several monitors, each for one claim."""

from __future__ import annotations

from typing import Any, cast

from structsync._core.monitors.entry import Call, EntryCore, Invocation, Trigger
from structsync._core.monitors.synchronizer import Rules, SynchronizerCore

from ...plants import synchronizer  # noqa: TID252 - the one home of the faults
from ._planting import Shared, fault


@fault(
    Rules, "permit", refuted_by="synchronizer.a_call_is_permitted_if_no_synchronizer_disables_it"
)
def all_have_to_disable_it(rules: Rules, invocation: Invocation) -> bool:
    return not all(guard.holds(invocation) for _, guard in rules.disabling)


@fault(EntryCore, "permits", refuted_by="synchronizer.the_guard_of_the_entry_is_asked_first")
def synchronizers_are_asked_first(entry: EntryCore, invocation: Invocation) -> bool:
    return (entry.rules is None or entry.rules.permit(invocation)) and (
        entry.guard is None or entry.guard.holds(invocation)
    )


@fault(Trigger, "run", refuted_by="synchronizer.triggers_run_in_order_up_to_the_one_that_raises")
def an_error_of_a_trigger_is_swallowed(trigger: Trigger, invocation: Invocation) -> None:
    try:
        trigger.function()
    except LookupError:
        pass


nobody_waits_for_a_partner = Shared(
    synchronizer.the_first_of_two_does_not_wait_for_the_other,
    "synchronizer.all_of_a_group_start_or_none_does",
)


@fault(
    Rules,
    "next_call",
    refuted_by="synchronizer.of_the_partners_the_oldest_that_could_start_is_taken",
)
def the_oldest_is_taken_whatever_its_guard_says(rules: Rules) -> Call | None:
    return cast("Call | None", next(iter(rules.arbiter.queue), None))


@fault(
    SynchronizerCore,
    "_forget",
    refuted_by="synchronizer.the_end_takes_back_its_own_rules_and_no_others",
)
def all_rules_are_taken_back(core: SynchronizerCore, rules: list[Any]) -> None:
    rules.clear()
