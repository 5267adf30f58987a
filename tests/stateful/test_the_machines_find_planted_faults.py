"""A machine that cannot fail proves nothing: each must find the faults planted in the core."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import Phase, seed, settings
from hypothesis.stateful import RuleBasedStateMachine, run_state_machine_as_test

from ..plants import (  # noqa: TID252 - one home of the faults
    barrier_and_latch,
    buffer,
    capacity_limiter,
    condition,
    groups,
    lock,
    lock_map,
    monitor,
    parker,
    pool,
    queue,
    rate_limiter,
    resource_pool,
    rwlock,
    semaphore,
    synchronizer,
    thread_hold,
    value,
    wait_queue,
)
from .buffer_machine import BufferMachine
from .buffer_shell import BufferShellMachine
from .core_machines import LimiterMachine, ParkerMachine, SemaphoreMachine, WaitQueueMachine
from .group_machine import GroupMachine
from .group_shell import GroupShellMachine
from .lock_machine import LockMachine
from .lock_map_machine import LockMapMachine
from .lock_map_shell import LockMapShellMachine
from .lock_shell import LockShellMachine
from .meeting_machines import BarrierMachine, LatchMachine
from .meeting_shells import BarrierShellMachine, LatchShellMachine
from .monitor_condition_machine import HoareMachine, MesaMachine
from .monitor_machine import MonitorMachine
from .monitor_shell import MonitorShellMachine
from .pool_shell import PoolShellMachine
from .rate_limiter_machines import RateLimiterMachine, RateLimiterShellMachine
from .resource_pool_machines import ResourcePoolMachine, ResourcePoolShellMachine
from .rwlock_machine import RWLockMachine
from .rwlock_shell import RWLockShellMachine
from .semaphore_shell import SemaphoreShellMachine
from .small_shells import LimiterShellMachine, ParkerShellMachine, WaitQueueShellMachine
from .synchronizer_machine import SynchronizerMachine
from .thread_hold_shell import ThreadHoldShellMachine
from .value_machines import ValueMachine, ValueShellMachine

# A check of the checks, which need not be made again on each version.
pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("the_same_examples_whatever_is_imported")]

Plant = Callable[[pytest.MonkeyPatch], None]


def is_found(machine: type[RuleBasedStateMachine]) -> bool:
    """Whether the machine fails. Only its own judgement counts, not an error of ours."""
    searching = settings(
        max_examples=20_000,
        stateful_step_count=40,
        derandomize=True,
        database=None,
        phases=[Phase.generate],
    )
    try:
        run_state_machine_as_test(machine, settings=searching)
    except (AssertionError, IndexError, KeyError, ValueError):
        return True
    return False


FOUND_BY: list[tuple[type[RuleBasedStateMachine], Plant]] = [
    *[
        (machine, plant)
        for machine in (SemaphoreMachine, SemaphoreShellMachine)
        for plant in (
            queue.a_withdrawal_lets_no_task_in,
            queue.newcomers_barge,
            queue.overtaking_does_not_age,
            semaphore.a_permit_leaks_when_a_waiter_is_granted,
            semaphore.one_permit_is_granted_twice,
            semaphore.the_eligible_wait_behind_what_does_not_fit,
            queue.closing_forgets_those_in_queue,
        )
    ],
    *[
        (RWLockMachine, plant)
        for plant in (
            queue.a_withdrawal_lets_no_task_in,
            queue.newcomers_barge,
            rwlock.readers_enter_beside_a_writer,
            rwlock.one_reader_enters_where_a_writer_leaves,
        )
    ],
    (RWLockMachine, rwlock.a_reader_that_left_stays_in_the_index),
    (SemaphoreMachine, queue.a_granted_request_stays_in_queue),
    (SemaphoreMachine, queue.a_grant_is_not_marked),
    (SemaphoreMachine, queue.a_request_that_leaves_from_the_middle_takes_those_behind_along),
    (MesaMachine, queue.a_successor_is_not_linked_from_behind),
    *[
        (machine, queue.a_request_that_leaves_the_queue_stays_in_the_index)
        for machine in (LockMachine, LimiterMachine, RWLockMachine)
    ],
    *[
        (machine, queue.a_request_that_joins_the_queue_is_not_in_the_index)
        for machine in (LimiterMachine, RWLockMachine)
    ],
    (BarrierMachine, barrier_and_latch.numbers_are_given_on_arrival),
    (BarrierMachine, barrier_and_latch.a_reset_opens_what_is_closed),
    (BarrierMachine, barrier_and_latch.leaving_lets_no_task_in),
    (BarrierMachine, barrier_and_latch.a_party_that_left_is_waited_for),
    (BarrierMachine, barrier_and_latch.a_failed_action_lets_the_others_go_on),
    (LatchMachine, barrier_and_latch.the_latch_opens_early),
    *[
        (RWLockShellMachine, plant)
        for plant in (
            queue.a_withdrawal_lets_no_task_in,
            queue.newcomers_barge,
            rwlock.readers_enter_beside_a_writer,
            rwlock.one_reader_enters_where_a_writer_leaves,
            rwlock.a_downgrade_lets_no_task_in,
            lock.the_end_of_an_owner_is_ignored,
            queue.those_let_in_are_not_woken,
            queue.a_cancelled_acquire_stays_in_queue,
            queue.an_acquire_that_need_not_wait_ignores_a_cancellation,
        )
    ],
    *[
        (BarrierShellMachine, plant)
        for plant in (
            barrier_and_latch.numbers_are_given_on_arrival,
            barrier_and_latch.a_reset_opens_what_is_closed,
            barrier_and_latch.a_deserter_only_leaves,
            barrier_and_latch.leaving_lets_no_task_in,
            barrier_and_latch.a_party_that_left_is_waited_for,
            barrier_and_latch.a_cancelled_party_fills_the_round,
        )
    ],
    *[
        (machine, plant)
        for machine in (RateLimiterMachine, RateLimiterShellMachine)
        for plant in (
            rate_limiter.the_bucket_overflows,
            rate_limiter.a_late_request_is_granted_as_of_its_time,
            rate_limiter.a_cancellation_beats_the_time,
        )
    ],
    (RateLimiterShellMachine, rate_limiter.a_request_that_moves_up_to_the_head_has_no_timer),
    (RateLimiterShellMachine, rate_limiter.a_part_of_a_permit_is_lost),
    (RateLimiterShellMachine, rate_limiter.a_timer_only_withdraws),
    *[
        (machine, plant)
        for machine in (ResourcePoolMachine, ResourcePoolShellMachine)
        for plant in (
            resource_pool.a_returned_item_wakes_no_task,
            resource_pool.a_failed_block_keeps_its_item,
        )
    ],
    (ResourcePoolMachine, resource_pool.a_borrower_that_makes_no_item_keeps_its_place),
    (ResourcePoolMachine, resource_pool.what_a_cancelled_check_left_is_lent),
    (ResourcePoolShellMachine, queue.those_let_in_are_not_woken),
    (ResourcePoolShellMachine, queue.a_cancelled_acquire_stays_in_queue),
    *[
        (machine, plant)
        for machine in (ValueMachine, ValueShellMachine)
        for plant in (
            value.one_of_the_waiters_is_granted,
            value.an_assignment_is_seen_by_the_next_one,
        )
    ],
    (ValueShellMachine, value.what_is_there_now_is_returned),
    *[
        (LockMapMachine, plant)
        for plant in (
            lock_map.a_lock_that_is_held_is_forgotten,
            lock_map.a_key_that_was_released_stays,
            lock_map.a_task_that_releases_takes_the_entry_from_the_next,
            queue.the_last_in_queue_is_served_first,
        )
    ],
    *[
        (LockMapShellMachine, plant)
        for plant in (
            lock_map.a_lock_that_is_held_is_forgotten,
            lock_map.a_key_that_was_released_stays,
            lock_map.a_task_that_releases_takes_the_entry_from_the_next,
            lock_map.each_use_has_a_lock_of_its_own,
            queue.a_cancelled_acquire_stays_in_queue,
        )
    ],
    *[
        (BufferMachine, plant)
        for plant in (
            buffer.an_item_is_handed_out_twice,
            buffer.half_of_a_put_is_put,
            buffer.the_end_of_a_window_takes_nothing,
            buffer.a_task_that_waits_for_more_is_not_told_of_the_end,
            buffer.what_comes_back_wakes_no_task,
            buffer.what_comes_back_goes_to_the_end,
            buffer.what_fails_is_lost,
            queue.a_withdrawal_lets_no_task_in,
            queue.closing_forgets_those_in_queue,
        )
    ],
    *[
        (BufferShellMachine, plant)
        for plant in (
            buffer.the_item_of_a_cancelled_task_is_lost,
            buffer.an_item_is_handed_out_twice,
            buffer.a_put_is_not_told_to_those_that_get,
            buffer.a_block_that_is_stopped_keeps_its_item,
        )
    ],
    *[
        (PoolShellMachine, plant)
        for plant in (
            pool.a_worker_has_two_jobs,
            pool.whose_job_begins_sleeps_on,
            pool.a_cancelled_job_stays_in_queue,
            pool.closing_forgets_what_is_held_back,
        )
    ],
    *[
        (ThreadHoldShellMachine, plant)
        for plant in (
            thread_hold.an_interrupt_beats_a_grant,
            thread_hold.what_was_dropped_is_done,
            thread_hold.leaving_can_be_dropped,
            thread_hold.no_timeout_is_set,
            queue.a_cancelled_acquire_stays_in_queue,
        )
    ],
    (LatchShellMachine, barrier_and_latch.the_latch_opens_early),
    (LatchShellMachine, queue.those_let_in_are_not_woken),
    (LatchShellMachine, queue.closing_forgets_those_in_queue),
    *[
        (MonitorMachine, plant)
        for plant in (
            monitor.the_oldest_call_of_an_entry_blocks_the_others,
            monitor.entries_take_turns,
            monitor.an_entry_that_closes_forgets_its_callers,
            monitor.a_lane_that_is_empty_stays,
            monitor.a_restored_monitor_has_no_lanes,
        )
    ],
    *[
        (MonitorShellMachine, plant)
        for plant in (
            monitor.two_are_inside,
            monitor.guards_are_not_evaluated,
            monitor.guards_are_evaluated_on_arrival_only,
            monitor.a_monitor_left_lets_no_task_in,
            monitor.a_change_evaluates_no_guard,
            monitor.a_guard_that_is_removed_lets_no_task_in,
            monitor.the_oldest_call_of_an_entry_blocks_the_others,
            monitor.entries_take_turns,
            monitor.a_closed_monitor_takes_new_calls,
            monitor.an_entry_that_closes_forgets_its_callers,
            queue.those_let_in_are_not_woken,
            queue.a_cancelled_acquire_stays_in_queue,
            queue.an_acquire_that_need_not_wait_ignores_a_cancellation,
        )
    ],
    *[
        (machine, plant)
        for machine in (MesaMachine, HoareMachine)
        for plant in (
            condition.a_cancelled_waiter_does_not_come_back,
            monitor.guards_are_not_evaluated,
            monitor.a_monitor_forgets_its_conditions_when_it_closes,
        )
    ],
    *[
        (MesaMachine, plant)
        for plant in (
            condition.a_notification_is_lost_with_its_waiter,
            condition.the_heir_of_a_notification_is_sent_to_the_end,
            condition.the_youngest_are_notified_first,
            monitor.entries_take_turns,
        )
    ],
    *[
        (HoareMachine, plant)
        for plant in (
            monitor.the_waiter_that_was_signalled_waits_in_queue,
            monitor.a_signaller_gets_in_last,
            monitor.a_signaller_is_forgotten,
            monitor.a_monitor_forgets_its_signallers_when_it_closes,
            monitor.a_monitor_that_closes_leaves_its_signallers_waiting,
            monitor.a_restored_monitor_knows_no_signallers,
        )
    ],
    *[
        (SynchronizerMachine, plant)
        for plant in (
            synchronizer.what_triggers_permit_sleeps_on,
            synchronizer.groups_that_share_an_entry_stay_apart,
            synchronizer.the_youngest_partner_is_taken,
            synchronizer.an_error_of_a_trigger_is_forgotten,
            synchronizer.one_synchronizer_overrules_the_others,
            synchronizer.a_block_takes_all_rules_with_it,
            synchronizer.the_end_of_the_rules_lets_no_task_in,
            synchronizer.a_partner_waits_for_what_is_closed,
            monitor.the_oldest_call_of_an_entry_blocks_the_others,
        )
    ],
    (SemaphoreShellMachine, queue.those_let_in_are_not_woken),
    (SemaphoreShellMachine, queue.a_cancelled_acquire_stays_in_queue),
    (SemaphoreShellMachine, queue.an_acquire_that_need_not_wait_ignores_a_cancellation),
    (WaitQueueShellMachine, queue.those_let_in_are_not_woken),
    (LimiterShellMachine, queue.a_cancelled_acquire_stays_in_queue),
    (ParkerShellMachine, queue.those_let_in_are_not_woken),
    (GroupMachine, groups.a_group_takes_what_is_not_its_turn),
    (GroupMachine, groups.a_group_stays_in_the_other_queues),
    (GroupMachine, groups.half_a_group_is_granted),
    (GroupMachine, groups.a_group_that_was_not_next_once_is_never_evaluated_again),
    *[
        (GroupShellMachine, plant)
        for plant in (
            groups.a_group_leaves_the_other_queues_asleep,
            groups.a_group_stays_in_the_other_queues,
            groups.a_group_takes_what_is_not_its_turn,
            groups.a_group_is_granted_where_there_is_no_room,
            groups.a_choice_is_granted_twice,
            groups.a_block_releases_the_first_alone,
            groups.a_claim_to_write_only_reads,
            lock.the_end_of_an_owner_is_ignored,
            queue.closing_forgets_those_in_queue,
            queue.a_cancelled_acquire_stays_in_queue,
            queue.an_acquire_that_need_not_wait_ignores_a_cancellation,
        )
    ],
    (SemaphoreMachine, queue.an_ended_request_is_withdrawn),
    (LimiterMachine, capacity_limiter.more_tokens_let_no_task_in),
    (LimiterShellMachine, capacity_limiter.more_tokens_let_no_task_in),
    (LimiterMachine, capacity_limiter.a_borrower_may_wait_twice),
    (LimiterShellMachine, capacity_limiter.a_borrower_may_wait_twice),
    (WaitQueueMachine, wait_queue.a_wake_is_kept),
    (WaitQueueShellMachine, wait_queue.a_wake_is_kept),
    (WaitQueueMachine, queue.closing_forgets_those_in_queue),
    (WaitQueueShellMachine, queue.closing_forgets_those_in_queue),
    (ParkerMachine, parker.an_unblock_that_comes_first_is_lost),
    (ParkerShellMachine, parker.an_unblock_that_comes_first_is_lost),
    *[
        (machine, plant)
        for machine in (LockMachine, LockShellMachine)
        for plant in (
            condition.a_notification_is_lost_with_its_waiter,
            condition.the_heir_of_a_notification_is_sent_to_the_end,
            condition.the_youngest_are_notified_first,
            condition.a_cancelled_waiter_does_not_come_back,
            condition.the_lock_forgets_its_conditions_when_it_breaks,
        )
    ],
]


#: Where the search for a fault that hides begins, so that it is found in a few dozen examples too. With another
#: Hypothesis, or after a change of the machine, the search goes on until it finds the fault.
SEEDS: dict[tuple[type[RuleBasedStateMachine], Plant], int] = {
    (SemaphoreMachine, queue.newcomers_barge): 1,
    (SemaphoreMachine, semaphore.the_eligible_wait_behind_what_does_not_fit): 4,
    (SemaphoreMachine, queue.closing_forgets_those_in_queue): 3,
    (RWLockMachine, rwlock.one_reader_enters_where_a_writer_leaves): 4,
    (RWLockMachine, rwlock.a_reader_that_left_stays_in_the_index): 7,
    (SemaphoreMachine, queue.a_request_that_leaves_from_the_middle_takes_those_behind_along): 3,
    (MesaMachine, queue.a_successor_is_not_linked_from_behind): 4,
    (LockMachine, queue.a_request_that_leaves_the_queue_stays_in_the_index): 4,
    (RateLimiterMachine, rate_limiter.a_cancellation_beats_the_time): 1,
    (ResourcePoolMachine, resource_pool.what_a_cancelled_check_left_is_lent): 2,
    (ValueShellMachine, value.what_is_there_now_is_returned): 2,
    (LockMapShellMachine, lock_map.a_task_that_releases_takes_the_entry_from_the_next): 1,
    (BufferMachine, buffer.the_end_of_a_window_takes_nothing): 4,
    (BufferMachine, queue.a_withdrawal_lets_no_task_in): 11,
    (BufferMachine, queue.closing_forgets_those_in_queue): 5,
    (BufferShellMachine, buffer.a_block_that_is_stopped_keeps_its_item): 1,
    (LatchShellMachine, queue.closing_forgets_those_in_queue): 1,
    (MonitorMachine, monitor.entries_take_turns): 7,
    (MonitorMachine, monitor.an_entry_that_closes_forgets_its_callers): 4,
    (MonitorShellMachine, monitor.a_guard_that_is_removed_lets_no_task_in): 2,
    (MonitorShellMachine, monitor.an_entry_that_closes_forgets_its_callers): 2,
    (HoareMachine, monitor.a_monitor_that_closes_leaves_its_signallers_waiting): 1,
    (HoareMachine, monitor.a_restored_monitor_knows_no_signallers): 3,
    (SynchronizerMachine, synchronizer.what_triggers_permit_sleeps_on): 15,
    (SynchronizerMachine, synchronizer.groups_that_share_an_entry_stay_apart): 1,
    (SynchronizerMachine, synchronizer.the_youngest_partner_is_taken): 6,
    (SynchronizerMachine, synchronizer.a_partner_waits_for_what_is_closed): 4,
    (SynchronizerMachine, monitor.the_oldest_call_of_an_entry_blocks_the_others): 4,
    (LockMachine, condition.the_heir_of_a_notification_is_sent_to_the_end): 12,
    (LockShellMachine, condition.a_notification_is_lost_with_its_waiter): 4,
    (LockShellMachine, condition.the_heir_of_a_notification_is_sent_to_the_end): 6,
    (RWLockMachine, queue.newcomers_barge): 1,
    (BarrierMachine, barrier_and_latch.a_reset_opens_what_is_closed): 9,
    (BarrierMachine, barrier_and_latch.a_failed_action_lets_the_others_go_on): 12,
    (RateLimiterShellMachine, rate_limiter.a_late_request_is_granted_as_of_its_time): 1,
    (RateLimiterShellMachine, rate_limiter.a_request_that_moves_up_to_the_head_has_no_timer): 1,
    (ResourcePoolMachine, resource_pool.a_failed_block_keeps_its_item): 2,
    (PoolShellMachine, pool.whose_job_begins_sleeps_on): 1,
    (PoolShellMachine, pool.closing_forgets_what_is_held_back): 7,
    (MesaMachine, monitor.a_monitor_forgets_its_conditions_when_it_closes): 5,
    (MesaMachine, condition.a_notification_is_lost_with_its_waiter): 4,
    (MesaMachine, condition.the_heir_of_a_notification_is_sent_to_the_end): 4,
    (MesaMachine, monitor.entries_take_turns): 11,
    (SynchronizerMachine, synchronizer.an_error_of_a_trigger_is_forgotten): 1,
    (SynchronizerMachine, synchronizer.one_synchronizer_overrules_the_others): 5,
    (SynchronizerMachine, synchronizer.the_end_of_the_rules_lets_no_task_in): 1,
    (GroupMachine, groups.half_a_group_is_granted): 1,
    (GroupMachine, groups.a_group_that_was_not_next_once_is_never_evaluated_again): 1,
    (WaitQueueMachine, queue.closing_forgets_those_in_queue): 5,
    (WaitQueueShellMachine, queue.closing_forgets_those_in_queue): 2,
    (LockMachine, condition.a_notification_is_lost_with_its_waiter): 9,
    (LockMachine, condition.the_lock_forgets_its_conditions_when_it_breaks): 7,
}


@pytest.mark.parametrize(
    ("machine", "plant"), FOUND_BY, ids=[f"{m.__name__}-{p.__name__}" for m, p in FOUND_BY]
)
def test_the_machine_finds_the_fault(
    machine: type[RuleBasedStateMachine], plant: Plant, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(monkeypatch)
    if number := SEEDS.get((machine, plant)):
        machine = seed(number)(type(machine.__name__, (machine,), {}))
    assert is_found(machine)
