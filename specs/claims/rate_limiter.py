"""A bucket that time fills grants what is there, keeps what it did not grant, and never overflows."""

from __future__ import annotations

from structsync import Status
from structsync._core.primitives.rate_limiter import RateLimiterCore

# One permit in each two ticks: time in whole ticks, so that all arithmetic is over integers.
TICKS = 2


class InTicks(RateLimiterCore):
    """The core that ships, whose times are whole: a float has too many values to prove things of."""

    def moment(self, anchor: float, spent: int, claim: int) -> float:
        missing = spent + claim - self.burst
        return anchor + missing * TICKS if missing > 0 else anchor

    def is_over(self, moment: float, now: float) -> bool:
        return moment < now


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


def what_overflows_before_a_late_grant_is_lost(burst: int, claim: int, late: int) -> None:
    assert 1 <= claim <= burst
    assert late >= 0
    core = bucket(burst, burst, 0)
    request = core.submit(claim)
    assert core.elapse(claim * TICKS + late) == [request]
    assert core.now == claim * TICKS + late
    overflowed = core.now > burst * TICKS
    assert (core.anchor, core.spent) == ((core.now, claim) if overflowed else (0, burst + claim))


def another_clock_brings_nothing(burst: int, spent: int, elapsed: int, now: int) -> None:
    assert elapsed >= 0
    core = bucket(burst, spent, elapsed)
    core.change_clock(now)
    assert (core.now, core.now - core.anchor, core.spent) == (now, elapsed, spent)


def those_due_are_all_that_fit_by_then(first: int, second: int, now: int) -> None:
    assert 1 <= first <= 2
    assert 1 <= second <= 2
    assert 0 <= now <= 9
    core = bucket(2, 2, 0)
    for claim in (first, second):
        core.enqueue(claim)
    requests, anchor, spent = core.due(now)
    permits = spent - 2
    assert anchor == 0
    if now < first * TICKS:
        assert (requests, permits) == (0, 0)
    elif now < (first + second) * TICKS:
        assert (requests, permits) == (1, first)
    else:
        assert (requests, permits) == (2, first + second)
    assert core.value(now) == min(2, max(0, now // TICKS - permits))
    assert [core.time_for(one) for one in core.queue] == [first * TICKS, (first + second) * TICKS]


def those_due_are_those_granted(first: int, second: int, now: int) -> None:
    assert 1 <= first <= 2
    assert 1 <= second <= 2
    assert 0 <= now <= 9
    core = bucket(2, 2, 0)
    for claim in (first, second):
        core.enqueue(claim, parked=True)
    due, on_hand = core.due(now), core.value(now)
    ended = core.elapse(now)
    assert (len(ended), core.anchor, core.spent) == due
    assert core.value(now) == on_hand


def what_is_on_hand_is_what_came_back(burst: int, spent: int, elapsed: int) -> None:
    assert 1 <= burst <= 7
    assert 0 <= spent <= 9
    assert 0 <= elapsed <= 2 * spent
    core = bucket(burst, spent, elapsed)
    assert core.value(elapsed) == min(burst, max(0, burst - spent + elapsed // TICKS))


#: What clocks show: whole and broken, near and far.
CLOCKS = (3.0, 0.1, 123456.7, 1e9)


def what_is_on_hand_is_not_lost_to_rounding(shown: int, used: int, back: int) -> None:
    assert 0 <= shown < 4
    assert 0 <= used < 4
    assert 0 <= back < 4
    # Floats that are computed, and not solved for: of reals none would be rounded.
    spent, came, which = (next(one for one in range(4) if one == n) for n in (used, back, shown))
    now = CLOCKS[which]
    for rate in (3, 7, 10):
        core = RateLimiterCore(rate, 1, 3)
        core.anchor, core.spent, core.now = 0.0, spent, came / rate
        core.change_clock(now)
        assert core.now == now
        assert core.value(now) == min(3, 3 - spent + came)
