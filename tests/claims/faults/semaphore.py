"""Wrong numbers, each refuted by a claim about a semaphore's numbers."""

from __future__ import annotations

from structsync._core.primitives.semaphore import SemaphoreCore
from structsync.specs import semaphore_faults

from ...plants import semaphore  # noqa: TID252 - the one home of the faults
from ._planting import Ended, OfASpec, Shared, fault

one_permit_too_many_is_lent = Shared(
    semaphore.one_permit_is_granted_twice, "semaphore.a_claim_is_granted_from_what_is_there"
)


@fault(SemaphoreCore, "discharge", refuted_by="semaphore.a_release_adds_what_it_releases")
def a_release_of_several_counts_as_one(core: SemaphoreCore, claim: int) -> None:
    core.value += 1


@fault(
    SemaphoreCore,
    "discharge",
    refuted_by="semaphore.a_release_above_the_maximum_is_refused_and_changes_nothing",
)
def a_refused_release_is_kept(core: SemaphoreCore, claim: int) -> None:
    core.value += claim
    if core.max_value is not None and core.value > core.max_value:
        raise ValueError


@fault(
    SemaphoreCore,
    "resize",
    refuted_by="semaphore.a_resize_leaves_the_permits_that_are_out_alone",
)
def a_resize_calls_all_permits_in(core: SemaphoreCore, max_value: int) -> Ended:
    core.value = core.max_value = max_value
    return core.settle()


a_shrink_forgets_how_large_it_was = OfASpec(
    SemaphoreCore,
    semaphore_faults.ResizingMakesItBounded,
    "semaphore.a_resize_never_forgets_the_largest_maximum",
)


@fault(
    SemaphoreCore, "refuse_impossible", refuted_by="semaphore.a_claim_that_once_fitted_is_queued"
)
def the_maximum_of_today_decides(core: SemaphoreCore, claim: int) -> None:
    if core.max_value is not None:
        assert claim <= core.max_value


@fault(
    SemaphoreCore,
    "refuse_impossible",
    refuted_by="semaphore.a_claim_that_never_fitted_is_refused_and_not_queued",
)
def an_impossible_claim_blocks_the_queue_forever(core: SemaphoreCore, claim: int) -> None:
    """As in x/sync before it learned better (its semaphore.go tells the story)."""


@fault(SemaphoreCore, "resize", refuted_by="semaphore.an_unbounded_semaphore_cannot_be_resized")
def no_maximum_counts_as_zero(core: SemaphoreCore, max_value: int) -> Ended:
    core.value += max_value - (core.max_value or 0)
    core.max_value = max_value
    return core.settle()
