"""Two owners, or none for ever: each refuted by a claim about a lock."""

from __future__ import annotations

from collections.abc import Hashable

from structsync._core.primitives.lock import LockCore
from structsync._core.queue.arbiter import Arbiter
from structsync._core.queue.request import Request

from ._planting import Ended, Fault, fault, grant_unnoted


@fault(LockCore, "give_back", refuted_by="lock.only_the_owner_gives_back")
def anybody_gives_back(core: LockCore, claim: Hashable) -> None:
    core.owner = None


@fault(LockCore, "give_back", refuted_by="lock.nobody_gives_back_a_free_lock")
def a_free_lock_is_given_back(core: LockCore, claim: Hashable) -> None:
    if core.owner is not None and core.owner != claim:
        raise RuntimeError


@fault(LockCore, "release", refuted_by="lock.a_release_passes_the_lock_to_the_oldest_waiter")
def a_release_leaves_the_lock_free(core: LockCore, claim: Hashable) -> Ended:
    core.give_back(claim)
    return []


@fault(LockCore, "admits", refuted_by="lock.a_newcomer_waits_while_there_is_an_owner")
def a_second_owner_is_let_in(core: LockCore, claim: Hashable) -> bool:
    return True


@fault(
    LockCore, "refuse_impossible", refuted_by="lock.a_second_claim_is_refused_and_changes_nothing"
)
def who_waits_may_queue_again(core: LockCore, claim: Hashable) -> None:
    if core.owner == claim:
        raise RuntimeError


@fault(LockCore, "left", refuted_by="lock.who_withdrew_may_claim_again")
def who_leaves_stays_in_the_index(core: LockCore, request: Request[Hashable]) -> None:
    pass


a_grant_is_not_noted = Fault(
    LockCore, "grant", grant_unnoted, "lock.who_owned_it_may_claim_it_again"
)

a_lock_without_a_queue_counts_as_at_rest = Fault(
    LockCore, "at_rest", Arbiter.at_rest, "lock.a_lock_is_at_rest_exactly_if_nobody_owns_it"
)


@fault(
    LockCore,
    "owner_exited",
    refuted_by="lock.an_owner_that_exits_breaks_the_lock_and_all_who_wait",
)
def the_lock_of_the_dead_is_passed_on(core: LockCore, claimant: Hashable, cause: Hashable) -> Ended:
    return core.release(claimant)


@fault(LockCore, "owner_exited", refuted_by="lock.another_that_exits_leaves_the_lock_in_service")
def any_exit_breaks_the_lock(core: LockCore, claimant: Hashable, cause: Hashable) -> Ended:
    return core.end(cause)
