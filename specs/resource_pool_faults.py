"""Bugs of connection pools, planted in ours: each must be found by the named property."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from structsync._core.primitives.resource_pool import Kept, ResourcePoolCore
from structsync._core.queue.request import Request
from structsync.checking import fault

from ._planting import break_only
from .resource_pool import ResourcePoolSpec
from .resource_pool_ageing import AgeingPoolSpec

Ended = list[Request[Any]]


@fault(ResourcePoolSpec, "core", refuted_by="places_are_conserved")
class AFailedFactoryKeepsItsPlace(ResourcePoolCore):
    """A task that fails to make an item leaves a place that no other task gets (encode/httpcore #1093)."""

    def put_back(self, claim: Hashable, now: float) -> Ended:
        return [] if self.loans[claim] is None else super().put_back(claim, now)


@fault(ResourcePoolSpec, "core", refuted_by="places_are_conserved")
class ACancelledRequestTakesAPlaceAlong(ResourcePoolCore):
    """Cancelled in the queue, and assigned a place all the same (encode/httpcore #1093; P6)."""

    def withdraw(self, request: Request[Any]) -> Ended | None:
        ended = super().withdraw(request)
        if ended is not None:
            self.loans[request.claim] = None
        return ended


@fault(ResourcePoolSpec, "core", refuted_by="nothing_grantable_waits")
class AReturnedItemWakesNoTask(ResourcePoolCore):
    """It is put back, and waiters are not looked at."""

    def put_back(self, claim: Hashable, now: float) -> Ended:
        kept = self.loans.pop(claim)
        self.idle += [] if kept is None else [Kept(kept.item, now)]
        return []


@fault(ResourcePoolSpec, "core", refuted_by="nothing_grantable_waits")
class GrowingWakesNoTask(ResourcePoolCore):
    """There are more places, and those in the queue wait until an item is returned."""

    def resize(self, max_size: int) -> Ended:
        self.max_size = max_size
        return []


@fault(ResourcePoolSpec, "core", refuted_by="no_item_is_lost_or_doubled")
class AnIdleItemIsLentTwice(ResourcePoolCore):
    """An item stays among the idle ones while a task has it."""

    def admit(self, claim: Hashable) -> bool:
        self.loans[claim] = self.idle[-1] if self.idle else None
        return False


@fault(ResourcePoolSpec, "core", refuted_by="no_item_is_lost_or_doubled")
class ADiscardedItemIsForgotten(ResourcePoolCore):
    """An item that is discarded is in the pool no more, and is not closed."""

    def put_back(self, claim: Hashable, now: float) -> Ended:
        kept = self.loans[claim]
        if kept is not None and kept.since is None:
            self.loans[claim] = None
        return super().put_back(claim, now)


@fault(ResourcePoolSpec, "core", refuted_by="never_more_items_than_places")
class IdleItemsAreNotCounted(ResourcePoolCore):
    """Each borrower makes a new item while others are idle."""

    def admit(self, claim: Hashable) -> bool:
        self.loans[claim] = None
        return False


@fault(ResourcePoolSpec, "core", refuted_by="only_free_places_are_granted")
class WhatIsMadeOrClosedIsNotCounted(ResourcePoolCore):
    """A place is free as long as there is no item in it."""

    def admits(self, claim: Hashable) -> bool:
        return sum(kept is not None for kept in self.loans.values()) < self.max_size


@fault(ResourcePoolSpec, "core", refuted_by="the_newest_is_lent_and_the_oldest_closed")
class TheOldestIsLent(ResourcePoolCore):
    """Items are lent in turn, so that none is idle for long, and none is closed."""

    def admit(self, claim: Hashable) -> bool:
        self.loans[claim] = self.idle.popleft() if self.idle else None
        return len(self.loans) >= self.max_size


@fault(ResourcePoolSpec, "core", refuted_by="nothing_is_released_twice")
class APlaceIsReleasedTwice(ResourcePoolCore):
    """A second release of a place is accepted in silence."""

    def discharge(self, claim: Hashable) -> None:
        self.loans.pop(claim, None)


@fault(ResourcePoolSpec, "core", refuted_by="nowait_agrees_with_the_queue")
class NewcomersTakeWhatIsThere(ResourcePoolCore):
    """A newcomer passes those in the queue after a resize."""

    def resize(self, max_size: int) -> Ended:
        self.max_size = max_size
        return []

    def admissible(self, claim: Hashable, priority: int = 0) -> bool:
        return self.cause is None and self.admits(claim)


@fault(ResourcePoolSpec, "core", refuted_by="nothing_waits_when_closed_or_broken")
class CloseForgetsTheHead(ResourcePoolCore):
    """Closing tells all but the one that is next (C3: dotnet/runtime#59639)."""

    def end(self, cause: Hashable) -> Ended:
        ended: Ended = break_only(self, self.waiting()[1:], str(cause))
        return ended


@fault(ResourcePoolSpec, "core", refuted_by="every_waiter_is_granted")
class OnlyNewcomersAreLentIdleItems(ResourcePoolCore):
    """A task that waits is granted only an empty place, although an item is idle."""

    def admits(self, claim: Hashable) -> bool:
        return super().admits(claim) and not (self.queue and self.idle)


@fault(AgeingPoolSpec, "core", refuted_by="the_newest_is_lent_and_the_oldest_closed")
class AClosedPoolKeepsItsItems(ResourcePoolCore):
    """Idle items stay open although no task can borrow one any more."""

    def has_stale(self, now: float) -> bool:
        return self.cause is None and super().has_stale(now)


@fault(AgeingPoolSpec, "core", refuted_by="the_newest_is_lent_and_the_oldest_closed")
class AnotherClockMakesItemsOld(ResourcePoolCore):
    """Times of two clocks are compared."""

    def change_clock(self, now: float) -> None:
        pass


@fault(AgeingPoolSpec, "core", refuted_by="the_newest_is_lent_and_the_oldest_closed")
class WhatIsOverIsTriedNext(ResourcePoolCore):
    """A borrower whose item was closed goes on with one whose lifetime is over as well."""

    def next_item(self, claim: Hashable, now: float) -> None:
        if self.idle:
            self.loans[claim] = self.idle.pop()


@fault(AgeingPoolSpec, "core", refuted_by="items_are_made_where_one_is_missing")
class MoreAreMadeAhead(ResourcePoolCore):
    """One more item is made ahead than there should be."""

    def reserve(self, claim: Hashable) -> bool:
        if self.size > self.min_size or self.cause is not None:
            return False
        self.loans[claim] = None
        return True


@fault(AgeingPoolSpec, "core", refuted_by="fewer_than_are_made_ahead_are_refused")
class ItIsReducedBelow(ResourcePoolCore):
    """The pool is reduced below what it makes ahead, and makes more items than it has places."""

    def resize(self, max_size: int) -> Ended:
        self.max_size = max_size
        return self.settle()


@fault(AgeingPoolSpec, "core", refuted_by="what_is_over_is_told")
class TheLastExpires(ResourcePoolCore):
    """Items that are made ahead are closed one after the other, and made again."""

    def _is_over(self, kept: Kept, now: float) -> bool:
        return kept.since is None or now - kept.since >= (self.max_idle or 0)


@fault(AgeingPoolSpec, "core", refuted_by="what_is_over_is_told")
class DiscardingChangesNothing(ResourcePoolCore):
    """An item that was discarded is lent to the next."""

    def discard(self, claim: Hashable) -> None:
        pass


@fault(AgeingPoolSpec, "core", refuted_by="what_is_over_is_told")
class ItExpiresATickLater(ResourcePoolCore):
    """A lifetime is over only a tick later."""

    def _is_over(self, kept: Kept, now: float) -> bool:
        return super()._is_over(kept, now - 1) if kept.since is not None else True
