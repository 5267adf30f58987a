"""Bugs that conditions of others had, planted in ours: each must be found by the named property."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from structsync import Status
from structsync._core.primitives.condition import ConditionCore
from structsync._core.primitives.lock import LockCore
from structsync._core.queue.request import Request
from structsync.checking import fault

from ._broken_conditions import (
    CancelledKeepsItsPosition,
    HeirGoesToTheEnd,
    NoHeir,
    ReturnsWithoutTheLock,
    TakesTheNewest,
    WaitWakesNoTask,
)
from ._lock_with_conditions import LockWithConditions
from ._planting import break_only, grant
from .condition import ConditionSpec

Ended = list[Request[Any]]


class _EveryCancellationNotifies(ConditionCore):
    def cancel(self, request: Request[Any]) -> Ended | None:
        was_waiting = request.queue is self.queue
        ended = super().cancel(request)
        if was_waiting:
            self.notify(1)
        return ended


class _NotifiedOwnAtOnce(ConditionCore):
    def notify(self, count: int | None) -> Ended:
        ended = []
        for request in self._oldest(count):
            self._pop(request)
            ended.append(grant(self.lock, request))
        return ended


class _NotifiesOneTooMany(ConditionCore):
    def notify(self, count: int | None) -> Ended:
        return super().notify(count and count + 1)


class _ClosingForgetsTheNewest(ConditionCore):
    def end(self, cause: Hashable) -> Ended:
        newest = self.waiting()[-1:]
        self._pop(newest[0]) if newest else None
        ended = super().end(cause)
        for request in newest:
            self.join(request)
        return ended


class _EndsAlone(LockCore):
    def end(self, cause: Hashable) -> Ended:
        ended: Ended = break_only(self, self.waiting(), str(cause))
        return ended


class _EndedMayBeCancelled(ConditionCore):
    def cancel(self, request: Request[Any]) -> Ended | None:
        self._stop_waiting(request)
        request.status = Status.WITHDRAWN
        if all(one.claim != request.claim for one in self.lock.queue):
            self._rejoin(request)
        return self.lock.settle()


class _StaysKnown(ConditionCore):
    def _pop(self, request: Request[Any]) -> bool:
        return self.leave(request)


class _ReleaserComesFirst(LockCore):
    def release(self, claim: Hashable) -> Ended:
        self.discharge(claim)
        return []

    def admissible(self, claim: Hashable, priority: int = 0) -> bool:
        return self.cause is None and self.admits(claim)


@fault(ConditionSpec, "core", refuted_by="no_notification_is_lost")
def notification_dies_with_the_cancelled_waiter() -> LockWithConditions:
    """Notified, then cancelled in the queue for the lock, and no task takes over (N1: trio.Condition)."""
    return LockWithConditions(NoHeir)


@fault(ConditionSpec, "core", refuted_by="the_oldest_are_notified_first")
def the_newest_is_notified() -> LockWithConditions:
    """Notifying one task takes the newest, which came long after the oldest."""
    return LockWithConditions(TakesTheNewest)


@fault(ConditionSpec, "core", refuted_by="positions_are_kept")
def the_heir_goes_to_the_end() -> LockWithConditions:
    """The notification is handed on, but its position in the queue for the lock is lost."""
    return LockWithConditions(HeirGoesToTheEnd)


@fault(ConditionSpec, "core", refuted_by="each_task_is_in_one_queue_and_the_right_one")
def every_cancellation_notifies() -> LockWithConditions:
    """A task is woken because another, not notified, was cancelled (a spurious wakeup)."""
    return LockWithConditions(_EveryCancellationNotifies)


@fault(ConditionSpec, "core", refuted_by="each_task_is_in_one_queue_and_the_right_one")
def cancelled_returns_without_the_lock() -> LockWithConditions:
    """Cancelled, it raises at once, and the block around it releases what it does not own (N4, N6)."""
    return LockWithConditions(ReturnsWithoutTheLock)


@fault(ConditionSpec, "core", refuted_by="the_cancelled_join_at_the_end")
def cancelled_keeps_its_position() -> LockWithConditions:
    """A cancelled task keeps its position, and the one that can use the notification comes later."""
    return LockWithConditions(CancelledKeepsItsPosition)


@fault(ConditionSpec, "core", refuted_by="one_owner_at_a_time")
def the_notified_own_the_lock_at_once() -> LockWithConditions:
    """Notifying wakes the waiter while the notifier owns the lock: two owners."""
    return LockWithConditions(_NotifiedOwnAtOnce)


@fault(ConditionSpec, "core", refuted_by="each_task_is_in_one_queue_and_the_right_one")
def one_too_many_is_notified() -> LockWithConditions:
    """A notification for one reaches two."""
    return LockWithConditions(_NotifiesOneTooMany)


@fault(ConditionSpec, "core", refuted_by="nothing_waits_when_closed_or_broken")
def closing_forgets_the_newest() -> LockWithConditions:
    """Closing a condition tells all tasks that wait but the newest (C2: CPython gh-117531)."""
    return LockWithConditions(_ClosingForgetsTheNewest)


@fault(ConditionSpec, "core", refuted_by="nothing_waits_when_closed_or_broken")
def breaking_the_lock_strands_its_conditions() -> LockWithConditions:
    """The owner has exited; tasks in the queue are told, tasks on the conditions wait forever (C4)."""
    return LockWithConditions(lock=_EndsAlone)


@fault(ConditionSpec, "core", refuted_by="nothing_grantable_waits")
def waiting_wakes_no_task() -> LockWithConditions:
    """The lock is released for the wait, and the tasks in the queue for it sleep on."""
    return LockWithConditions(WaitWakesNoTask)


@fault(ConditionSpec, "core", refuted_by="a_second_cancellation_changes_nothing")
def a_grant_may_be_cancelled() -> LockWithConditions:
    """Cancelled after it was granted the lock, it waits for the lock again (N4: python/asyncio#346)."""
    return LockWithConditions(_EndedMayBeCancelled)


@fault(ConditionSpec, "core", refuted_by="the_lock_knows_the_notified")
def a_condition_without_waiters_is_kept() -> LockWithConditions:
    """The lock keeps each condition that ever had a waiter, and is never quiescent."""
    return LockWithConditions(_StaysKnown)


@fault(ConditionSpec, "core", refuted_by="nowait_agrees_with_the_queue")
def a_nowait_passes_the_notified() -> LockWithConditions:
    """The lock is free while the notified task wakes up, and a nowait gets it (O3: anyio#1170)."""
    return LockWithConditions(lock=_ReleaserComesFirst)


@fault(ConditionSpec, "core", refuted_by="every_queued_task_owns_the_lock")
def the_releaser_comes_first() -> LockWithConditions:
    """A task that releases the lock takes it again, and the notified one starves (O1: gh-90155)."""
    return LockWithConditions(lock=_ReleaserComesFirst)
