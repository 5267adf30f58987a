"""A machine that cannot fail proves nothing: each must find the faults planted in the core here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import Phase, settings
from hypothesis.stateful import RuleBasedStateMachine, run_state_machine_as_test
from trio.lowlevel import Abort, cancel_shielded_checkpoint, checkpoint

from structsync import _park, _park_together
from structsync._core import synchronizer
from structsync._core.arbiter import Arbiter
from structsync._core.barrier import BarrierCore
from structsync._core.capacity_limiter import CapacityLimiterCore
from structsync._core.claimants import ClaimantArbiter
from structsync._core.condition import ConditionCore
from structsync._core.entry import EntryCore
from structsync._core.group import Claims
from structsync._core.latch import LatchCore
from structsync._core.lock import LockCore
from structsync._core.monitor import MonitorCore
from structsync._core.parker import ParkerCore
from structsync._core.policy import Eligible, Fifo
from structsync._core.request import GRANTED, WITHDRAWN, Request
from structsync._core.rwlock import READ, Access, PhaseFairCore, RWLockCore
from structsync._core.semaphore import SemaphoreCore
from structsync._core.synchronizer import Rules, SynchronizerCore
from structsync._core.wait_queue import WaitQueueCore
from structsync.primitive import OwnedPrimitive

from .core_machines import LimiterMachine, ParkerMachine, SemaphoreMachine, WaitQueueMachine
from .group_machine import GroupMachine
from .lock_machine import LockMachine
from .lock_shell import LockShellMachine
from .meeting_machines import BarrierMachine, LatchMachine
from .meeting_shells import BarrierShellMachine, LatchShellMachine
from .monitor_machine import MonitorMachine
from .rwlock_machine import RWLockMachine
from .rwlock_shell import RWLockShellMachine
from .semaphore_shell import SemaphoreShellMachine
from .small_shells import LimiterShellMachine, ParkerShellMachine, WaitQueueShellMachine
from .synchronizer_machine import SynchronizerMachine

Plant = Callable[[pytest.MonkeyPatch], None]


def is_found(machine: type[RuleBasedStateMachine]) -> bool:
    """Whether the machine fails. Only its own judgement counts, not an error of ours."""
    # A fault is found by the same examples each time, or by none: no flaky test of a test.
    searching = settings(
        max_examples=1_000,
        stateful_step_count=40,
        derandomize=True,
        database=None,
        phases=[Phase.generate],
    )
    try:
        run_state_machine_as_test(machine, settings=searching)
    except (AssertionError, IndexError, KeyError):
        return True
    return False


# ==== the faults ====


def withdrawal_lets_nobody_in(patch: pytest.MonkeyPatch) -> None:
    """Lost wakeup: the line is not settled after a withdrawal."""

    def withdraw(self: Arbiter[Any], request: Request[Any]) -> list[Request[Any]] | None:
        if not self.leave(request):
            return None
        request.status = WITHDRAWN
        return []

    patch.setattr(Arbiter, "withdraw", withdraw)


def newcomers_barge(patch: pytest.MonkeyPatch) -> None:
    """A newcomer that fits does not look at the line."""
    patch.setattr(Fifo, "may_pass", lambda self, line, ticket, priority: True)


def overtaking_does_not_age(patch: pytest.MonkeyPatch) -> None:
    """Whoever is admitted at once does not count as an arrival."""
    patch.setattr(Arbiter, "take", lambda self, claim: self.admit(claim))


def a_permit_leaks_when_a_waiter_is_granted(patch: pytest.MonkeyPatch) -> None:
    def admit(self: SemaphoreCore, claim: int) -> None:
        self.value -= claim + (len(self.line) > 1)

    patch.setattr(SemaphoreCore, "admit", admit)


def one_permit_is_granted_twice(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(SemaphoreCore, "admits", lambda self, claim: claim <= self.value + 1)


def withdrawing_an_ended_request_gives_back(patch: pytest.MonkeyPatch) -> None:
    intact = Arbiter.withdraw

    def withdraw(self: Arbiter[Any], request: Request[Any]) -> list[Request[Any]] | None:
        if request.status is GRANTED:
            request.status = WITHDRAWN
            return []
        return intact(self, request)

    patch.setattr(Arbiter, "withdraw", withdraw)


def the_eligible_are_not_passed_on(patch: pytest.MonkeyPatch) -> None:
    """An eligible request behind one that does not fit waits for it."""
    patch.setattr(Eligible, "head_blocks", True)


def a_resize_lets_nobody_in(patch: pytest.MonkeyPatch) -> None:
    def resize(self: Any, total: float) -> list[Request[Any]]:
        self.total_tokens = total
        return []

    patch.setattr(CapacityLimiterCore, "resize", resize)


def a_borrower_may_wait_twice(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(CapacityLimiterCore, "refuse_impossible", lambda self, claim: None)


def a_wake_is_kept(patch: pytest.MonkeyPatch) -> None:
    def wake(self: WaitQueueCore, count: int | None) -> list[Request[None]]:
        self.wakes = len(self.line) if count is None else count
        return self.settle()

    patch.setattr(WaitQueueCore, "wake", wake)


def an_unblock_that_comes_first_is_lost(patch: pytest.MonkeyPatch) -> None:
    def give_back(self: ParkerCore, claim: None) -> None:
        self.unblocks = len(self.line)

    patch.setattr(ParkerCore, "give_back", give_back)


def closing_forgets_the_waiters(patch: pytest.MonkeyPatch) -> None:
    def end(self: Arbiter[Any], cause: str) -> list[Request[Any]]:
        self.cause = cause
        return []

    patch.setattr(Arbiter, "end", end)


def a_notification_is_lost_with_its_waiter(patch: pytest.MonkeyPatch) -> None:
    """As in trio: a notified waiter that is cancelled takes the notification with it."""

    def stop_waiting(self: ConditionCore, request: Request[Any]) -> bool:
        return self._pop(request) or self.lock.leave(request)

    patch.setattr(ConditionCore, "_stop_waiting", stop_waiting)


def the_heir_of_a_notification_is_sent_to_the_end(patch: pytest.MonkeyPatch) -> None:
    def replace(self: Any, request: Request[Any], successor: Request[Any]) -> None:
        self.leave(request)
        self.join(successor)

    patch.setattr(ClaimantArbiter, "replace", replace)


def the_youngest_are_notified_first(patch: pytest.MonkeyPatch) -> None:
    def oldest(self: ConditionCore, count: int | None) -> list[Request[Any]]:
        return list(reversed(self.line.values()))[:count]

    patch.setattr(ConditionCore, "_oldest", oldest)


def a_cancelled_waiter_does_not_come_back(patch: pytest.MonkeyPatch) -> None:
    """It would raise without owning the lock that the block around it releases."""
    patch.setattr(ConditionCore, "_rejoin", lambda self, request: None)


def a_broken_lock_forgets_its_conditions(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(LockCore, "end", Arbiter.end)


def those_let_in_are_not_woken(patch: pytest.MonkeyPatch) -> None:
    """The core is right, and a task that was granted sleeps on."""
    patch.setattr(_park, "reschedule", lambda *_: None)


def a_cancelled_acquire_stays_in_line(patch: pytest.MonkeyPatch) -> None:
    def abort(primitive: Any, request: Request[Any], *_: object) -> Abort:
        request.parked = False
        return Abort.SUCCEEDED

    patch.setattr(_park, "abort", abort)


def an_acquire_that_need_not_wait_ignores_a_cancellation(patch: pytest.MonkeyPatch) -> None:
    for module in (_park, _park_together):
        patch.setattr(module, "checkpoint_if_cancelled", cancel_shielded_checkpoint)


def readers_enter_beside_a_writer(patch: pytest.MonkeyPatch) -> None:
    def admits(self: RWLockCore, claim: Access) -> bool:
        return (self.writer is None or claim.mode is READ) and not self.readers

    patch.setattr(RWLockCore, "admits", admits)


def one_reader_enters_where_a_writer_leaves(patch: pytest.MonkeyPatch) -> None:
    def writing_ended(self: PhaseFairCore) -> list[Request[Any]]:
        for request in list(self.readers_in_line.values())[:1]:
            self.leave(request)
            self.admit(request.claim)
            request.status = GRANTED
            return [request]
        return self.settle()

    patch.setattr(PhaseFairCore, "writing_ended", writing_ended)


def numbers_are_given_on_arrival(patch: pytest.MonkeyPatch) -> None:
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


def a_reset_opens_what_is_closed(patch: pytest.MonkeyPatch) -> None:
    def mend(self: BarrierCore) -> None:
        self.broken, self.cause = False, None

    patch.setattr(BarrierCore, "_mend", mend)


def a_deserter_only_leaves(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(BarrierCore, "desert", lambda self, request, cause: self.withdraw(request))


def a_cancelled_party_fills_the_round(patch: pytest.MonkeyPatch) -> None:
    """It comes last and cancelled, the others go on, and it raises."""
    patch.setattr(_park_together, "current_effective_deadline", lambda: 0)
    patch.setattr(_park_together, "cancel_shielded_checkpoint", checkpoint)


def the_end_of_a_holder_is_ignored(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(OwnedPrimitive, "_owner_exited", lambda self, task: None)


def a_downgrade_lets_nobody_in(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(RWLockCore, "writing_ended", lambda self: [])


def the_latch_opens_early(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(LatchCore, "admits", lambda self, claim: self.count <= 1)


def a_group_passes_those_before_it(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(
        Claims,
        "consents",
        lambda self, request: all(one.arbiter.admits(one.claim) for one in self.members),
    )


def a_group_keeps_its_other_places(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Claims, "ended_with", lambda self, request: None)


def the_oldest_call_of_an_entry_blocks_the_others(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(EntryCore, "particular", property(lambda self: False))


def entries_take_turns(patch: pytest.MonkeyPatch) -> None:
    """Each entry's calls in order, and not those of all entries."""

    def candidates(self: MonitorCore) -> list[Request[Any]]:
        return [request for line in self.lines.values() for request in line.values()]

    patch.setattr(MonitorCore, "candidates", candidates)


