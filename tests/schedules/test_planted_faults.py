"""A sweep that cannot fail proves nothing: the tests of this folder find the faults planted here.

Each within so many executions; what it took is told at the end of the run.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from trio.lowlevel import Abort, cancel_shielded_checkpoint, checkpoint, current_task

from structsync import Monitor, RWLock, _park, _park_together, monitor, scope
from structsync._core.arbiter import Arbiter
from structsync._core.barrier import BarrierCore
from structsync._core.capacity_limiter import CapacityLimiterCore
from structsync._core.condition import ConditionCore
from structsync._core.entry import EntryCore, Invocation, Trigger
from structsync._core.group import Claims
from structsync._core.hoare import HoareConditionCore
from structsync._core.latch import LatchCore
from structsync._core.lock import LockCore
from structsync._core.monitor import MonitorCore
from structsync._core.parker import ParkerCore
from structsync._core.policy import Eligible, Fifo, Priority
from structsync._core.request import BROKEN, GRANTED, WITHDRAWN, Request
from structsync._core.rwlock import READ, WRITE, Access, PhaseFairCore, RWLockCore
from structsync._core.semaphore import SemaphoreCore
from structsync._core.synchronizer import Rules, SynchronizerCore
from structsync._core.wait_queue import WaitQueueCore
from structsync.claims import Claim
from structsync.primitive import OwnedPrimitive

from . import (
    test_acquire_all,
    test_barrier_and_latch,
    test_capacity_limiter,
    test_condition,
    test_lock,
    test_monitor,
    test_parker,
    test_rwlock,
    test_rwlock_in_groups,
    test_scope,
    test_semaphore,
    test_synchronizer,
    test_user_written,
    test_wait_queue,
)
from .sweeping import FOUND, SWEPT, Size

Plant = Callable[[pytest.MonkeyPatch], None]

PARKING = (_park, _park_together)

#: Twice of what the one that hides best takes; half of them fail in the first execution.
BUDGET = 1_600


# ==== Faults of all primitives, in the queue discipline and in the shell ====


def a_withdrawal_lets_nobody_in(patch: pytest.MonkeyPatch) -> None:
    def withdraw(self: Arbiter[Any], request: Request[Any]) -> list[Request[Any]] | None:
        if not self.leave(request):
            return None
        request.status = WITHDRAWN
        return []

    patch.setattr(Arbiter, "withdraw", withdraw)


def a_release_lets_nobody_in(patch: pytest.MonkeyPatch) -> None:
    def release(self: Arbiter[Any], claim: Any) -> list[Request[Any]]:
        self.give_back(claim)
        return []

    patch.setattr(Arbiter, "release", release)


def those_let_in_are_not_woken(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(_park, "reschedule", lambda *_: None)


def a_cancelled_acquire_stays_in_line(patch: pytest.MonkeyPatch) -> None:
    def abort(primitive: Any, request: Request[Any], *_: object) -> Abort:
        request.parked = False
        return Abort.SUCCEEDED

    patch.setattr(_park, "abort", abort)


def a_cancellation_beats_a_grant(patch: pytest.MonkeyPatch) -> None:
    """After the take comes a checkpoint that can be cancelled, and nobody gives back."""
    for module in PARKING:
        patch.setattr(module, "cancel_shielded_checkpoint", checkpoint)


def others_run_between_the_look_and_the_take(patch: pytest.MonkeyPatch) -> None:
    for module in PARKING:
        patch.setattr(module, "checkpoint_if_cancelled", cancel_shielded_checkpoint)


def newcomers_barge(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Fifo, "may_pass", lambda self, line, ticket, priority: True)


def the_last_in_line_is_served_first(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Fifo, "candidates", staticmethod(lambda line: reversed(line.values())))


def closing_forgets_those_in_line(patch: pytest.MonkeyPatch) -> None:
    def end(self: Arbiter[Any], cause: str) -> list[Request[Any]]:
        self.cause = cause
        return []

    patch.setattr(Arbiter, "end", end)


def a_closed_primitive_still_grants(patch: pytest.MonkeyPatch) -> None:
    def admissible(self: Arbiter[Any], claim: Any, priority: int = 0) -> bool:
        return not self.line and self.admits(claim)

    patch.setattr(Arbiter, "admissible", admissible)


# ==== Semaphore ====


def one_permit_is_granted_twice(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(SemaphoreCore, "admits", lambda self, claim: claim <= self.value + 1)


def half_a_claim_is_taken(patch: pytest.MonkeyPatch) -> None:
    def admit(self: SemaphoreCore, claim: int) -> None:
        self.value -= min(claim, 2)

    patch.setattr(SemaphoreCore, "admit", admit)


def a_resize_lets_nobody_in(patch: pytest.MonkeyPatch) -> None:
    intact = SemaphoreCore.resize
    patch.setattr(SemaphoreCore, "resize", _without_settling(intact))


def the_priority_is_ignored(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Priority, "candidates", lambda self, line: line.values())


def the_eligible_wait_behind_what_does_not_fit(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Eligible, "head_blocks", True)


def who_stops_waiting_loses_the_place(patch: pytest.MonkeyPatch) -> None:
    """A request whose wait was cancelled is withdrawn."""

    def stop(request: Request[Any]) -> list[Request[Any]] | None:
        if request.status != "pending":
            return None
        request.status = WITHDRAWN
        return []

    patch.setattr(_park, "_keep_place", stop)


def a_withdrawal_of_what_is_granted_says_yes(patch: pytest.MonkeyPatch) -> None:
    intact = _park.withdraw
    patch.setattr(
        _park, "withdraw", lambda p, request: intact(p, request) or request.status == "granted"
    )


# ==== Lock ====


def the_lock_is_granted_to_two(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(LockCore, "admits", lambda self, claim: True)


def the_end_of_an_owner_is_ignored(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(OwnedPrimitive, "_owner_exited", lambda self, task: None)


def what_an_ended_task_asked_for_stays_in_line(patch: pytest.MonkeyPatch) -> None:
    intact = LockCore.owner_exited

    def owner_exited(self: LockCore, claimant: Any, cause: Any) -> list[Request[Any]]:
        return intact(self, claimant, cause) if self.owner == claimant else []

    patch.setattr(LockCore, "owner_exited", owner_exited)


# ==== Condition ====


def a_notification_is_lost_with_its_waiter(patch: pytest.MonkeyPatch) -> None:
    """As in trio: a notified waiter that is cancelled takes the notification with it."""

    def stop_waiting(self: ConditionCore, request: Request[Any]) -> bool:
        return self._pop(request) or self.lock.leave(request)

    patch.setattr(ConditionCore, "_stop_waiting", stop_waiting)


def a_cancelled_waiter_does_not_come_back(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(ConditionCore, "_rejoin", lambda self, request: None)


def a_notified_waiter_owns_nothing(patch: pytest.MonkeyPatch) -> None:
    """The notification wakes it at once, and it does not wait for the lock."""

    def notify(self: ConditionCore, count: int | None) -> list[Request[Any]]:
        ended = self._oldest(count)
        for request in ended:
            self._pop(request)
            request.status = "granted"  # type: ignore[assignment]  # equal to the member
        return ended

    patch.setattr(ConditionCore, "notify", notify)


def one_is_notified_whatever_was_asked(patch: pytest.MonkeyPatch) -> None:
    intact = ConditionCore.notify
    patch.setattr(ConditionCore, "notify", lambda self, count: intact(self, 1))


def the_lock_forgets_its_conditions_when_it_breaks(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(LockCore, "end", Arbiter.end)


# ==== Monitor ====


def two_are_inside(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(MonitorCore, "admits", lambda self, claim: claim.entry.permits(claim))
    patch.setattr(MonitorCore, "admissible", lambda self, claim: self.admits(claim))


def guards_are_not_asked(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(EntryCore, "permits", lambda self, invocation: True)


def guards_are_asked_on_arrival_only(patch: pytest.MonkeyPatch) -> None:
    """A newcomer whose guard holds goes in, and it is not asked again when it is its turn."""
    intact = MonitorCore.admissible

    def admissible(self: MonitorCore, claim: Invocation, priority: int = 0) -> bool:
        answer = intact(self, claim, priority)
        if self.owner is not None and claim.entry.permits(claim):
            claim.entry = self.reentry
        return answer

    patch.setattr(MonitorCore, "admissible", admissible)


def a_monitor_left_lets_nobody_in(patch: pytest.MonkeyPatch) -> None:
    def release(self: MonitorCore, claim: Invocation) -> list[Request[Any]]:
        self.give_back(claim)
        return []

    patch.setattr(MonitorCore, "release", release)


def a_change_asks_nobody(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Monitor, "changed", lambda self: None)


def the_oldest_call_of_an_entry_blocks_the_others(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(EntryCore, "particular", property(lambda self: False))


def a_monitor_forgets_its_conditions_when_it_closes(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(MonitorCore, "end", Arbiter.end)


def a_monitor_forgets_its_signallers_when_it_closes(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(MonitorCore, "waiting", Arbiter.waiting)


def a_closed_monitor_takes_new_calls(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(MonitorCore, "refuse", lambda self, claim: self.refuse_impossible(claim))


def an_entry_that_closes_forgets_its_callers(patch: pytest.MonkeyPatch) -> None:
    def remove(self: MonitorCore, entry: EntryCore, cause: Any) -> list[Request[Any]]:
        entry.cause = cause
        return []

    patch.setattr(MonitorCore, "remove", remove)


def the_waiter_that_was_signalled_waits_in_line(patch: pytest.MonkeyPatch) -> None:
    """Mesa in place of Hoare: who stands in line already goes before it."""

    def signal(
        self: HoareConditionCore, claim: Any, waiter: Any
    ) -> tuple[None, list[Request[Any]]]:
        self.notify(1)
        return None, []

    patch.setattr(HoareConditionCore, "signal", signal)


def a_signaller_gets_in_last(patch: pytest.MonkeyPatch) -> None:
    def hand_over(self: MonitorCore, signaller: Request[Any], waiter: Request[Any]) -> None:
        self.give_back(signaller.claim)
        self.join(signaller)
        self.admit(waiter.claim)
        waiter.status = GRANTED

    patch.setattr(MonitorCore, "hand_over", hand_over)


def a_signaller_is_forgotten(patch: pytest.MonkeyPatch) -> None:
    intact = MonitorCore.hand_over

    def hand_over(self: MonitorCore, signaller: Request[Any], waiter: Request[Any]) -> None:
        intact(self, signaller, waiter)
        self.urgent.clear()

    patch.setattr(MonitorCore, "hand_over", hand_over)


# ==== WaitQueue ====


def a_wake_is_kept(patch: pytest.MonkeyPatch) -> None:
    def wake(self: WaitQueueCore, count: int | None) -> list[Request[None]]:
        self.wakes = len(self.line) if count is None else count
        return self.settle()

    patch.setattr(WaitQueueCore, "wake", wake)


def waking_all_leaves_one_behind(patch: pytest.MonkeyPatch) -> None:
    intact = WaitQueueCore.wake

    def wake(self: WaitQueueCore, count: int | None) -> list[Request[None]]:
        return intact(self, max(1, len(self.line) - 1) if count is None else count)

    patch.setattr(WaitQueueCore, "wake", wake)


# ==== Parker ====


def an_unblock_that_comes_first_is_lost(patch: pytest.MonkeyPatch) -> None:
    def give_back(self: ParkerCore, claim: None) -> None:
        self.unblocks = len(self.line)

    patch.setattr(ParkerCore, "give_back", give_back)


def an_unblock_is_used_twice(patch: pytest.MonkeyPatch) -> None:
    def admit(self: ParkerCore, claim: None) -> None:
        self.unblocks -= len(self.line)

    patch.setattr(ParkerCore, "admit", admit)


def two_may_block(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(ParkerCore, "refuse_impossible", lambda self, claim: None)


# ==== CapacityLimiter ====


def one_token_too_many(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(
        CapacityLimiterCore, "admits", lambda self, _: len(self.borrowers) <= self.total_tokens
    )


def more_tokens_let_nobody_in(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(CapacityLimiterCore, "resize", _without_settling(CapacityLimiterCore.resize))


def a_borrower_may_wait_twice(patch: pytest.MonkeyPatch) -> None:
    """As in trio: both waits are granted, and one token is counted."""
    patch.setattr(CapacityLimiterCore, "refuse_impossible", lambda self, claim: None)
    patch.setattr(
        CapacityLimiterCore, "admits", lambda self, _: len(self.borrowers) < self.total_tokens
    )


# ==== RWLock ====


def readers_enter_beside_a_writer(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(RWLockCore, "admits", lambda self, claim: not self.readers)


def one_reader_that_leaves_lets_a_writer_in(patch: pytest.MonkeyPatch) -> None:
    def admits(self: RWLockCore, claim: Access) -> bool:
        return self.writer is None and (claim.mode is READ or len(self.readers) < 2)

    patch.setattr(RWLockCore, "admits", admits)


def readers_that_wait_stay_where_a_writer_leaves(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(PhaseFairCore, "writing_ended", lambda self: [])


def a_downgrade_lets_another_writer_in(patch: pytest.MonkeyPatch) -> None:
    intact = PhaseFairCore.writing_ended

    def writing_ended(self: PhaseFairCore) -> list[Request[Any]]:
        readers, self.readers = self.readers, {}
        ended = intact(self)
        self.readers |= readers
        return ended

    patch.setattr(PhaseFairCore, "writing_ended", writing_ended)


# ==== Barrier and Latch ====


def a_round_is_one_party_short(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(BarrierCore, "full", property(lambda self: len(self.line) >= self.parties - 1))


def a_round_leaves_one_behind(patch: pytest.MonkeyPatch) -> None:
    """It counts for the next round."""

    def trip(self: BarrierCore) -> list[Request[Any]]:
        self.places = self.parties - 1
        return self.settle()

    patch.setattr(BarrierCore, "trip", trip)


def numbers_are_given_on_arrival(patch: pytest.MonkeyPatch) -> None:
    """As in asyncio: how many wait, which is the same twice after a cancellation."""
    intact = BarrierCore.enqueue

    def enqueue(self: BarrierCore, *args: Any, **options: Any) -> Request[Any]:
        request = intact(self, *args, **options)
        request.claim = len(self.line) - 1
        return request

    def trip(self: BarrierCore) -> list[Request[Any]]:
        self.places = self.parties
        return self.settle()

    patch.setattr(BarrierCore, "enqueue", enqueue)
    patch.setattr(BarrierCore, "trip", trip)


def a_deserter_only_leaves(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(BarrierCore, "desert", lambda self, request, cause: self.withdraw(request))


def a_cancelled_party_fills_the_round(patch: pytest.MonkeyPatch) -> None:
    """It comes last and cancelled, the others go on, and it raises."""
    patch.setattr(_park_together, "current_effective_deadline", lambda: 0)
    patch.setattr(_park_together, "cancel_shielded_checkpoint", checkpoint)


def the_latch_opens_early(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(LatchCore, "admits", lambda self, claim: self.count <= 1)


def the_last_count_lets_one_in(patch: pytest.MonkeyPatch) -> None:
    intact = LatchCore.release
    patch.setattr(LatchCore, "release", lambda self, claim: intact(self, claim)[:1])


# ==== Groups ====


def a_group_leaves_the_other_lines_asleep(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(_park, "carry_on", lambda ended: [])


def a_group_stays_in_the_other_lines(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Claims, "ended_with", lambda self, request: None)


def a_group_takes_what_is_not_its_turn(patch: pytest.MonkeyPatch) -> None:
    """It is next in one line, and passes those before it in the others."""
    patch.setattr(
        Claims,
        "consents",
        lambda self, request: all(one.arbiter.admits(one.claim) for one in self.members),
    )


def a_group_is_granted_where_there_is_no_room(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Claims, "consents", lambda self, request: True)


def a_choice_is_granted_twice(patch: pytest.MonkeyPatch) -> None:
    intact = Claims.ended_with

    def ended_with(self: Claims, request: Request[Any]) -> None:
        every, self.every = self.every, True
        intact(self, request)
        self.every = every

    patch.setattr(Claims, "ended_with", ended_with)


def a_block_gives_back_the_first_alone(patch: pytest.MonkeyPatch) -> None:
    intact = Claims.granted
    patch.setattr(Claims, "granted", lambda self: intact(self)[:1])


def a_claim_to_write_only_reads(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(RWLock, "write_claim", RWLock.read_claim)


def a_claim_is_made_for_who_made_it(patch: pytest.MonkeyPatch) -> None:
    """And not for who acquires."""

    def write_claim(self: RWLock) -> Claim:
        maker = current_task()
        return Claim(self, lambda task: Access(WRITE, maker))

    patch.setattr(RWLock, "write_claim", write_claim)


# ==== Synchronizer ====


def what_is_disabled_starts_all_the_same(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Rules, "permit", lambda self, invocation: True)


def a_trigger_lets_nobody_in_elsewhere(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Rules, "left", lambda self, request: [])


def the_first_of_two_does_not_wait_for_the_other(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Rules, "together", lambda self, call: [call])


def the_end_of_the_rules_lets_nobody_in(patch: pytest.MonkeyPatch) -> None:
    intact = SynchronizerCore.end
    patch.setattr(SynchronizerCore, "end", lambda self: intact(self)[:0])


def whose_trigger_raises_runs_all_the_same(patch: pytest.MonkeyPatch) -> None:
    def suppressed(self: Trigger, invocation: Invocation) -> None:
        with suppress(ValueError):
            intact(self, invocation)

    intact = Trigger.run
    patch.setattr(Trigger, "run", suppressed)


def a_trigger_that_raises_keeps_everybody_out(patch: pytest.MonkeyPatch) -> None:
    def start(self: Rules, call: Request[Any]) -> bool:
        ended = intact(self, call)
        if call.status is BROKEN:
            self.arbiter.admit(call.claim)
        return ended

    intact = Rules.start
    patch.setattr(Rules, "start", start)


def partners_of_a_closed_member_wait_on(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(monitor, "turn_partners_away", lambda rules, cause: None)


# ==== Scope ====


def a_scope_leaves_open_what_it_owns(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(scope._Account, "close", lambda self: None)


def a_scope_does_not_look_for_leaks(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(scope._Account, "settle", lambda self: None)


# ==== The ferry ====


def the_ferry_boards_after_landing(patch: pytest.MonkeyPatch) -> None:
    def give_back(self: Any, claim: str) -> None:
        self.aboard -= 1

    patch.setattr(test_user_written.ferries.FerryCore, "give_back", give_back)


def the_ferry_boards_from_both_banks(patch: pytest.MonkeyPatch) -> None:
    def admits(self: Any, claim: str) -> bool:
        return bool(self.aboard < self.seats and not self.landed)

    patch.setattr(test_user_written.ferries.FerryCore, "admits", admits)


def _without_settling(resize: Callable[..., Any]) -> Callable[..., list[Request[Any]]]:
    def changed(self: Any, total: Any) -> list[Request[Any]]:
        settle = self.settle
        self.settle = list
        try:
            resize(self, total)
        finally:
            self.settle = settle
            del self.settle
        return []

    return changed


TEST_OF: list[tuple[Callable[[Size], None], tuple[Plant, ...]]] = [
    (
        test_semaphore.test_no_more_than_two_hold_a_permit_of_two,
        (
            a_release_lets_nobody_in,
            those_let_in_are_not_woken,
            a_cancelled_acquire_stays_in_line,
            a_cancellation_beats_a_grant,
            others_run_between_the_look_and_the_take,
            one_permit_is_granted_twice,
        ),
    ),
    (
        test_semaphore.test_who_takes_several_permits_takes_all_or_none,
        (
            a_withdrawal_lets_nobody_in,
            newcomers_barge,
            half_a_claim_is_taken,
            the_last_in_line_is_served_first,
        ),
    ),
    (test_semaphore.test_resizing_changes_how_many_permits_there_are, (a_resize_lets_nobody_in,)),
    (
        test_semaphore.test_closing_sends_everybody_away_who_waits,
        (closing_forgets_those_in_line, a_closed_primitive_still_grants),
    ),
    (test_semaphore.test_the_first_priority_is_served_first, (the_priority_is_ignored,)),
    (
        test_semaphore.test_the_eligible_pass_a_claim_that_does_not_fit,
        (the_eligible_wait_behind_what_does_not_fit,),
    ),
    (
        test_semaphore.test_a_cancelled_wait_for_a_request_keeps_its_place,
        (who_stops_waiting_loses_the_place,),
    ),
    (
        test_semaphore.test_a_request_can_be_withdrawn_by_somebody_else,
        (a_withdrawal_of_what_is_granted_says_yes,),
    ),
    (
        test_lock.test_one_task_owns_the_lock,
        (
            the_lock_is_granted_to_two,
            a_release_lets_nobody_in,
            a_cancelled_acquire_stays_in_line,
            a_cancellation_beats_a_grant,
            the_last_in_line_is_served_first,
        ),
    ),
    (
        test_lock.test_an_owner_that_ends_breaks_the_lock_for_everybody,
        (the_end_of_an_owner_is_ignored,),
    ),
    (
        test_lock.test_a_request_left_behind_ends_with_its_task,
        (what_an_ended_task_asked_for_stays_in_line,),
    ),
    (
        test_condition.test_a_notification_reaches_somebody_though_its_waiter_is_cancelled,
        (
            a_notification_is_lost_with_its_waiter,
            a_cancelled_waiter_does_not_come_back,
            a_notified_waiter_owns_nothing,
        ),
    ),
    (
        test_condition.test_as_many_are_notified_as_notify_says,
        (one_is_notified_whatever_was_asked,),
    ),
    (
        test_condition.test_an_owner_that_ends_is_told_to_the_waiters_of_each_condition,
        (the_lock_forgets_its_conditions_when_it_breaks,),
    ),
    (
        test_monitor.test_one_task_is_inside_and_its_guard_holds,
        (
            two_are_inside,
            guards_are_asked_on_arrival_only,
            a_cancellation_beats_a_grant,
            a_change_asks_nobody,
        ),
    ),
    (
        test_monitor.test_a_buffer_by_guards_loses_no_item_and_invents_none,
        (
            guards_are_not_asked,
            a_monitor_left_lets_nobody_in,
            a_cancelled_acquire_stays_in_line,
            those_let_in_are_not_woken,
        ),
    ),
    (
        test_monitor.test_a_guard_that_looks_at_the_request_passes_over_older_calls,
        (the_oldest_call_of_an_entry_blocks_the_others,),
    ),
    (
        test_monitor.test_mesa_a_notification_reaches_somebody_though_its_waiter_is_cancelled,
        (
            a_notification_is_lost_with_its_waiter,
            a_cancelled_waiter_does_not_come_back,
            a_notified_waiter_owns_nothing,
        ),
    ),
    (
        test_monitor.test_hoare_what_the_signaller_saw_is_true_when_the_waiter_goes_on,
        (
            the_waiter_that_was_signalled_waits_in_line,
            a_signaller_gets_in_last,
            a_signaller_is_forgotten,
        ),
    ),
    (
        test_monitor.test_closing_reaches_those_outside_and_those_on_a_condition,
        (
            closing_forgets_those_in_line,
            a_monitor_forgets_its_conditions_when_it_closes,
            a_closed_monitor_takes_new_calls,
        ),
    ),
    (
        test_monitor.test_closing_reaches_a_signaller_that_waits_to_get_in_again,
        (a_monitor_forgets_its_signallers_when_it_closes,),
    ),
    (
        test_monitor.test_closing_an_entry_sends_its_callers_away,
        (an_entry_that_closes_forgets_its_callers,),
    ),
    (
        test_wait_queue.test_a_wake_is_never_spent_on_a_wait_that_is_cancelled,
        (a_cancelled_acquire_stays_in_line, those_let_in_are_not_woken),
    ),
    (test_wait_queue.test_a_wake_wakes_one_who_waits_and_is_not_kept, (a_wake_is_kept,)),
    (
        test_wait_queue.test_waking_all_wakes_those_who_wait_now,
        (waking_all_leaves_one_behind,),
    ),
    (
        test_parker.test_each_block_uses_one_unblock_in_whatever_order,
        (
            an_unblock_that_comes_first_is_lost,
            an_unblock_is_used_twice,
            a_cancelled_acquire_stays_in_line,
        ),
    ),
    (test_parker.test_one_task_blocks_and_others_are_refused, (two_may_block,)),
    (
        test_rwlock.test_a_writer_is_alone,
        (
            readers_enter_beside_a_writer,
            a_release_lets_nobody_in,
            a_withdrawal_lets_nobody_in,
            a_cancelled_acquire_stays_in_line,
            a_cancellation_beats_a_grant,
            newcomers_barge,
        ),
    ),
    (
        test_rwlock.test_a_writer_is_alone_in_its_phase,
        (readers_that_wait_stay_where_a_writer_leaves,),
    ),
    (
        test_rwlock.test_a_writer_is_alone_where_readers_come_first,
        (those_let_in_are_not_woken,),
    ),
    (
        test_rwlock.test_a_writer_is_alone_where_writers_come_first,
        (one_reader_that_leaves_lets_a_writer_in,),
    ),
    (
        test_rwlock.test_nobody_writes_between_a_write_and_its_downgrade,
        (a_downgrade_lets_another_writer_in,),
    ),
    (
        test_rwlock.test_a_holder_that_ends_breaks_the_lock_for_everybody,
        (the_end_of_an_owner_is_ignored,),
    ),
    (
        test_rwlock.test_closing_sends_everybody_away_who_waits,
        (closing_forgets_those_in_line, a_closed_primitive_still_grants),
    ),
    (
        test_barrier_and_latch.test_a_round_goes_on_as_a_whole_or_breaks_as_a_whole,
        (a_round_is_one_party_short, a_deserter_only_leaves, a_cancelled_party_fills_the_round),
    ),
    (
        test_barrier_and_latch.test_who_is_cancelled_is_not_of_the_round,
        (numbers_are_given_on_arrival, those_let_in_are_not_woken),
    ),
    (
        test_barrier_and_latch.test_each_round_is_full_before_it_goes_on,
        (a_round_leaves_one_behind,),
    ),
    (
        test_barrier_and_latch.test_who_waits_goes_on_when_all_is_counted_down,
        (the_latch_opens_early, the_last_count_lets_one_in),
    ),
    (
        test_capacity_limiter.test_no_more_than_two_hold_a_token_of_two,
        (one_token_too_many, a_cancelled_acquire_stays_in_line, a_release_lets_nobody_in),
    ),
    (
        test_capacity_limiter.test_a_change_of_the_total_lets_in_and_keeps_out_as_many,
        (more_tokens_let_nobody_in,),
    ),
    (
        test_capacity_limiter.test_a_borrower_that_waits_is_not_lent_two_tokens,
        (a_borrower_may_wait_twice,),
    ),
    (
        test_acquire_all.test_philosophers_in_any_order_of_forks_all_eat,
        (
            a_group_is_granted_where_there_is_no_room,
            a_block_gives_back_the_first_alone,
            a_cancelled_acquire_stays_in_line,
            a_cancellation_beats_a_grant,
            those_let_in_are_not_woken,
        ),
    ),
    (
        test_acquire_all.test_groups_and_single_claims_share_the_lines,
        (a_group_takes_what_is_not_its_turn,),
    ),
    (
        test_acquire_all.test_a_choice_is_one_of_the_two,
        (a_choice_is_granted_twice,),
    ),
    (
        test_acquire_all.test_a_choice_leaves_the_other_lines_to_groups_behind_it,
        (a_group_stays_in_the_other_lines, a_group_leaves_the_other_lines_asleep),
    ),
    (
        test_acquire_all.test_closing_one_takes_a_group_out_of_the_other_line,
        (closing_forgets_those_in_line,),
    ),
    (
        test_acquire_all.test_an_owner_that_ends_breaks_the_groups_that_wait,
        (the_end_of_an_owner_is_ignored,),
    ),
    (
        test_rwlock_in_groups.test_a_writer_in_a_group_is_alone,
        (
            a_claim_to_write_only_reads,
            a_group_is_granted_where_there_is_no_room,
            a_withdrawal_lets_nobody_in,
            newcomers_barge,
        ),
    ),
    (
        test_rwlock_in_groups.test_who_may_read_or_take_the_lock_does_one_of_the_two,
        (a_choice_is_granted_twice, a_group_stays_in_the_other_lines),
    ),
    (
        test_rwlock_in_groups.test_a_reader_that_ends_breaks_the_groups_that_wait_to_write,
        (the_end_of_an_owner_is_ignored, a_group_leaves_the_other_lines_asleep),
    ),
    (
        test_rwlock_in_groups.test_a_claim_may_be_made_once_for_all,
        (a_claim_is_made_for_who_made_it,),
    ),
    (
        test_synchronizer.test_at_most_one_switch_is_on,
        (
            what_is_disabled_starts_all_the_same,
            a_cancelled_acquire_stays_in_line,
            a_cancellation_beats_a_grant,
        ),
    ),
    (
        test_synchronizer.test_calls_on_two_monitors_start_together,
        (
            the_first_of_two_does_not_wait_for_the_other,
            the_end_of_the_rules_lets_nobody_in,
            those_let_in_are_not_woken,
        ),
    ),
    (
        test_synchronizer.test_whose_trigger_raises_has_not_run_and_keeps_nobody_out,
        (whose_trigger_raises_runs_all_the_same, a_trigger_that_raises_keeps_everybody_out),
    ),
    (
        test_synchronizer.test_closing_a_member_sends_away_those_who_wait_for_it,
        (partners_of_a_closed_member_wait_on,),
    ),
    (
        test_synchronizer.test_philosophers_under_a_rule_over_the_seats_all_eat,
        (a_trigger_lets_nobody_in_elsewhere,),
    ),
    (
        test_scope.test_what_a_scope_owns_closes_when_its_last_task_has_ended,
        (a_scope_leaves_open_what_it_owns, a_cancellation_beats_a_grant),
    ),
    (
        test_scope.test_a_leak_is_reported_if_and_only_if_there_is_one,
        (a_scope_does_not_look_for_leaks,),
    ),
    (
        test_user_written.test_nobody_boards_where_others_step_off,
        (the_ferry_boards_after_landing,),
    ),
    (
        test_user_written.test_the_ferry_carries_one_bank_at_a_time,
        (
            the_ferry_boards_from_both_banks,
            a_release_lets_nobody_in,
            a_cancelled_acquire_stays_in_line,
        ),
    ),
]
PLANTED = [
    pytest.param(test, plant, id=f"{test.__module__.rpartition('.')[2]}-{plant.__name__}")
    for test, plants in TEST_OF
    for plant in plants
]


@pytest.mark.parametrize(("test", "plant"), PLANTED)
def test_the_sweep_finds_the_fault(
    test: Callable[[Size], None], plant: Plant, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(monkeypatch)
    # Not the sizes asked for: the smallest of the suite has to find it.
    failure = SWEPT[test].explore(Size(3, 2)).failure
    assert failure is not None, "the sweep is blind to this fault"
    assert failure.execution <= BUDGET
    FOUND.append((plant.__name__, test.__name__, failure))
