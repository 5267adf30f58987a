"""Two owners, or none forever: each refuted by a claim about a lock."""

from __future__ import annotations

from collections.abc import Hashable

from structsync._core.primitives.lock import LockCore
from structsync._core.queue.arbiter import Arbiter
from structsync.specs import lock_faults

from ...plants import lock, queue  # noqa: TID252 - the one home of the faults
from ._planting import Ended, Fault, OfASpec, Shared, fault, grant_unnoted

any_task_releases = OfASpec(LockCore, lock_faults.AnyTaskReleases, "lock.only_the_owner_releases")


@fault(LockCore, "discharge", refuted_by="lock.no_task_releases_a_free_lock")
def a_free_lock_is_released(core: LockCore, claim: Hashable) -> None:
    if core.owner is not None and core.owner != claim:
        raise RuntimeError


a_release_leaves_the_lock_free = Shared(
    queue.a_release_lets_no_task_in, "lock.a_release_passes_the_lock_to_the_oldest_waiter"
)


a_second_owner_is_let_in = Shared(
    lock.the_lock_is_granted_to_two, "lock.a_newcomer_waits_while_there_is_an_owner"
)


@fault(
    LockCore, "refuse_impossible", refuted_by="lock.a_second_claim_is_refused_and_changes_nothing"
)
def a_waiter_may_queue_again(core: LockCore, claim: Hashable) -> None:
    if core.owner == claim:
        raise RuntimeError


a_request_that_leaves_stays_in_the_index = Shared(
    queue.a_request_that_leaves_the_queue_stays_in_the_index,
    "lock.a_task_that_withdrew_may_claim_again",
)


a_grant_is_not_noted = Fault(
    LockCore, "grant", grant_unnoted, "lock.a_task_that_owned_it_may_claim_it_again"
)

a_lock_without_a_queue_counts_as_idle = Fault(
    LockCore,
    "is_idle",
    Arbiter.is_idle,
    "lock.a_lock_is_idle_exactly_if_it_has_no_owner",
)


@fault(
    LockCore,
    "owner_exited",
    refuted_by="lock.an_owner_that_exits_breaks_the_lock_and_all_waiters",
)
def the_lock_of_the_dead_is_passed_on(core: LockCore, claimant: Hashable, cause: Hashable) -> Ended:
    return core.release(claimant)


any_exit_breaks_the_lock = OfASpec(
    LockCore,
    lock_faults.AnyExitBreaksIt,
    "lock.another_that_exits_leaves_the_lock_usable",
)
