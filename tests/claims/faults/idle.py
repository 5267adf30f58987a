"""Faults of what says that nothing is going on, each for one claim."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from structsync._core.monitors.monitor import MonitorCore
from structsync._core.primitives.capacity_limiter import CapacityLimiterCore
from structsync._core.primitives.job_queue import JobQueueCore
from structsync._core.primitives.lock_map import LockMapCore
from structsync._core.primitives.rwlock import RWLockCore

from ._planting import fault


def not_written(core: Any) -> bool:
    return core.writer is None and not core.queue


readers_do_not_count = fault(
    RWLockCore,
    "is_idle",
    refuted_by="idle.it_is_idle_while_no_task_holds_it_and_none_waits",
)(property(not_written))


def without_queue(core: Any) -> bool:
    return core.cause is not None and not core.queue


jobs_that_run_do_not_count = fault(
    JobQueueCore, "is_idle", refuted_by="idle.a_pool_is_idle_once_it_has_ended"
)(property(without_queue))


@fault(JobQueueCore, "has_room", refuted_by="idle.a_pool_has_room_until_it_is_closed")
def one_more_is_accepted(core: JobQueueCore) -> bool:
    return core.cause is None and core.accepted <= core.max_queued


def no_task_waits(core: Any) -> bool:
    return not core.queue


no_task_queues_for_the_map = fault(
    LockMapCore,
    "is_idle",
    refuted_by="idle.a_map_is_idle_while_none_of_its_locks_is_held",
)(property(no_task_waits))


@fault(CapacityLimiterCore, "held_by", refuted_by="idle.a_holder_of_a_token_is_known_by_name")
def tokens_have_no_names(core: CapacityLimiterCore, claimant: Hashable) -> Hashable:
    return None


def no_task_is_inside(core: Any) -> bool:
    return core.owner is None and not core.queue and not core.conditions


signallers_do_not_count = fault(
    MonitorCore,
    "is_idle",
    refuted_by="idle.a_monitor_is_idle_while_no_task_is_inside_or_waits_and_no_rule_concerns_it",
)(property(no_task_is_inside))
