"""A bucket that time fills grants what is there, keeps what it did not grant, and never overflows."""

from __future__ import annotations

from structsync import Status
from structsync._core.primitives.rate_limiter import RateLimiterCore

# One permit in each two ticks: time in whole ticks, so that all arithmetic is over integers.
TICKS = 2


class InTicks(RateLimiterCore):
    """The core that ships, whose times are whole: a float has too many values to prove things of."""

    def time_of(self, claim: int) -> float:
        missing = self.spent + claim - self.burst
        return self.anchor + missing * TICKS if missing > 0 else self.anchor


def bucket(burst: int, spent: int, elapsed: int) -> RateLimiterCore:
    core = InTicks(1, TICKS, burst)
    core.spent, core.now = spent, elapsed
    return core


def a_claim_is_granted_exactly_when_it_is_there(
    burst: int, spent: int, elapsed: int, claim: int
) -> None:
    assert 1 <= claim <= burst
    assert spent >= 0
    assert 0 <= elapsed <= spent * TICKS  # not full, so what came since the anchor counts in full
    core = bucket(burst, spent, elapsed)
    there = (burst - spent) * TICKS + elapsed >= claim * TICKS
    assert (core.submit(claim).status is Status.GRANTED) == there
    assert core.spent == spent + (claim if there else 0)
    assert core.anchor == 0


def a_full_bucket_has_no_room_for_more(burst: int, spent: int, elapsed: int, claim: int) -> None:
    assert 1 <= claim <= burst
    assert spent >= 0
    assert spent * TICKS < elapsed
    core = bucket(burst, spent, elapsed)
    assert core.submit(claim).status is Status.GRANTED
    assert (core.anchor, core.spent) == (elapsed, claim)


def who_is_late_is_granted_as_of_its_time(burst: int, claim: int, late: int) -> None:
    assert 1 <= claim <= burst
    assert late >= 0
    core = bucket(burst, burst, 0)
    request = core.submit(claim)
    assert core.elapse(claim * TICKS + late) == [request]
    assert (core.anchor, core.spent) == (0, burst + claim)
    assert core.now == claim * TICKS + late


def another_clock_brings_nothing(burst: int, spent: int, elapsed: int, now: int) -> None:
    assert elapsed >= 0
    core = bucket(burst, spent, elapsed)
    core.change_clock(now)
    assert (core.now, core.now - core.anchor, core.spent) == (now, elapsed, spent)
