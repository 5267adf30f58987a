"""A sweep that cannot fail proves nothing: the tests of this folder find the faults of `plants`.

Each within so many executions; what it took is told at the end of the run.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from structsync.lowlevel import OwnedPrimitive

from ..plants import (  # noqa: TID252 - the one home of the faults
    barrier_and_latch,
    broadcast,
    buffer,
    capacity_limiter,
    channel,
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
    scope,
    semaphore,
    synchronizer,
    thread_hold,
    value,
    wait_queue,
)
from . import (
    test_acquire_all,
    test_barrier_and_latch,
    test_broadcast,
    test_buffer,
    test_buffer_items,
    test_capacity_limiter,
    test_channel,
    test_condition,
    test_linearizable,
    test_lock,
    test_lock_map,
    test_monitor,
    test_parker,
    test_pool,
    test_rate_limiter,
    test_requests,
    test_resource_pool,
    test_rwlock,
    test_rwlock_in_groups,
    test_scope,
    test_semaphore,
    test_synchronizer,
    test_thread_holds,
    test_transitions,
    test_user_written,
    test_value,
    test_wait_queue,
)
from .sweeping import FOUND, GATE, SWEPT, Size

# A check of the checks, which need not be made again on each version.
pytestmark = pytest.mark.slow

Plant = Callable[[pytest.MonkeyPatch], None]

#: Twice of what the one that hides best takes; half of them fail in the first execution.
BUDGET = 1_600


def the_ferry_boards_after_landing(patch: pytest.MonkeyPatch) -> None:
    def discharge(self: Any, claim: str) -> None:
        self.aboard -= 1

    patch.setattr(test_user_written.ferries.FerryCore, "discharge", discharge)


def the_ferry_boards_from_both_banks(patch: pytest.MonkeyPatch) -> None:
    def admits(self: Any, claim: str) -> bool:
        return bool(self.aboard < self.seats and not self.landed)

    patch.setattr(test_user_written.ferries.FerryCore, "admits", admits)


def a_key_is_locked_twice(patch: pytest.MonkeyPatch) -> None:
    core = test_user_written.keyed_locks.KeyedLockCore
    patch.setattr(core, "admits", lambda self, claim: claim not in self.locked)


def what_an_ended_task_owned_stays_with_it(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(OwnedPrimitive, "_owner_exited", lambda self, task, claim: None)


def a_turn_is_not_released(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(test_user_written.fair_queues.TurnsCore, "discharge", lambda self, claim: None)


TEST_OF: list[tuple[Callable[[Size], None], tuple[Plant, ...]]] = [
    (
        test_semaphore.test_no_more_than_two_hold_a_permit_of_two,
        (
            queue.a_release_lets_no_task_in,
            queue.those_let_in_are_not_woken,
            queue.a_cancelled_acquire_stays_in_queue,
            queue.a_cancellation_beats_a_grant,
            queue.others_run_between_the_look_and_the_take,
            semaphore.one_permit_is_granted_twice,
        ),
    ),
    (
        test_semaphore.test_who_takes_several_permits_takes_all_or_none,
        (
            queue.a_withdrawal_lets_no_task_in,
            queue.newcomers_barge,
            semaphore.half_a_claim_is_taken,
            queue.the_last_in_queue_is_served_first,
        ),
    ),
    (
        test_semaphore.test_resizing_changes_how_many_permits_there_are,
        (semaphore.a_resize_lets_no_task_in,),
    ),
    (
        test_semaphore.test_closing_sends_every_waiting_task_away,
        (queue.closing_forgets_those_in_queue, queue.a_closed_primitive_still_grants),
    ),
    (test_semaphore.test_the_first_priority_is_served_first, (semaphore.the_priority_is_ignored,)),
    (
        test_semaphore.test_the_eligible_pass_a_claim_that_does_not_fit,
        (semaphore.the_eligible_wait_behind_what_does_not_fit,),
    ),
    (
        test_semaphore.test_a_cancelled_wait_for_a_request_keeps_its_place,
        (semaphore.a_task_that_stops_waiting_loses_the_position,),
    ),
    (
        test_semaphore.test_a_request_can_be_withdrawn_by_another_task,
        (semaphore.a_withdrawal_of_what_is_granted_says_yes,),
    ),
    (
        test_linearizable.test_a_semaphore_is_linearizable,
        (
            semaphore.a_release_takes_effect_after_it_has_returned,
            semaphore.a_nowait_looks_at_the_permits_alone,
            semaphore.a_nowait_gives_up_where_anything_is_out,
            queue.a_cancellation_beats_a_grant,
        ),
    ),
    (
        test_linearizable.test_a_semaphore_that_is_closed_is_linearizable,
        (queue.a_closed_primitive_still_grants,),
    ),
    (
        test_linearizable.test_a_lock_is_linearizable,
        (lock.the_lock_is_granted_to_two, queue.the_last_in_queue_is_served_first),
    ),
    (
        test_linearizable.test_a_read_write_lock_is_linearizable,
        (rwlock.readers_enter_beside_a_writer,),
    ),
    (
        test_linearizable.test_a_capacity_limiter_is_linearizable,
        (queue.a_cancelled_acquire_stays_in_queue,),
    ),
    (test_linearizable.test_a_rate_limiter_is_linearizable, (queue.newcomers_barge,)),
    (test_linearizable.test_a_wait_queue_is_linearizable, (wait_queue.a_wake_is_kept,)),
    (
        test_linearizable.test_a_parker_is_linearizable,
        (parker.an_unblock_is_used_twice,),
    ),
    (
        test_linearizable.test_a_buffer_is_linearizable,
        (buffer.an_item_is_handed_out_twice,),
    ),
    (
        test_linearizable.test_a_latch_is_linearizable,
        (barrier_and_latch.the_latch_opens_early,),
    ),
    (
        test_linearizable.test_a_barrier_is_linearizable,
        (barrier_and_latch.a_round_is_one_party_short,),
    ),
    (
        test_lock.test_one_task_owns_the_lock,
        (
            lock.the_lock_is_granted_to_two,
            queue.a_release_lets_no_task_in,
            queue.a_cancelled_acquire_stays_in_queue,
            queue.a_cancellation_beats_a_grant,
            queue.the_last_in_queue_is_served_first,
        ),
    ),
    (
        test_lock.test_an_owner_that_ends_breaks_the_lock_for_every_task,
        (lock.the_end_of_an_owner_is_ignored,),
    ),
    (
        test_lock.test_a_request_left_behind_ends_with_its_task,
        (lock.the_request_of_an_ended_task_stays_in_queue,),
    ),
    (
        test_condition.test_a_notification_reaches_a_task_though_its_waiter_is_cancelled,
        (
            condition.a_notification_is_lost_with_its_waiter,
            condition.a_cancelled_waiter_does_not_come_back,
            condition.a_notified_waiter_owns_nothing,
        ),
    ),
    (
        test_condition.test_as_many_are_notified_as_notify_says,
        (condition.one_is_notified_whatever_the_count,),
    ),
    (
        test_condition.test_an_owner_that_ends_is_told_to_the_waiters_of_each_condition,
        (condition.the_lock_forgets_its_conditions_when_it_breaks,),
    ),
    (
        test_monitor.test_one_task_is_inside_and_its_guard_holds,
        (
            monitor.two_are_inside,
            monitor.guards_are_evaluated_on_arrival_only,
            queue.a_cancellation_beats_a_grant,
            monitor.a_change_evaluates_no_guard,
        ),
    ),
    (
        test_monitor.test_a_buffer_by_guards_loses_no_item_and_invents_none,
        (
            monitor.guards_are_not_evaluated,
            monitor.a_monitor_left_lets_no_task_in,
            queue.a_cancelled_acquire_stays_in_queue,
            queue.those_let_in_are_not_woken,
        ),
    ),
    (
        test_monitor.test_a_guard_that_looks_at_the_request_passes_over_older_calls,
        (monitor.the_oldest_call_of_an_entry_blocks_the_others,),
    ),
    (
        test_monitor.test_mesa_a_notification_reaches_a_task_though_its_waiter_is_cancelled,
        (
            condition.a_notification_is_lost_with_its_waiter,
            condition.a_cancelled_waiter_does_not_come_back,
            condition.a_notified_waiter_owns_nothing,
        ),
    ),
    (
        test_monitor.test_hoare_what_the_signaller_saw_is_true_when_the_waiter_goes_on,
        (
            monitor.the_waiter_that_was_signalled_waits_in_queue,
            monitor.a_signaller_gets_in_last,
            monitor.a_signaller_is_forgotten,
        ),
    ),
    (
        test_monitor.test_closing_reaches_those_outside_and_those_on_a_condition,
        (
            queue.closing_forgets_those_in_queue,
            monitor.a_monitor_forgets_its_conditions_when_it_closes,
            monitor.a_closed_monitor_takes_new_calls,
        ),
    ),
    (
        test_monitor.test_closing_reaches_a_signaller_that_waits_to_get_in_again,
        (monitor.a_monitor_forgets_its_signallers_when_it_closes,),
    ),
    (
        test_monitor.test_closing_an_entry_sends_its_callers_away,
        (monitor.an_entry_that_closes_forgets_its_callers,),
    ),
    (
        test_wait_queue.test_a_wake_is_never_spent_on_a_wait_that_is_cancelled,
        (queue.a_cancelled_acquire_stays_in_queue, queue.those_let_in_are_not_woken),
    ),
    (
        test_wait_queue.test_who_waits_for_a_predicate_goes_on_while_it_is_true,
        (wait_queue.a_predicate_is_evaluated_before_the_schedule_point,),
    ),
    (
        test_monitor.test_nowait_enters_only_where_no_task_is_inside,
        (monitor.nowait_does_not_look,),
    ),
    (test_wait_queue.test_a_wake_wakes_one_who_waits_and_is_not_kept, (wait_queue.a_wake_is_kept,)),
    (
        test_wait_queue.test_waking_all_wakes_those_who_wait_now,
        (wait_queue.waking_all_leaves_one_behind,),
    ),
    (
        test_parker.test_each_block_uses_one_unblock_in_whatever_order,
        (
            parker.an_unblock_that_comes_first_is_lost,
            parker.an_unblock_is_used_twice,
            queue.a_cancelled_acquire_stays_in_queue,
        ),
    ),
    (test_parker.test_one_task_blocks_and_others_are_refused, (parker.two_may_block,)),
    (
        test_rwlock.test_a_writer_is_alone,
        (
            rwlock.readers_enter_beside_a_writer,
            queue.a_release_lets_no_task_in,
            queue.a_withdrawal_lets_no_task_in,
            queue.a_cancelled_acquire_stays_in_queue,
            queue.a_cancellation_beats_a_grant,
            queue.newcomers_barge,
        ),
    ),
    (
        test_rwlock.test_a_writer_is_alone_in_its_phase,
        (rwlock.readers_that_wait_stay_where_a_writer_leaves,),
    ),
    (
        test_rwlock.test_a_writer_is_alone_where_readers_come_first,
        (queue.those_let_in_are_not_woken,),
    ),
    (
        test_rwlock.test_a_writer_is_alone_where_writers_come_first,
        (rwlock.one_reader_that_leaves_lets_a_writer_in,),
    ),
    (
        test_rwlock.test_no_task_writes_between_a_write_and_its_downgrade,
        (rwlock.a_downgrade_lets_another_writer_in,),
    ),
    (
        test_rwlock.test_a_holder_that_ends_breaks_the_lock_for_every_task,
        (lock.the_end_of_an_owner_is_ignored,),
    ),
    (
        test_rwlock.test_closing_sends_every_waiting_task_away,
        (queue.closing_forgets_those_in_queue, queue.a_closed_primitive_still_grants),
    ),
    (
        test_rate_limiter.test_no_more_is_granted_than_time_has_brought,
        (
            rate_limiter.a_timer_only_withdraws,
            rate_limiter.a_request_that_moves_up_to_the_head_has_no_timer,
            rate_limiter.a_cancellation_beats_the_time,
            queue.a_withdrawal_lets_no_task_in,
            queue.a_cancelled_acquire_stays_in_queue,
        ),
    ),
    (
        test_rate_limiter.test_who_gives_up_in_time_takes_nothing,
        (rate_limiter.the_bucket_overflows,),
    ),
    (
        test_rate_limiter.test_who_sleeps_behind_a_request_is_woken_in_time,
        (
            rate_limiter.a_task_that_sleeps_behind_a_request_has_no_timer,
            rate_limiter.no_request_is_granted_before_the_clock_is_read,
        ),
    ),
    (
        test_rate_limiter.test_closing_sends_every_waiting_task_away,
        (queue.closing_forgets_those_in_queue,),
    ),
    (
        test_resource_pool.test_an_item_is_lent_to_one_task_at_a_time_and_comes_back,
        (
            resource_pool.a_borrower_that_makes_no_item_keeps_its_place,
            resource_pool.a_cancelled_request_is_assigned_the_place,
            resource_pool.a_returned_item_wakes_no_task,
            resource_pool.an_item_is_lent_twice,
            resource_pool.a_place_is_released_only_by_a_borrower_that_ends_well,
            resource_pool.a_block_that_fails_keeps_its_place,
            queue.a_cancelled_acquire_stays_in_queue,
        ),
    ),
    (
        test_resource_pool.test_whatever_ends_a_check_or_a_close_frees_the_place,
        (
            resource_pool.an_item_counts_as_closed_when_its_close_begins,
            resource_pool.what_a_cancelled_check_left_is_lent,
            resource_pool.a_cancelled_check_loses_its_item,
            resource_pool.a_close_can_be_cancelled,
        ),
    ),
    (
        test_resource_pool.test_a_task_that_fails_to_make_an_item_leaves_its_place_to_the_next,
        (
            resource_pool.a_failed_block_keeps_its_item,
            resource_pool.what_a_cancelled_block_left_is_lent,
        ),
    ),
    (
        test_resource_pool.test_closing_sends_every_waiting_task_away,
        (queue.closing_forgets_those_in_queue,),
    ),
    (
        test_value.test_a_value_that_held_for_a_moment_is_not_missed,
        (
            value.one_of_the_waiters_is_granted,
            value.an_assignment_is_seen_by_the_next_one,
            value.what_is_there_now_is_returned,
            queue.those_let_in_are_not_woken,
        ),
    ),
    (
        test_value.test_an_iterator_gives_each_assignment_once,
        (value.an_iterator_skips_to_the_newest, value.a_cancelled_step_of_an_iterator_is_over),
    ),
    (
        test_value.test_closing_sends_every_waiting_task_away,
        (queue.closing_forgets_those_in_queue,),
    ),
    (
        test_lock_map.test_one_task_has_a_key_and_nothing_is_left_of_it,
        (
            lock_map.each_use_has_a_lock_of_its_own,
            lock_map.a_lock_that_is_held_is_forgotten,
            lock_map.a_key_that_was_released_stays,
            lock_map.a_task_that_releases_takes_the_entry_from_the_next,
            queue.a_cancelled_acquire_stays_in_queue,
        ),
    ),
    (
        test_lock_map.test_two_keys_are_taken_in_one_step_in_any_order,
        (groups.a_block_releases_the_first_alone,),
    ),
    (
        test_lock_map.test_closing_sends_every_waiting_task_away,
        (queue.closing_forgets_those_in_queue,),
    ),
    (
        test_barrier_and_latch.test_a_round_goes_on_as_a_whole_or_breaks_as_a_whole,
        (
            barrier_and_latch.a_round_is_one_party_short,
            barrier_and_latch.a_deserter_only_leaves,
            barrier_and_latch.a_cancelled_party_fills_the_round,
        ),
    ),
    (
        test_barrier_and_latch.test_who_is_cancelled_is_not_of_the_round,
        (barrier_and_latch.numbers_are_given_on_arrival, queue.those_let_in_are_not_woken),
    ),
    (
        test_barrier_and_latch.test_each_round_is_full_before_it_goes_on,
        (barrier_and_latch.a_round_leaves_one_behind,),
    ),
    (
        test_barrier_and_latch.test_who_has_left_is_not_waited_for,
        (
            barrier_and_latch.leaving_lets_no_task_in,
            barrier_and_latch.a_party_that_left_is_waited_for,
        ),
    ),
    (
        test_barrier_and_latch.test_the_action_is_done_before_any_task_goes_on,
        (
            barrier_and_latch.the_action_runs_after_the_round_is_let_in,
            barrier_and_latch.a_failed_action_lets_the_others_go_on,
        ),
    ),
    (
        test_barrier_and_latch.test_who_waits_goes_on_when_all_is_counted_down,
        (barrier_and_latch.the_latch_opens_early, barrier_and_latch.the_last_count_lets_one_in),
    ),
    (
        test_capacity_limiter.test_no_more_than_two_hold_a_token_of_two,
        (
            capacity_limiter.one_token_too_many,
            queue.a_cancelled_acquire_stays_in_queue,
            queue.a_release_lets_no_task_in,
        ),
    ),
    (
        test_capacity_limiter.test_a_change_of_the_total_lets_in_and_keeps_out_as_many,
        (capacity_limiter.more_tokens_let_no_task_in,),
    ),
    (
        test_capacity_limiter.test_a_borrower_that_waits_is_not_lent_two_tokens,
        (capacity_limiter.a_borrower_may_wait_twice,),
    ),
    (
        test_broadcast.test_each_item_is_put_for_all_or_for_no_task,
        (groups.half_a_group_is_granted, queue.a_cancellation_beats_a_grant),
    ),
    (
        test_broadcast.test_a_late_consumer_has_the_items_of_those_puts_that_were_called_after_it_came,
        (broadcast.a_task_that_comes_while_a_put_waits_is_handed_its_item,),
    ),
    (
        test_buffer.test_no_item_is_lost_or_got_twice,
        (
            buffer.an_item_is_handed_out_twice,
            buffer.a_put_is_not_told_to_those_that_get,
            queue.those_let_in_are_not_woken,
            queue.a_cancelled_acquire_stays_in_queue,
            queue.a_cancellation_beats_a_grant,
        ),
    ),
    (
        test_buffer.test_several_at_once_are_put_as_a_whole_or_not_at_all,
        (buffer.half_of_a_put_is_put, buffer.the_item_of_a_cancelled_task_is_lost),
    ),
    (
        test_buffer.test_a_batch_has_all_of_its_items_or_none,
        (buffer.the_end_of_a_window_takes_nothing,),
    ),
    (
        test_buffer.test_the_first_of_two_buffers_is_got_and_the_other_keeps_its_item,
        (groups.a_choice_is_granted_twice,),
    ),
    (
        test_buffer.test_who_waits_for_more_is_told_that_there_is_none,
        (buffer.a_task_that_waits_for_more_is_not_told_of_the_end,),
    ),
    (
        test_buffer.test_closing_sends_every_waiting_task_away,
        (queue.closing_forgets_those_in_queue,),
    ),
    (
        test_buffer_items.test_a_job_is_done_once_or_is_there_whichever_worker_is_stopped,
        (
            buffer.what_comes_back_goes_to_the_end,
            buffer.what_fails_is_lost,
            buffer.a_block_that_is_stopped_keeps_its_item,
        ),
    ),
    (
        test_buffer_items.test_workers_end_when_nothing_can_come_back,
        (buffer.the_end_is_told_while_an_item_is_in_hand, buffer.what_comes_back_wakes_no_task),
    ),
    (
        test_buffer_items.test_who_puts_finds_no_room_until_an_item_is_used_up,
        (buffer.an_item_in_hand_leaves_its_room,),
    ),
    (
        test_buffer_items.test_closing_sends_every_waiting_task_away,
        (queue.closing_forgets_those_in_queue,),
    ),
    (
        test_pool.test_no_job_is_lost_or_run_twice,
        (
            pool.a_worker_has_two_jobs,
            pool.whose_job_begins_sleeps_on,
            queue.a_release_lets_no_task_in,
            queue.a_cancelled_acquire_stays_in_queue,
        ),
    ),
    (
        test_pool.test_a_run_has_ended_its_job_when_it_returns,
        (pool.a_cancelled_run_leaves_its_job_running,),
    ),
    (
        test_pool.test_a_job_that_is_cancelled_has_run_or_has_not,
        (pool.a_cancelled_job_stays_in_queue,),
    ),
    (
        test_pool.test_closing_sends_away_who_is_held_back_and_does_the_rest,
        (pool.closing_forgets_what_is_held_back,),
    ),
    (
        test_thread_holds.test_an_interrupt_comes_before_a_grant_or_after_it,
        (
            thread_hold.an_interrupt_beats_a_grant,
            thread_hold.what_was_dropped_is_done,
        ),
    ),
    (
        test_thread_holds.test_an_interrupt_while_it_leaves_gives_back_once,
        (thread_hold.leaving_can_be_dropped,),
    ),
    (
        test_thread_holds.test_a_timeout_ends_before_a_grant_or_after_it,
        (thread_hold.no_timeout_is_set,),
    ),
    (
        test_thread_holds.test_the_run_ends_before_a_grant_or_after_it,
        (thread_hold.the_end_of_the_run_leaves_the_task_that_is_inside,),
    ),
    (
        test_thread_holds.test_who_started_it_is_cancelled_before_a_grant_or_after_it,
        (
            queue.a_cancelled_acquire_stays_in_queue,
            thread_hold.the_task_that_started_it_goes_away_at_once,
        ),
    ),
    (
        test_channel.test_what_is_sent_is_received_once_and_then_it_ends,
        (channel.the_last_end_that_closes_says_nothing,),
    ),
    (test_channel.test_each_item_is_received_by_one_clone, (channel.a_clone_is_not_counted,)),
    (
        test_channel.test_an_end_that_is_closed_tells_those_who_wait_by_it_alone,
        (channel.closing_an_end_tells_every_waiter,),
    ),
    (test_pool.test_results_come_once_and_in_order, (pool.results_come_as_jobs_end,)),
    (test_pool.test_results_come_once_as_jobs_end, (pool.a_job_that_ends_tells_no_task,)),
    (test_pool.test_results_of_an_async_source_come_once, (pool.an_end_of_the_source_is_not_told,)),
    (
        test_pool.test_a_result_whose_wait_is_cancelled_comes_next,
        (pool.a_cancelled_wait_loses_its_result,),
    ),
    (
        test_acquire_all.test_philosophers_in_any_order_of_forks_all_eat,
        (
            groups.a_group_is_granted_where_there_is_no_room,
            groups.a_block_releases_the_first_alone,
            queue.a_cancelled_acquire_stays_in_queue,
            queue.a_cancellation_beats_a_grant,
            queue.those_let_in_are_not_woken,
        ),
    ),
    (
        test_acquire_all.test_groups_and_single_claims_share_the_queues,
        (groups.a_group_takes_what_is_not_its_turn,),
    ),
    (
        test_acquire_all.test_a_choice_is_one_of_the_two,
        (groups.a_choice_is_granted_twice,),
    ),
    (
        test_acquire_all.test_a_choice_leaves_the_other_queues_to_groups_behind_it,
        (groups.a_group_stays_in_the_other_queues, groups.a_group_leaves_the_other_queues_asleep),
    ),
    (
        test_acquire_all.test_closing_one_takes_a_group_out_of_the_other_queue,
        (queue.closing_forgets_those_in_queue,),
    ),
    (
        test_acquire_all.test_an_owner_that_ends_breaks_the_groups_that_wait,
        (lock.the_end_of_an_owner_is_ignored,),
    ),
    (
        test_rwlock_in_groups.test_a_writer_in_a_group_is_alone,
        (
            groups.a_claim_to_write_only_reads,
            groups.a_group_is_granted_where_there_is_no_room,
            queue.a_withdrawal_lets_no_task_in,
            queue.newcomers_barge,
        ),
    ),
    (
        test_rwlock_in_groups.test_who_may_read_or_take_the_lock_does_one_of_the_two,
        (groups.a_choice_is_granted_twice, groups.a_group_stays_in_the_other_queues),
    ),
    (
        test_rwlock_in_groups.test_a_reader_that_ends_breaks_the_groups_that_wait_to_write,
        (lock.the_end_of_an_owner_is_ignored, groups.a_group_leaves_the_other_queues_asleep),
    ),
    (
        test_rwlock_in_groups.test_a_claim_may_be_made_once_for_all,
        (groups.a_claim_is_for_the_task_that_made_it,),
    ),
    (
        test_requests.test_a_request_of_a_group_is_all_of_it_or_nothing,
        (
            groups.a_request_is_withdrawn_from_the_first_queue_alone,
            groups.a_closed_request_keeps_what_it_was_granted,
            groups.half_a_group_is_granted,
        ),
    ),
    (
        test_requests.test_a_request_may_be_closed_by_any_task_at_any_time,
        (groups.a_closed_request_releases_at_each_close,),
    ),
    (
        test_requests.test_what_is_given_back_early_lets_others_in_and_the_rest_does_not,
        (
            groups.what_is_released_early_is_all_of_it,
            groups.what_is_released_early_is_released_at_the_end,
        ),
    ),
    (
        test_requests.test_what_is_kept_is_held_until_it_is_closed,
        (groups.what_is_kept_is_released_with_the_block,),
    ),
    (
        test_requests.test_readers_and_writers_by_request_are_apart,
        (groups.a_request_to_write_only_reads,),
    ),
    (
        test_synchronizer.test_at_most_one_switch_is_on,
        (
            synchronizer.what_is_disabled_starts_all_the_same,
            queue.a_cancelled_acquire_stays_in_queue,
            queue.a_cancellation_beats_a_grant,
        ),
    ),
    (
        test_synchronizer.test_calls_on_two_monitors_start_together,
        (
            synchronizer.the_first_of_two_does_not_wait_for_the_other,
            synchronizer.the_end_of_the_rules_lets_no_task_in,
            queue.those_let_in_are_not_woken,
        ),
    ),
    (
        test_synchronizer.test_whose_trigger_raises_has_not_run_and_keeps_no_task_out,
        (
            synchronizer.whose_trigger_raises_runs_all_the_same,
            synchronizer.a_trigger_that_raises_keeps_every_task_out,
        ),
    ),
    (
        test_synchronizer.test_closing_a_member_sends_away_those_who_wait_for_it,
        (synchronizer.partners_of_a_closed_member_wait_on,),
    ),
    (
        test_synchronizer.test_philosophers_under_a_rule_over_the_seats_all_eat,
        (synchronizer.a_trigger_lets_no_task_in_elsewhere,),
    ),
    (
        test_transitions.test_what_is_released_in_the_middle_of_a_step_lets_in_who_waits,
        (
            queue.what_comes_in_the_middle_of_a_step_is_dropped,
            queue.a_granted_request_stays_in_queue,
        ),
    ),
    (
        test_transitions.test_who_is_about_to_park_is_let_in_by_who_hears_of_it,
        (queue.a_grant_is_not_marked,),
    ),
    (
        test_transitions.test_what_is_released_while_a_claim_is_evaluated_is_released_after_the_step,
        (queue.what_comes_in_the_middle_of_a_step_is_done_at_once,),
    ),
    (
        test_scope.test_what_a_scope_owns_closes_when_its_last_task_has_ended,
        (scope.a_scope_leaves_open_what_it_owns, queue.a_cancellation_beats_a_grant),
    ),
    (
        test_scope.test_a_leak_is_reported_if_and_only_if_there_is_one,
        (scope.a_scope_does_not_look_for_leaks,),
    ),
    (
        test_user_written.test_a_keyed_lock_excludes_those_with_the_same_key,
        (a_key_is_locked_twice,),
    ),
    (
        test_user_written.test_what_an_ended_task_owned_is_released_if_that_is_chosen,
        (what_an_ended_task_owned_stays_with_it,),
    ),
    (test_user_written.test_a_fair_queue_gives_each_its_turn, (a_turn_is_not_released,)),
    (
        test_user_written.test_no_task_boards_where_others_step_off,
        (the_ferry_boards_after_landing,),
    ),
    (
        test_user_written.test_the_ferry_carries_one_bank_at_a_time,
        (
            the_ferry_boards_from_both_banks,
            queue.a_release_lets_no_task_in,
            queue.a_cancelled_acquire_stays_in_queue,
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
    failure = SWEPT[test].explore(GATE).failure
    assert failure is not None, "the sweep is blind to this fault"
    assert failure.execution <= BUDGET
    FOUND.append((plant.__name__, test.__name__, failure))