def an_entry_taken_out_forgets_its_callers(patch: pytest.MonkeyPatch) -> None:
    def remove(self: MonitorCore, entry: EntryCore, cause: Any) -> list[Request[Any]]:
        entry.cause = cause
        return []

    patch.setattr(MonitorCore, "remove", remove)


def who_leaves_a_line_stays_in_the_index(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(MonitorCore, "leave", Arbiter.leave)


def a_restored_monitor_knows_no_lines(patch: pytest.MonkeyPatch) -> None:
    def restore(self: MonitorCore, snapshot: Any) -> None:
        rest, _ = snapshot
        Arbiter.restore(self, rest)

    patch.setattr(MonitorCore, "restore", restore)


def what_triggers_permit_sleeps_on(patch: pytest.MonkeyPatch) -> None:
    """The other monitors of a synchronizer are not asked again after its triggers."""
    intact = synchronizer.run_triggers
    patch.setattr(synchronizer, "run_triggers", lambda calls, touched: intact(calls, {}))


def groups_that_share_an_entry_stay_apart(patch: pytest.MonkeyPatch) -> None:
    def bonded(self: Rules) -> list[Rules]:
        return [self, *(one for _, group in self.bonds for one in group if one is not self)]

    patch.setattr(Rules, "bonded", bonded)


def the_youngest_partner_is_taken(patch: pytest.MonkeyPatch) -> None:
    def next_call(self: Rules) -> Request[Any] | None:
        line = [one for one in self.arbiter.candidates() if one.claim.entry.rules is self]
        return next((one for one in reversed(line) if self.arbiter.admits(one.claim)), None)

    patch.setattr(Rules, "next_call", next_call)


def an_error_of_a_trigger_is_forgotten(patch: pytest.MonkeyPatch) -> None:
    intact = synchronizer.run_triggers
    patch.setattr(synchronizer, "run_triggers", lambda *args: intact(*args) and None)


def one_synchronizer_overrules_the_others(patch: pytest.MonkeyPatch) -> None:
    def permit(self: Rules, invocation: Any) -> bool:
        return not self.disabling or not all(one.holds(invocation) for _, one in self.disabling)

    patch.setattr(Rules, "permit", permit)


def a_block_takes_all_rules_with_it(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(SynchronizerCore, "_forget", lambda self, rules: rules.clear())


def the_end_of_a_block_asks_nobody(patch: pytest.MonkeyPatch) -> None:
    intact = SynchronizerCore.end
    patch.setattr(SynchronizerCore, "end", lambda self: intact(self)[:0])


def a_partner_waits_for_what_is_closed(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Rules, "refuse", lambda self: None)


FOUND_BY: list[tuple[type[RuleBasedStateMachine], Plant]] = [
    *[
        (machine, plant)
        for machine in (SemaphoreMachine, SemaphoreShellMachine)
        for plant in (
            withdrawal_lets_nobody_in,
            newcomers_barge,
            overtaking_does_not_age,
            a_permit_leaks_when_a_waiter_is_granted,
            one_permit_is_granted_twice,
            the_eligible_are_not_passed_on,
            closing_forgets_the_waiters,
        )
    ],
    *[
        (RWLockMachine, plant)
        for plant in (
            withdrawal_lets_nobody_in,
            newcomers_barge,
            readers_enter_beside_a_writer,
            one_reader_enters_where_a_writer_leaves,
        )
    ],
    (BarrierMachine, numbers_are_given_on_arrival),
    (BarrierMachine, a_reset_opens_what_is_closed),
    (LatchMachine, the_latch_opens_early),
    *[
        (RWLockShellMachine, plant)
        for plant in (
            withdrawal_lets_nobody_in,
            newcomers_barge,
            readers_enter_beside_a_writer,
            one_reader_enters_where_a_writer_leaves,
            a_downgrade_lets_nobody_in,
            the_end_of_a_holder_is_ignored,
            those_let_in_are_not_woken,
            a_cancelled_acquire_stays_in_line,
            an_acquire_that_need_not_wait_ignores_a_cancellation,
        )
    ],
    *[
        (BarrierShellMachine, plant)
        for plant in (
            numbers_are_given_on_arrival,
            a_reset_opens_what_is_closed,
            a_deserter_only_leaves,
            a_cancelled_party_fills_the_round,
        )
    ],
    (LatchShellMachine, the_latch_opens_early),
    (LatchShellMachine, those_let_in_are_not_woken),
    (LatchShellMachine, closing_forgets_the_waiters),
    *[
        (MonitorMachine, plant)
        for plant in (
            the_oldest_call_of_an_entry_blocks_the_others,
            entries_take_turns,
            an_entry_taken_out_forgets_its_callers,
            who_leaves_a_line_stays_in_the_index,
            a_restored_monitor_knows_no_lines,
        )
    ],
    *[
        (SynchronizerMachine, plant)
        for plant in (
            what_triggers_permit_sleeps_on,
            groups_that_share_an_entry_stay_apart,
            the_youngest_partner_is_taken,
            an_error_of_a_trigger_is_forgotten,
            one_synchronizer_overrules_the_others,
            a_block_takes_all_rules_with_it,
            the_end_of_a_block_asks_nobody,
            a_partner_waits_for_what_is_closed,
            the_oldest_call_of_an_entry_blocks_the_others,
        )
    ],
    (SemaphoreShellMachine, those_let_in_are_not_woken),
    (SemaphoreShellMachine, a_cancelled_acquire_stays_in_line),
    (SemaphoreShellMachine, an_acquire_that_need_not_wait_ignores_a_cancellation),
    (WaitQueueShellMachine, those_let_in_are_not_woken),
    (LimiterShellMachine, a_cancelled_acquire_stays_in_line),
    (ParkerShellMachine, those_let_in_are_not_woken),
    (GroupMachine, a_group_passes_those_before_it),
    (GroupMachine, a_group_keeps_its_other_places),
    (SemaphoreMachine, withdrawing_an_ended_request_gives_back),
    (LimiterMachine, a_resize_lets_nobody_in),
    (LimiterShellMachine, a_resize_lets_nobody_in),
    (LimiterMachine, a_borrower_may_wait_twice),
    (LimiterShellMachine, a_borrower_may_wait_twice),
    (WaitQueueMachine, a_wake_is_kept),
    (WaitQueueShellMachine, a_wake_is_kept),
    (WaitQueueMachine, closing_forgets_the_waiters),
    (WaitQueueShellMachine, closing_forgets_the_waiters),
    (ParkerMachine, an_unblock_that_comes_first_is_lost),
    (ParkerShellMachine, an_unblock_that_comes_first_is_lost),
    *[
        (machine, plant)
        for machine in (LockMachine, LockShellMachine)
        for plant in (
            a_notification_is_lost_with_its_waiter,
            the_heir_of_a_notification_is_sent_to_the_end,
            the_youngest_are_notified_first,
            a_cancelled_waiter_does_not_come_back,
            a_broken_lock_forgets_its_conditions,
        )
    ],
]


@pytest.mark.parametrize(
    ("machine", "plant"), FOUND_BY, ids=[f"{m.__name__}-{p.__name__}" for m, p in FOUND_BY]
)
def test_the_machine_finds_the_fault(
    machine: type[RuleBasedStateMachine], plant: Plant, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(monkeypatch)
    assert is_found(machine)
