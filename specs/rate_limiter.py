"""A rate limiter grants what time has brought back, first come first served, and loses none of it.

Time passes in ticks (eventually the next one comes: that is *fair*); a permit takes two of them, so that half
of one may be there. Whoever is idle may ask for its weight in permits; whoever waits may give up. The clock
may be exchanged for another one, as between two runs; that brings back nothing.

The model beside the core is the bucket itself: it gets a half permit at each tick unless it is full.
"""

from __future__ import annotations

from typing import Any

from structsync._core.primitives.rate_limiter import RateLimiterCore
from structsync._core.queue.request import Request
from structsync.checking import action, invariant, invariants, leads_to, start, step

from .common import FifoSpec

# ==== Bounds ====

TICKS = 2  # that a permit takes: with one, no fraction could be lost
LATE = (
    3,
    5,
)  # ticks at once: two grants are due in them, at different times, and a part of a third
BURST = 2  # with one, a weight is never partly there
WEIGHTS = {"a": 1, "b": 2, "c": 1, "d": 2}  # a small claim behind a large one, and before one


class RateLimiterSpec(FifoSpec):
    """A rate limiter, and its bucket in ticks."""

    newcomers = ((1, 0), (2, 0))
    core: RateLimiterCore = start(RateLimiterCore, 1, TICKS, BURST)
    level: int = start(lambda: BURST * TICKS)  # what the bucket holds, in ticks

    def canonical(self, snapshot: Any) -> Any:
        """Count time from now, and what was granted from the latest moment that says the same."""
        state, *rest = snapshot.core
        rate, per, burst, now, anchor, spent = state
        # a rest that would bring one permit more than there is room for stands for all longer ones
        until_full = max(anchor + spent * per // rate - now, -TICKS)
        spent = max(int(-(-until_full * rate // per)), 0)
        core = ((rate, per, burst, 0, until_full - spent * per // rate, spent), *rest)
        return super().canonical(snapshot)._replace(core=core)

    def got(self, request: Request[Any]) -> None:
        self.level -= request.claim * TICKS

    # ==== Actions ====

    @action(
        who=lambda spec: [who for who in WEIGHTS if who not in spec.in_queue()],
        when=lambda spec, who: spec.core.cause is None,
    )
    def acquire(self, who: str) -> None:
        self.asked(self.core.submit(WEIGHTS[who], waiter=who))

    @action(who=lambda spec: spec.in_queue())
    def withdraw(self, who: str) -> None:
        self.note(self.withdrawn(who))

    @action(fair=True)
    def tick(self) -> None:
        self.read_the_clock_after(1)

    @action(ticks=LATE)
    def read_the_clock_after(self, ticks: int) -> None:
        level, waiting = self.level, self.in_queue()
        for _ in range(ticks):
            level = min(level + 1, BURST * TICKS)
            while waiting and WEIGHTS[waiting[0]] * TICKS <= level:
                level -= WEIGHTS[waiting.pop(0)] * TICKS
        self.note(self.core.elapse(self.core.now + ticks))
        on_credit = [who for who in self.granted() if who in waiting]
        self.level = level - sum(WEIGHTS[who] * TICKS for who in on_credit)

    @action(hours=(-5, 5))
    def change_the_clock(self, hours: int) -> None:
        self.core.change_clock(self.core.now + hours)

    @action(when=lambda spec: spec.core.cause is None)
    def close(self) -> None:
        self.note(self.core.end("closed"))

    # ==== Invariants ====

    @invariant
    def what_time_brought_back_is_on_hand(self) -> bool:
        """No more than that, not even after a long rest, and no less (I1)."""
        return self.core.value(self.core.now) == self.level // TICKS

    @invariant
    def each_is_woken_when_it_fits(self) -> bool:
        """The time of each is that at which all ahead of it, and it, have been granted."""
        wanted, told = 0, True
        for request in self.core.queue:
            wanted += WEIGHTS[request.waiter] * TICKS
            told &= self.core.time_for(request) == self.core.now + wanted - self.level
        return told

    @invariant
    def a_clock_that_shows_less_changes_nothing(self) -> bool:
        """Time never goes back; a clock that is read late is as if it was not read."""
        twin = invariants.twin_of(self.core)
        return twin.elapse(twin.now - 1) == [] and twin.snapshot() == self.core.snapshot()

    @invariant
    def impossible_claims_are_refused(self) -> bool:
        """More than the bucket holds is refused at once, and leaves no trace (I7)."""
        return invariants.refuses(self.core, lambda core: core.submit(BURST + 1))

    @invariant
    def nothing_can_be_given_back(self) -> bool:
        """Permits come back by time alone."""
        return invariants.refuses(self.core, lambda core: core.release(1))

    # ==== Step properties ====

    @step
    def only_what_is_there_is_granted(self, before: Any) -> bool:
        """All of a claim or nothing, and never on credit (O9)."""
        return self.level >= 0

    # ==== Temporal properties ====

    @leads_to(who=tuple(WEIGHTS))
    def who_waits_is_granted(self, who: str) -> tuple[bool, bool]:
        """If time passes, whoever waits is granted eventually, or gives up, or is told."""
        waits = who in self.in_queue()
        return waits, not waits
