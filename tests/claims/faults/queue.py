"""Lost wakeups, barging, double ends: each refuted by a claim about the queue."""

from __future__ import annotations

from structsync import Arbiter, Status
from structsync._core.primitives.semaphore import SemaphoreCore
from structsync._core.queue.policy import Eligible
from structsync._core.queue.request import Request
from structsync.specs import semaphore_faults

from ...plants import queue  # noqa: TID252 - the one home of the faults
from ._planting import Ended, Fault, OfASpec, Shared, fault

a_release_wakes_only_one = OfASpec(
    SemaphoreCore,
    semaphore_faults.ReleaseWakesOnlyOne,
    "queue.a_release_grants_from_the_head_until_one_does_not_fit",
)


@fault(Arbiter, "settle", refuted_by="queue.a_release_grants_all_of_a_long_queue_that_fit")
def at_most_two_are_granted_at_once(core: Arbiter[int]) -> Ended:
    granted: Ended = []
    for request in core.waiting()[:2]:
        if core.admits(request.claim):
            core.grant(request)
            granted.append(request)
    return granted


a_withdrawal_wakes_no_task = Shared(
    queue.a_withdrawal_lets_no_task_in, "queue.a_withdrawal_lets_in_those_behind"
)


@fault(SemaphoreCore, "withdraw", refuted_by="queue.a_withdrawal_behind_the_head_lets_no_task_in")
def a_withdrawal_releases_what_it_never_had(
    core: SemaphoreCore, request: Request[int]
) -> Ended | None:
    if not core.leave(request):
        return None
    request.status = Status.WITHDRAWN
    return core.release(request.claim)


@fault(SemaphoreCore, "withdraw", refuted_by="queue.an_ended_request_cannot_be_withdrawn")
def a_granted_request_is_withdrawn(core: SemaphoreCore, request: Request[int]) -> Ended | None:
    core.leave(request)
    request.status = Status.WITHDRAWN
    return core.settle()


a_newcomer_barges = OfASpec(
    SemaphoreCore,
    semaphore_faults.NewcomerBarges,
    "queue.a_newcomer_is_granted_only_if_no_task_waits",
)


@fault(SemaphoreCore, "resize", refuted_by="queue.a_resize_leaves_no_request_waiting_that_fits")
def a_growth_wakes_no_task(core: SemaphoreCore, max_value: int) -> Ended:
    assert core.max_value is not None
    core.value += max_value - core.max_value
    core.max_value = max_value
    return []


@fault(
    SemaphoreCore,
    "end",
    refuted_by="queue.closing_breaks_all_in_the_queue_and_takes_nothing",
)
def closing_reaches_the_head_alone(core: SemaphoreCore, cause: str) -> Ended:
    core.cause = cause
    ended = core.waiting()[:1]
    for request in ended:
        core.end_with(request, Status.BROKEN, cause)
    return ended


the_last_reason_counts = Shared(
    queue.closing_forgets_those_in_queue, "queue.a_closed_queue_stays_closed_for_the_first_reason"
)


a_closed_semaphore_still_grants = Shared(
    queue.a_closed_primitive_still_grants, "queue.nothing_is_granted_after_closing"
)


the_head_blocks_although_it_may_be_passed = Fault(
    Eligible, "head_blocks", True, "queue.eligible_grants_what_fits_oldest_first"
)
