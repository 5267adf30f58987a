"""A semaphore with the policy "eligible" serves the oldest claim that fits, and may starve large ones.

It is for users who would rather have a small claim served than a permit idle. A claim that fits is never
passed by a younger one; so a task that wants a single permit is served. One that wants more can be passed
forever, and no property here says otherwise (`semaphore_faults.py` shows how).

The state and the actions are those of every semaphore (`permits.py`). What is promised to waiters needs holders
that release (a *fair* action).
"""

from __future__ import annotations

from typing import Any

from structsync._core.primitives.semaphore import SemaphoreCore
from structsync.checking import leads_to, start, step

from .permits import PermitsSpec, alike

# ==== Bounds ====

# Claims of 1, 2 and 3 in one queue: small ones behind a large one and before it, and two that fit together.
# Seven tasks, one more than in `semaphore.py`: a size that does not change leaves few states.
WEIGHTS = {"a": 1, "b": 2, "c": 1, "d": 3, "e": 2, "f": 1, "g": 2}
PERMITS = 3  # the largest claim; two others fit beside each other
SMALL = tuple(who for who, weight in WEIGHTS.items() if weight == 1)


class EligibleSpec(PermitsSpec):
    """A bounded semaphore that passes over claims that do not fit."""

    weights = WEIGHTS
    symmetric = alike(WEIGHTS)
    newcomers = ((1, 0), (2, 0), (3, 0))
    core: SemaphoreCore = start(SemaphoreCore, PERMITS, max_value=PERMITS, policy="eligible")

    # ==== Step properties ====

    @step
    def no_request_that_fits_is_passed(self, before: Any) -> bool:
        """A task that is older than one that was granted, and waits on, did not fit at that moment (I2)."""
        on_hand = self.core.value
        for who in reversed(self.granted()):
            on_hand += WEIGHTS[who]  # now as many as there were just before this grant
            passed = [one for one in before.ahead_of(who) if one in self.in_queue()]
            if any(WEIGHTS[one] <= on_hand for one in passed):
                return False
        return True

    # ==== Temporal properties ====

    @leads_to(who=SMALL)
    def small_claims_are_served(self, who: str) -> tuple[bool, bool]:
        """If permits are released, a task that wants one gets it eventually, or withdraws, or is ended."""
        waits = who in self.in_queue()
        return waits, not waits
