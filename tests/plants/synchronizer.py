"""Faults of synchronizers."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest

from structsync._core.monitors import synchronizer
from structsync._core.monitors.entry import Invocation, Trigger
from structsync._core.monitors.synchronizer import Rules, SynchronizerCore
from structsync._core.queue.request import BROKEN, Request
from structsync._core.queue.user_code import UserCodeFailed
from structsync._primitives import entries, monitor


def what_is_disabled_starts_all_the_same(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Rules, "permit", lambda self, invocation: True)


def a_trigger_lets_no_task_in_elsewhere(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Rules, "to_settle", lambda self, request: [])


def the_first_of_two_does_not_wait_for_the_other(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Rules, "together", lambda self, call: [call])


def the_end_of_the_rules_lets_no_task_in(patch: pytest.MonkeyPatch) -> None:
    intact = SynchronizerCore.end
    patch.setattr(SynchronizerCore, "end", lambda self: intact(self)[:0])


def whose_trigger_raises_runs_all_the_same(patch: pytest.MonkeyPatch) -> None:
    def suppressed(self: Trigger, invocation: Invocation) -> None:
        with suppress(UserCodeFailed):
            intact(self, invocation)

    intact = Trigger.run
    patch.setattr(Trigger, "run", suppressed)


def a_trigger_that_raises_keeps_every_task_out(patch: pytest.MonkeyPatch) -> None:
    def grant(self: Rules, call: Request[Any]) -> None:
        intact(self, call)
        if call.status is BROKEN:
            self.arbiter.admit(call.claim)

    intact = Rules.grant
    patch.setattr(Rules, "grant", grant)


def partners_of_a_closed_member_wait_on(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(monitor, "break_waiters_of_partners", lambda rules, cause: None)


def partners_of_a_closed_entry_wait_on(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(entries, "break_waiters_of_partners", lambda rules, cause: None)


def what_triggers_permit_sleeps_on(patch: pytest.MonkeyPatch) -> None:
    """The other monitors of a synchronizer are not asked again after its triggers."""
    patch.setattr(Rules, "synchronizers", lambda self: ())


def groups_that_share_an_entry_stay_apart(patch: pytest.MonkeyPatch) -> None:
    def bonded(self: Rules) -> list[Rules]:
        return [self, *(one for _, group in self.bonds for one in group if one is not self)]

    patch.setattr(Rules, "bonded", bonded)


def the_youngest_partner_is_taken(patch: pytest.MonkeyPatch) -> None:
    def next_call(self: Rules) -> Request[Any] | None:
        queue = [one for one in self.arbiter.candidates() if one.claim.entry.rules is self]
        return next((one for one in reversed(queue) if self.arbiter.admits(one.claim)), None)

    patch.setattr(Rules, "next_call", next_call)


def an_error_of_a_trigger_is_forgotten(patch: pytest.MonkeyPatch) -> None:
    intact = synchronizer.run_triggers
    patch.setattr(synchronizer, "run_triggers", lambda calls: intact(calls) and None)


def one_synchronizer_overrules_the_others(patch: pytest.MonkeyPatch) -> None:
    def permit(self: Rules, invocation: Any) -> bool:
        return not self.disabling or not all(one.holds(invocation) for _, one in self.disabling)

    patch.setattr(Rules, "permit", permit)


def a_block_takes_all_rules_with_it(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(SynchronizerCore, "_forget", lambda self, rules: rules.clear())


def a_partner_waits_for_what_is_closed(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Rules, "refuse", lambda self: None)
