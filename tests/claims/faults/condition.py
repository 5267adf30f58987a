"""Notifications lost, kept or doubled: each refuted by a claim about a condition."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from structsync import Status
from structsync._core.primitives.condition import ConditionCore
from structsync._core.queue.claimants import ClaimantArbiter
from structsync._core.queue.request import Request

from ...plants import condition  # noqa: TID252 - the one home of the faults
from ._planting import Ended, Shared, fault


@fault(
    ConditionCore,
    "refuse_unless_owner",
    refuted_by="condition.only_the_owner_of_the_lock_may_wait_or_notify",
)
def any_owner_will_do(core: ConditionCore, claim: Hashable, verb: str) -> None:
    if core.lock.owner is None:
        raise RuntimeError


@fault(ConditionCore, "admits", refuted_by="condition.without_a_notification_no_task_is_let_in")
def a_waiter_wakes_by_itself(core: ConditionCore, claim: Hashable) -> bool:
    return True


@fault(ConditionCore, "wait", refuted_by="condition.a_wait_gives_the_lock_up_in_the_same_step")
def a_wait_keeps_the_lock(
    core: ConditionCore, claim: Hashable, waiter: Any
) -> tuple[Request[Any], Ended]:
    return core.enqueue(claim, waiter=waiter), []


the_newest_are_notified = Shared(
    condition.the_youngest_are_notified_first,
    "condition.a_notification_moves_the_oldest_to_the_end_of_the_locks_queue",
)


@fault(ConditionCore, "_oldest", refuted_by="condition.notifying_all_moves_all")
def all_means_three(core: ConditionCore, count: int | None) -> Ended:
    return core.waiting()[: count or 3]


a_cancelled_waiter_takes_its_notification_along = Shared(
    condition.a_notification_is_lost_with_its_waiter,
    "condition.a_cancelled_notification_passes_to_the_oldest_not_notified",
)


@fault(
    ConditionCore,
    "_stop_waiting",
    refuted_by="condition.a_cancelled_notification_without_an_heir_ends",
)
def a_notification_without_an_heir_stays_in_queue(
    core: ConditionCore, request: Request[Any]
) -> bool:
    return core._pop(request) or request.queue is core.lock.queue


@fault(
    ConditionCore,
    "_stop_waiting",
    refuted_by="condition.a_cancelled_waiter_spends_no_notification",
)
def a_cancelled_waiter_notifies_the_next(core: ConditionCore, request: Request[Any]) -> bool:
    if core._pop(request):
        core.notify(1)
    return True


@fault(
    ConditionCore,
    "_stop_waiting",
    refuted_by="condition.a_wait_that_owns_the_lock_again_cannot_be_cancelled",
)
def a_wait_is_cancelled_after_its_grant(core: ConditionCore, request: Request[Any]) -> bool:
    return core._pop(request) or core.lock.leave(request) or True


breaking_reaches_the_locks_own_queue_alone = Shared(
    condition.the_lock_forgets_its_conditions_when_it_breaks,
    "condition.breaking_the_lock_reaches_every_waiter",
)


@fault(
    ConditionCore, "end", refuted_by="condition.closing_a_condition_spares_those_already_notified"
)
def closing_breaks_the_notified_too(core: ConditionCore, cause: Hashable) -> Ended:
    core.cause = cause
    core.notify(None)
    for request in core.lock.waiting():
        request.status = Status.BROKEN
        request.cause = cause
    return []


@fault(
    ConditionCore,
    "wait",
    refuted_by="condition.a_lock_is_not_idle_while_a_task_waits_for_a_notification",
)
def the_lock_does_not_know_of_the_condition(
    core: ConditionCore, claim: Hashable, waiter: Any
) -> tuple[Request[Any], Ended]:
    return core.enqueue(claim, waiter=waiter), core.lock.release(claim)


@fault(ConditionCore, "end", refuted_by="condition.a_condition_stays_closed_for_the_first_reason")
def the_last_reason_counts(core: ConditionCore, cause: Hashable) -> Ended:
    core.cause = cause
    core.notify(None)
    return []


@fault(
    ClaimantArbiter, "held_by", refuted_by="condition.no_waiter_that_is_gone_breaks_the_condition"
)
def any_waiter_holds_it(core: ClaimantArbiter, claimant: object) -> object:
    return core.pending.get(claimant)
