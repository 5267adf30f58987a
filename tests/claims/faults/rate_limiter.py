"""Faults of a rate limiter, each for one claim."""

from __future__ import annotations

from structsync._core.primitives.rate_limiter import RateLimiterCore
from structsync.specs import rate_limiter_faults

from ...plants import rate_limiter  # noqa: TID252 - the one home of the faults
from ._planting import OfASpec, Shared, fault


@fault(
    RateLimiterCore, "admits", refuted_by="rate_limiter.a_claim_is_granted_exactly_when_it_is_there"
)
def a_permit_is_lent_before_it_is_there(core: RateLimiterCore, claim: int) -> bool:
    return core.time_of(claim - 1) <= core.now


it_overflows = Shared(
    rate_limiter.the_bucket_overflows, "rate_limiter.a_full_bucket_has_no_room_for_more"
)


a_late_request_is_granted_as_of_its_time = Shared(
    rate_limiter.a_late_request_is_granted_as_of_its_time,
    "rate_limiter.what_overflows_before_a_late_grant_is_lost",
)


times_of_two_clocks_are_compared = OfASpec(
    RateLimiterCore,
    rate_limiter_faults.AnotherClockFillsTheBucket,
    "rate_limiter.another_clock_brings_nothing",
)


@fault(RateLimiterCore, "due", refuted_by="rate_limiter.those_due_are_all_that_fit_by_then")
def each_is_due_as_if_it_were_the_first(
    core: RateLimiterCore, now: float
) -> tuple[int, float, int]:
    due = [one.claim for one in core.queue if core.time_of(one.claim) <= now]
    return len(due), core.anchor, core.spent + sum(due)


@fault(RateLimiterCore, "due", refuted_by="rate_limiter.those_due_are_those_granted")
def each_is_due_as_of_its_time(core: RateLimiterCore, now: float) -> tuple[int, float, int]:
    due = [one.claim for one in core.queue if core.time_for(one) <= now]
    return len(due), core.anchor, core.spent + sum(due)


@fault(RateLimiterCore, "value", refuted_by="rate_limiter.what_is_on_hand_is_what_came_back")
def what_is_on_hand_is_not_bounded(core: RateLimiterCore, now: float) -> int:
    return int(core.burst - core.spent + (now - core.anchor) * core.rate / core.per)


@fault(
    RateLimiterCore,
    "change_clock",
    refuted_by="rate_limiter.what_is_on_hand_is_not_lost_to_rounding",
)
def the_clock_is_changed_and_rounds(core: RateLimiterCore, now: float) -> None:
    core.anchor = now - (core.now - core.anchor)
    core.now = now
