"""A semaphore with the policy "eligible" serves the oldest claim that fits, and may starve large ones.

It is for those who would rather have a small claim served than a permit idle. Nobody who fits is
passed by anybody younger; so whoever wants a single permit is served. Who wants more can be passed
forever, and no property here says otherwise (`semaphore_faults.py` shows how).
"""

from __future__ import annotations

from typing import Any

from structsync._core.primitives.semaphore import SemaphoreCore
from structsync.checking import leads_to, start, step

from .permits import PermitsSpec, alike

# ==== Bounds ====

WEIGHTS = {"a": 1, "b": 2, "c": 1, "d": 3, "e": 2, "f": 1, "g": 2}  # one more: few states
PERMITS = 3  # the largest claim
SMALL = tuple(who for who, weight in WEIGHTS.items() if weight == 1)


class EligibleSpec(PermitsSpec):
    """A bounded semaphore that passes over claims that do not fit."""

    weights = WEIGHTS
    symmetric = alike(WEIGHTS)
    newcomers = ((1, 0), (2, 0), (3, 0))
    core: SemaphoreCore = start(SemaphoreCore, PERMITS, max_value=PERMITS, policy="eligible")

    # ==== Step properties ====

    @step
    def nobody_who_fits_is_passed(self, before: Any) -> bool:
        """Whoever is older than one that was granted, and still waits, did not fit then (I2)."""
        granted, still = self.granted(), self.in_queue()
        queue = [*before.in_queue(), *(who for who in granted if who not in before.in_queue())]
        on_hand = self.core.value
        for who in reversed(granted):
            on_hand += WEIGHTS[who]  # permits on hand just before this grant
            older = queue[: queue.index(who)]
            if any(WEIGHTS[one] <= on_hand for one in older if one in still):
                return False
        return True

    # ==== Temporal properties ====

    @leads_to(who=SMALL)
    def small_claims_are_served(self, who: str) -> tuple[bool, bool]:
        """If permits are given back, whoever wants one gets it eventually, or gives up, or is told."""
        waits = who in self.in_queue()
        return waits, not waits
