"""Bugs of locks and limiters that are served by priority: each must be found by the named property."""

from __future__ import annotations

from typing import Any

from structsync._core.primitives.capacity_limiter import CapacityLimiterCore
from structsync._core.primitives.lock import LockCore
from structsync.checking import fault

from ._planting import NewestFirst
from .lock_policies import EligibleLimiterSpec, PriorityLimiterSpec, PriorityLockSpec


@fault(PriorityLockSpec, "core", refuted_by="the_most_important_is_granted")
class TheLevelIsForgotten(LockCore):
    """A lock with the policy "priority" serves first come, first served."""

    def __init__(self, policy: str, ageing: int | None) -> None:
        super().__init__()


@fault(PriorityLimiterSpec, "core", refuted_by="no_more_hold_it_than_may")
class AnImportantTaskNeedsNoToken(CapacityLimiterCore):
    """A task of the smallest number is granted a token although none is free."""

    def admits(self, claim: Any) -> bool:
        return claim in ("a", "b") or super().admits(claim)


@fault(EligibleLimiterSpec, "core", refuted_by="the_most_important_are_served")
class TheNewestIsEligible(CapacityLimiterCore):
    """Of the claims that fit the newest is served."""

    def __init__(self, total_tokens: float, policy: str) -> None:
        super().__init__(total_tokens)
        self.policy = NewestFirst()
