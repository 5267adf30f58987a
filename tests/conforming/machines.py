"""Which primitive is held against which shipped specification, by which machine, and what that must find.

The one table. `test_every_primitive.py` fails if something that waits is neither in it nor excused here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import pytest

from structsync import CapacityLimiter, Lock, Semaphore
from structsync.checking import Adapter, Spec
from structsync.specs.lock_policies import LEVELS, TOKENS
from structsync.specs.priority import AGEING, PERMITS
from structsync.specs.priority import LEVELS as PRIORITIES
from structsync.specs.semaphore import AT_FIRST

from ..plants import (  # noqa: TID252 - one home of the faults
    buffer,
    channel,
    groups,
    lock,
    lock_map,
    monitor,
    pool,
    queue,
    rate_limiter,
    resource_pool,
    synchronizer,
)
from . import conditions, holders, items, lent, monitors, rwlocks, several, waiters

Plant = Callable[[pytest.MonkeyPatch], None]


@dataclass(frozen=True, kw_only=True)
class Held:
    """Something that is held against a specification.

    Attributes:
        of: the public names that it is about.
        kinds: what it is called in `tests/every_primitive/kinds.py`, where it has other names there.
        spec: a specification that ships, with what of it can be seen.
        adapter: makes the adapter.
        finds: the faults of the shell that the machine must find.
        without: the actions that this primitive does not have, or that others of the table take.
        examples: how many are enough to take each of the others.
    """

    of: Sequence[str]
    kinds: Sequence[str] = ()
    spec: type[Spec]
    adapter: Callable[[], Adapter]
    finds: Sequence[Plant]
    without: frozenset[str] = frozenset()
    examples: int = 12


WAITS = (queue.those_let_in_are_not_woken, queue.a_cancelled_acquire_stays_in_queue)
CLOSES = (*WAITS, queue.a_close_is_ignored)
OWNED = (*CLOSES, lock.the_end_of_an_owner_is_ignored)
MODES = (*OWNED, groups.a_request_to_write_only_reads)
ITEMS = (
    *WAITS,
    buffer.a_put_is_not_told_to_those_that_get,
    buffer.the_item_of_a_cancelled_task_is_lost,
)
IN_HAND = (*WAITS, buffer.a_block_that_is_stopped_keeps_its_item)
JOBS = (
    queue.those_let_in_are_not_woken,
    pool.whose_job_begins_sleeps_on,
    pool.a_cancelled_submission_stays_in_queue,
)
TIMERS = (
    rate_limiter.a_request_that_moves_up_to_the_head_has_no_timer,
    rate_limiter.a_timer_only_withdraws,
)

STRICT: dict[str, Any] = {"policy": "priority", "ageing": None}
BOUNDED: dict[str, Any] = {"initial_value": AT_FIRST, "max_value": AT_FIRST}
ELIGIBLE: dict[str, Any] = {"initial_value": 3, "max_value": 3, "policy": "eligible"}
AGED: dict[str, Any] = {
    "initial_value": PERMITS,
    "max_value": PERMITS,
    "policy": "priority",
    "ageing": AGEING,
}


def semaphore(
    spec: type[Any],
    options: dict[str, Any],
    levels: Any = None,
    adapter: Any = holders.OfSemaphore,
) -> Callable[[], Adapter]:
    return partial(adapter, partial(Semaphore, **options), spec, levels or {})


def of_lock(levels: Any = None, **options: Any) -> Callable[[], Adapter]:
    return partial(holders.OfLock, partial(Lock, **options), levels or {})


def limiter(levels: Any = None, **options: Any) -> Callable[[], Adapter]:
    return partial(holders.OfLock, partial(CapacityLimiter, TOKENS, **options), levels or {})


HELD: dict[str, Held] = {
    "semaphore": Held(
        of=("Semaphore",),
        spec=holders.SeenSignals,
        adapter=holders.OfSignals,
        finds=CLOSES,
    ),
    "bounded semaphore": Held(
        of=("Semaphore",),
        spec=holders.SeenSemaphore,
        adapter=semaphore(holders.SeenSemaphore, BOUNDED),
        finds=CLOSES,
    ),
    "budget semaphore": Held(
        of=("Semaphore",),
        spec=holders.SeenSemaphore,
        adapter=semaphore(holders.SeenSemaphore, {**BOUNDED, "checkpoint": "budget"}),
        finds=CLOSES,
    ),
    "eligible semaphore": Held(
        of=("Semaphore",),
        spec=holders.SeenEligible,
        adapter=semaphore(holders.SeenEligible, ELIGIBLE),
        finds=CLOSES,
    ),
    "priority semaphore": Held(
        of=("Semaphore",),
        spec=holders.SeenPriority,
        adapter=semaphore(holders.SeenPriority, AGED, PRIORITIES),
        finds=CLOSES,
    ),
    "three permits": Held(
        of=("Semaphore", "Held"),
        spec=holders.SeenBlocks,
        adapter=semaphore(holders.SeenBlocks, BOUNDED, adapter=holders.OfBlocks),
        finds=CLOSES,
        without=frozenset({"release_one"}),
    ),
    "lock": Held(
        of=("Lock", "Request"),
        spec=holders.SeenLock,
        adapter=of_lock(),
        finds=OWNED,
        examples=18,
    ),
    "budget lock": Held(
        of=("Lock",),
        spec=holders.SeenLock,
        adapter=of_lock(checkpoint="budget"),
        finds=OWNED,
        examples=18,
    ),
    "priority lock": Held(
        of=("Lock",),
        spec=holders.SeenPriorityLock,
        adapter=of_lock(LEVELS, **STRICT),
        finds=CLOSES,
    ),
    "eligible lock": Held(
        of=("Lock",),
        spec=holders.SeenEligibleLock,
        adapter=of_lock(policy="eligible"),
        finds=CLOSES,
    ),
    "limiter": Held(
        of=("CapacityLimiter",),
        spec=holders.SeenLimiter,
        adapter=holders.OfLimiter,
        finds=CLOSES,
    ),
    "limiter on behalf of": Held(
        of=("CapacityLimiter",),
        spec=holders.SeenLimiter,
        adapter=holders.OfBorrowers,
        finds=CLOSES,
    ),
    "priority limiter": Held(
        of=("CapacityLimiter",),
        spec=holders.SeenPriorityLimiter,
        adapter=limiter(LEVELS, **STRICT),
        finds=CLOSES,
    ),
    "eligible limiter": Held(
        of=("CapacityLimiter",),
        spec=holders.SeenEligibleLimiter,
        adapter=limiter(policy="eligible"),
        finds=CLOSES,
    ),
    "rwlock": Held(
        of=("RWLock",),
        kinds=("rwlock, writing", "rwlock, reading"),
        spec=rwlocks.SeenRWLock,
        adapter=partial(rwlocks.OfRWLock, "fifo"),
        finds=MODES,
        examples=18,
    ),
    "phase rwlock": Held(
        of=("RWLock",),
        kinds=("phase rwlock, writing", "phase rwlock, reading"),
        spec=rwlocks.SeenPhase,
        adapter=partial(rwlocks.OfRWLock, "phase"),
        finds=MODES,
        examples=18,
    ),
    "readers rwlock": Held(
        of=("RWLock",),
        spec=rwlocks.SeenReadersFirst,
        adapter=partial(rwlocks.OfRWLock, "readers"),
        finds=MODES,
        examples=18,
    ),
    "writers rwlock": Held(
        of=("RWLock",),
        spec=rwlocks.SeenWritersFirst,
        adapter=partial(rwlocks.OfRWLock, "writers"),
        finds=MODES,
        examples=18,
    ),
    "latch": Held(
        of=("Latch",),
        spec=waiters.SeenLatch,
        adapter=waiters.OfLatch,
        finds=CLOSES,
    ),
    "wait queue": Held(
        of=("WaitQueue",),
        spec=waiters.SeenWaitQueue,
        adapter=waiters.OfWaitQueue,
        finds=CLOSES,
    ),
    "parker": Held(
        of=("Parker",),
        spec=waiters.SeenParker,
        adapter=waiters.OfParker,
        finds=CLOSES,
    ),
    "barrier": Held(
        of=("Barrier",),
        spec=waiters.SeenBarrier,
        adapter=partial(waiters.OfBarrier, "leaves"),
        finds=CLOSES,
        examples=30,
        without=frozenset({"leave_and_break"}),
    ),
    "barrier that breaks": Held(
        of=("Barrier",),
        spec=waiters.SeenBreakingBarrier,
        adapter=partial(waiters.OfBarrier, "breaks"),
        finds=CLOSES,
        examples=30,
        without=frozenset({"withdraw"}),
    ),
    "value": Held(
        of=("Value",),
        spec=waiters.SeenValue,
        adapter=waiters.OfValue,
        finds=CLOSES,
    ),
    "rate limiter": Held(
        of=("RateLimiter",),
        spec=waiters.SeenRateLimiter,
        adapter=waiters.OfRateLimiter,
        finds=(*CLOSES, *TIMERS),
        without=frozenset({"read_the_clock_after", "change_the_clock"}),
    ),
    "buffer": Held(
        of=("Buffer",),
        kinds=("buffer, getting", "buffer, putting", "buffer, in batches"),
        spec=items.SeenBuffer,
        adapter=items.OfBuffer,
        finds=ITEMS,
    ),
    "stack": Held(
        of=("Buffer",),
        spec=items.SeenStack,
        adapter=partial(items.OfBuffer, policy="lifo"),
        finds=ITEMS[:-1],
    ),
    "first_of": Held(
        of=("first_of",),
        spec=items.SeenOneByOne,
        adapter=items.OfFirst,
        finds=WAITS,
    ),
    "channel": Held(
        of=("open_channel", "SendingEnd", "ReceivingEnd"),
        spec=items.SeenOneByOne,
        adapter=items.OfChannel,
        finds=(*WAITS, channel.the_last_end_that_closes_says_nothing),
    ),
    "broadcast": Held(
        of=("Broadcast", "Subscription"),
        spec=items.SeenOneByOne,
        adapter=items.OfBroadcast,
        finds=WAITS,
    ),
    "buffer, item in hand": Held(
        of=("BufferItem",),
        spec=lent.SeenLentItems,
        adapter=lent.OfLentItems,
        finds=IN_HAND,
        examples=20,
    ),
    "stack, item in hand": Held(
        of=("BufferItem",),
        spec=lent.SeenLentFromAStack,
        adapter=partial(lent.OfLentItems, policy="lifo"),
        finds=IN_HAND,
        examples=20,
    ),
    "resource pool": Held(
        of=("ResourcePool", "PoolItem"),
        spec=lent.SeenPool,
        adapter=lent.OfPool,
        finds=(*WAITS, resource_pool.a_place_is_released_only_by_a_borrower_that_ends_well),
        without=lent.NOT_OF_THE_POOL,
    ),
    "groups": Held(
        of=("acquire_all", "acquire_any", "AllOf", "AnyOf"),
        kinds=("all of a group", "any of a group"),
        spec=several.SeenGroups,
        adapter=several.OfGroups,
        finds=(*CLOSES, groups.a_group_leaves_the_other_queues_asleep),
        examples=20,
    ),
    "lock map": Held(
        of=("LockMap",),
        spec=several.SeenLockMap,
        adapter=several.OfLockMap,
        finds=(
            *WAITS,
            lock_map.each_use_has_a_lock_of_its_own,
            lock.the_end_of_an_owner_is_ignored,
        ),
    ),
    "task pool": Held(
        of=("open_pool", "TaskPool", "Job"),
        spec=several.SeenJobQueue,
        adapter=several.OfJobs,
        finds=JOBS,
    ),
    "priority task pool": Held(
        of=("TaskPool",),
        spec=several.SeenPriorityJobQueue,
        adapter=partial(several.OfJobs, **STRICT),
        finds=JOBS[::2],
    ),
    "monitor": Held(
        of=("Monitor", "Entry"),
        spec=monitors.SeenMonitor,
        adapter=monitors.OfMonitor,
        finds=(*CLOSES, monitor.a_change_evaluates_no_guard),
    ),
    "monitor under a synchronizer": Held(
        of=("Synchronizer",),
        spec=monitors.SeenSynchronizer,
        adapter=monitors.OfSynchronizer,
        finds=(*WAITS, synchronizer.partners_of_a_closed_entry_wait_on),
    ),
    "monitor condition": Held(
        of=("MonitorCondition",),
        spec=conditions.SeenMesa,
        adapter=partial(conditions.OfStage, "mesa"),
        finds=WAITS,
        examples=18,
    ),
    "hoare condition": Held(
        of=("MonitorCondition",),
        spec=conditions.SeenHoare,
        adapter=partial(conditions.OfStage, "hoare"),
        finds=WAITS,
    ),
    "condition": Held(
        of=("Condition",),
        spec=conditions.SeenCondition,
        adapter=conditions.OfCondition,
        finds=CLOSES,
        examples=18,
    ),
}

#: What waits and is not in the table, and where it is driven instead.
EXCUSED = {
    "user-written bridge": "no primitive of ours: a user's, for the contracts that all have",
    "Changes": "iterates over what is assigned: schedules of tests/schedules/test_value.py",
    "GroupRequest": "a handle on a group: GroupShellMachine",
    "Locked": "a block that acquires and releases as RWLock does: RWLockShellMachine",
    "Results": "results of jobs, in order: PoolShellMachine",
    "Scope": "owns primitives, and grants nothing: tests/schedules/test_scope.py",
    "SyncPool": "the queue of jobs of TaskPool, before processes and threads: tests/shell",
    "open_process_pool": "makes a SyncPool",
    "open_thread_pool": "makes a SyncPool",
    "open_scope": "makes a Scope",
}
