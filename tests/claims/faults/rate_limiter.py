"""Faults of a rate limiter, each for one claim."""

from __future__ import annotations

from structsync._core.primitives.rate_limiter import RateLimiterCore

from ._planting import Ended, fault


@fault(
    RateLimiterCore, "admits", refuted_by="rate_limiter.a_claim_is_granted_exactly_when_it_is_there"
)
def a_permit_is_lent_before_it_is_there(core: RateLimiterCore, claim: int) -> bool:
    return core.time_of(claim - 1) <= core.now


@fault(RateLimiterCore, "admit", refuted_by="rate_limiter.a_full_bucket_has_no_room_for_more")
def it_overflows(core: RateLimiterCore, claim: int) -> None:
    core.spent += claim


@fault(RateLimiterCore, "elapse", refuted_by="rate_limiter.who_is_late_is_granted_as_of_its_time")
def the_time_of_the_clock_counts(core: RateLimiterCore, now: float) -> Ended:
    core.now = max(core.now, now)
    return core.settle()


@fault(RateLimiterCore, "change_clock", refuted_by="rate_limiter.another_clock_brings_nothing")
def times_of_two_clocks_are_compared(core: RateLimiterCore, now: float) -> None:
    core.now = now
