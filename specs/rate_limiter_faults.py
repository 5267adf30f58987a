"""Bugs of token buckets, planted in ours: each must be found by the named property."""

from __future__ import annotations

from typing import Any

from structsync._core.primitives.rate_limiter import RateLimiterCore
from structsync._core.queue.request import Request
from structsync.checking import fault

from ._planting import grant, withdraw_only
from .rate_limiter import RateLimiterSpec

Ended = list[Request[Any]]


@fault(RateLimiterSpec, "core", refuted_by="what_time_brought_back_is_on_hand")
class TheBucketOverflows(RateLimiterCore):
    """What a long idle period brought is kept, above what the bucket holds."""

    def admit(self, claim: int) -> None:
        self.spent += claim


@fault(RateLimiterSpec, "core", refuted_by="what_time_brought_back_is_on_hand")
class AGrantForgetsTheFraction(RateLimiterCore):
    """Each grant counts anew from its own time, in whole permits: a part of one is lost each time."""

    def admit(self, claim: int) -> None:
        self.anchor, self.spent = self.now, self.burst - self.value(self.now) + claim


@fault(RateLimiterSpec, "core", refuted_by="what_time_brought_back_is_on_hand")
class AnotherClockFillsTheBucket(RateLimiterCore):
    """Times of two clocks are compared."""

    def change_clock(self, now: float) -> None:
        self.now = now


@fault(RateLimiterSpec, "core", refuted_by="only_what_is_there_is_granted")
class ALateRequestIsGrantedAsOfItsTime(RateLimiterCore):
    """Where the clock is read late, all are granted at once that would have been one after the other till then."""

    def elapse(self, now: float) -> Ended:
        ended: Ended = []
        while (head := self.queue.head) is not None and self.time_of(head.claim) <= now:
            self.now = max(self.now, self.time_of(head.claim))
            ended += self.settle()
        self.now = max(self.now, now)
        return ended


@fault(RateLimiterSpec, "core", refuted_by="each_is_woken_when_it_fits")
class TheTimeOfTheLastIsTold(RateLimiterCore):
    """The head sleeps as long as the one behind all others."""

    def time_for(self, request: Request[int]) -> float:
        return super().time_for(self.waiting()[-1])


@fault(RateLimiterSpec, "core", refuted_by="each_is_woken_when_it_fits")
class EachIsWokenAsIfItWasAlone(RateLimiterCore):
    """A task that waits behind another is woken too early."""

    def time_for(self, request: Request[int]) -> float:
        return self.time_of(request.claim)


@fault(RateLimiterSpec, "core", refuted_by="a_clock_that_shows_less_changes_nothing")
class TimeGoesBack(RateLimiterCore):
    """A clock that is read late takes back what was there."""

    def elapse(self, now: float) -> Ended:
        self.now = now
        return self.settle()


@fault(RateLimiterSpec, "core", refuted_by="nothing_grantable_waits")
class ACancelledHeadDelaysThoseBehind(RateLimiterCore):
    """Those behind the cancelled one sleep until the time at which that would have been granted (H1)."""

    def withdraw(self, request: Request[int]) -> Ended | None:
        return withdraw_only(self, request)


@fault(RateLimiterSpec, "core", refuted_by="only_what_is_there_is_granted")
class TheHeadIsGrantedInParts(RateLimiterCore):
    """The first permit that comes back is the head's, whatever it asked for."""

    def elapse(self, now: float) -> Ended:
        self.now = max(self.now, now)
        return [grant(self, one) for one in self.waiting()[:1] if self.admits(1)]


@fault(RateLimiterSpec, "core", refuted_by="impossible_claims_are_refused")
class TooMuchIsWaitedFor(RateLimiterCore):
    """A task that asks for more than the bucket holds waits forever, and so do all behind it (D8)."""

    def refuse_impossible(self, claim: int) -> None:
        pass


@fault(RateLimiterSpec, "core", refuted_by="impossible_claims_are_refused")
class ALongIdleTimeLendsMore(RateLimiterCore):
    """A long idle period brings more than the bucket holds, for a task that asks for that much."""

    def admits(self, claim: int) -> bool:
        return self.time_of(claim) <= self.now


@fault(RateLimiterSpec, "core", refuted_by="nothing_can_be_released")
class PermitsAreReleased(RateLimiterCore):
    """A permit can be released, as a semaphore's."""

    def discharge(self, claim: int) -> None:
        self.spent -= claim


@fault(RateLimiterSpec, "core", refuted_by="nowait_agrees_with_the_queue")
class NewcomersTakeWhatIsThere(RateLimiterCore):
    """A small claim passes a large one that waits."""

    def admissible(self, claim: int, priority: int = 0) -> bool:
        return self.cause is None and self.admits(claim)


@fault(RateLimiterSpec, "core", refuted_by="every_waiter_is_granted")
class TimeWakesNoTask(RateLimiterCore):
    """Time passes, and waiters are not looked at."""

    def elapse(self, now: float) -> Ended:
        self.now = max(self.now, now)
        return []
