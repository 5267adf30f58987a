"""Faults of rules over several monitors, each for one claim."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from structsync._core.monitors.entry import Call, EntryCore, Invocation, Trigger
from structsync._core.monitors.synchronizer import Rules, SynchronizerCore, TriggerFailed

from ...plants import synchronizer  # noqa: TID252 - the one home of the faults
from ._planting import Shared, fault


@fault(
    Rules, "permit", refuted_by="synchronizer.a_call_is_permitted_if_no_synchronizer_disables_it"
)
def all_have_to_disable_it(rules: Rules, invocation: Invocation) -> bool:
    return not all(guard.holds(invocation) for _, guard in rules.disabling)


@fault(EntryCore, "permits", refuted_by="synchronizer.the_guard_of_the_entry_is_evaluated_first")
def synchronizers_are_considered_first(entry: EntryCore, invocation: Invocation) -> bool:
    return (entry.rules is None or entry.rules.permit(invocation)) and (
        entry.guard is None or entry.guard.holds(invocation)
    )


@fault(Trigger, "run", refuted_by="synchronizer.triggers_run_in_order_up_to_the_one_that_raises")
def an_error_of_a_trigger_is_swallowed(trigger: Trigger, invocation: Invocation) -> None:
    try:
        trigger.function()
    except LookupError:
        pass


no_task_waits_for_a_partner = Shared(
    synchronizer.the_first_of_two_does_not_wait_for_the_other,
    "synchronizer.all_of_a_group_start_or_none_does",
)


@fault(
    Rules,
    "next_call",
    refuted_by="synchronizer.of_the_partners_the_oldest_that_could_start_is_taken",
)
def the_oldest_is_taken_whatever_its_guard_returns(rules: Rules) -> Call | None:
    return cast("Call | None", next(iter(rules.arbiter.queue), None))


@fault(
    SynchronizerCore,
    "_forget",
    refuted_by="synchronizer.the_end_takes_back_its_own_rules_and_no_others",
)
def all_rules_are_taken_back(core: SynchronizerCore, rules: list[Any]) -> None:
    rules.clear()


it_waits_for_what_is_closed = Shared(
    synchronizer.a_partner_waits_for_what_is_closed,
    "synchronizer.a_call_that_starts_with_others_is_refused_where_one_of_them_is_closed",
)


@fault(
    SynchronizerCore,
    "atomic",
    refuted_by="synchronizer.entries_of_one_monitor_do_not_start_together",
)
def any_entries_start_together(core: SynchronizerCore, group: Sequence[Rules]) -> None:
    for one in group:
        core._concern(one).bonds.append((core, group))


@fault(
    TriggerFailed,
    "error_of",
    refuted_by="synchronizer.the_error_of_a_trigger_is_told_to_each_in_its_own_words",
)
def one_error_is_raised_in_each_task(failed: TriggerFailed, call: Any) -> BaseException:
    return failed.error


@fault(
    Rules,
    "next_call",
    refuted_by="synchronizer.a_partner_is_next_although_the_guard_of_another_fails",
)
def the_oldest_call_of_any_entry_is_the_partner(rules: Rules) -> Any:
    return next((one for one in rules.arbiter.candidates() if one.claim.entry.rules is rules), None)


def by_the_state_alone(rules: Any) -> bool:
    return False


no_rule_reads_a_call = fault(
    Rules, "reads_request", refuted_by="synchronizer.what_reads_a_call_is_known"
)(property(by_the_state_alone))


@fault(
    Rules,
    "bonded",
    refuted_by="synchronizer.to_know_which_calls_start_together_a_group_is_walked_once",
)
def each_member_walks_its_group(rules: Rules, ended: Any = ()) -> list[Rules]:
    found = {rules: None}
    for one in [one for _, group in rules.bonds for one in group]:
        for _, group in one.bonds:
            found |= dict.fromkeys(group)
    return [*found]
