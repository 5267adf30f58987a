"""A rate limiter grants what time has brought back, first come first served, and loses none of it.

Time passes in ticks (eventually the next one comes: that is *fair*); a permit takes two of them, so that half
of one may be there. A task that is idle may ask for its weight in permits, and a task that waits may withdraw. The clock
may be read late, and may be exchanged for another one, as between two runs; neither brings back a permit too
many. A task may close the limiter.

The model beside the core is the bucket itself: it gets half a permit at each tick unless it is full, and each grant
is taken out of it when the clock is read, not as of an earlier time: a task that is granted late makes its call
late. That it never holds less than nothing is the promise: in any t ticks at most what it has room for and t ticks'
worth are granted.
"""

from __future__ import annotations

from typing import Any

from structsync._core.primitives.rate_limiter import RateLimiterCore
from structsync._core.queue.request import Request
from structsync.checking import action, invariant, invariants, leads_to, start, step

from .common import FifoSpec

# ==== Bounds ====

TICKS = 2  # that a permit takes: with one, no fraction could be lost
# How late the clock may be read, in ticks: two grants are due then, at different times, and a part of a third; by 5
# the bucket has overflowed.
LATE = (3, 5)
BURST = 2  # with one, a weight is never partly there
WEIGHTS = {"a": 1, "b": 2, "c": 1, "d": 2}  # a small claim behind a large one, and before one


class RateLimiterSpec(FifoSpec):
    """A rate limiter, and its bucket in ticks."""

    newcomers = ((1, 0), (2, 0))
    core: RateLimiterCore = start(RateLimiterCore, 1, TICKS, BURST)
    level: int = start(lambda: BURST * TICKS)  # what the bucket holds, in ticks

    def canonical(self, snapshot: Any) -> Any:
        """Count time from now, and keep of all that was granted only when the bucket will be full.

        A bucket that has been full for longer than one permit takes is like one that has been so for just that long.
        """
        state, *rest = snapshot.core
        rate, per, burst, now, anchor, spent = state
        until_full = max(anchor + spent * per // rate - now, -TICKS)
        spent = max(int(-(-until_full * rate // per)), 0)  # as few permits as say so, rounded up
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
        self.submitted(self.core.submit(WEIGHTS[who], waiter=who))

    @action(who=lambda spec: spec.in_queue())
    def withdraw(self, who: str) -> None:
        self.note(self.withdrawn(who))

    @action(fair=True)
    def tick(self) -> None:
        self.read_the_clock_after(1)

    @action(ticks=LATE)
    def read_the_clock_after(self, ticks: int) -> None:
        self.level = min(self.level + ticks, BURST * TICKS)
        self.note(self.core.elapse(self.core.now + ticks))

    @action(hours=(-5, 5))
    def change_the_clock(self, hours: int) -> None:
        self.core.change_clock(self.core.now + hours)

    @action(when=lambda spec: spec.core.cause is None)
    def close(self) -> None:
        self.note(self.core.end("closed"))

    # ==== Invariants ====

    @invariant
    def what_time_brought_back_is_on_hand(self) -> bool:
        """As many permits are on hand as the bucket has whole ones, also after a long idle period (I1)."""
        return self.core.value(self.core.now) == self.level // TICKS

    @invariant
    def each_is_woken_when_it_fits(self) -> bool:
        """Each that waits is woken when time has brought enough for all ahead of it and for itself."""
        wanted = 0  # ticks for all up to this request
        for request in self.core.queue:
            wanted += WEIGHTS[request.waiter] * TICKS
            missing = wanted - self.level
            if self.core.time_for(request) != self.core.now + missing:
                return False
        return True

    @invariant
    def a_clock_that_shows_less_changes_nothing(self) -> bool:
        """A time that is earlier than the last one grants nothing and changes nothing."""
        twin = invariants.twin_of(self.core)
        return twin.elapse(twin.now - 1) == [] and twin.snapshot() == self.core.snapshot()

    @invariant
    def impossible_claims_are_refused(self) -> bool:
        """A claim for more than a full bucket is refused at once, and leaves no trace (I7)."""
        return invariants.refuses(self.core, lambda core: core.submit(BURST + 1))

    @invariant
    def nothing_can_be_released(self) -> bool:
        """Only time refills it: releasing a permit is refused, and leaves no trace."""
        return invariants.refuses(self.core, lambda core: core.release(1))

    # ==== Step properties ====

    @step
    def only_what_is_there_is_granted(self, before: Any) -> bool:
        """Each grant takes its whole claim out of what the bucket holds now, and never on credit (O9).

        So in any time at most as many are granted as the bucket has room for, and as that time brings back.
        """
        return self.level >= 0

    # ==== Temporal properties ====

    @leads_to(who=tuple(WEIGHTS))
    def every_waiter_is_granted(self, who: str) -> tuple[bool, bool]:
        """If time passes, every task that waits is granted eventually, or withdraws, or is ended."""
        waits = who in self.in_queue()
        return waits, not waits
