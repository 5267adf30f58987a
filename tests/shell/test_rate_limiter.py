"""RateLimiter: time brings permits back, exactly, and the first to come gets them."""

from __future__ import annotations

import math
import random
import sys
from fractions import Fraction

import pytest
import trio
import trio.testing
from trio import current_time

from structsync import PrimitiveEvent, RateLimiter, observe, open_scope
from structsync._core.primitives.rate_limiter import RateLimiterCore

settle = trio.testing.wait_all_tasks_blocked


async def times_of(limiter: RateLimiter, *claims: int) -> list[float]:
    """Let a task acquire each claim, in this order; return when each had it, from now on."""
    began, times = current_time(), [math.nan] * len(claims)

    async def acquire(place: int) -> None:
        await limiter.acquire(claims[place])
        times[place] = current_time() - began

    async with trio.open_nursery() as nursery:
        for place in range(len(claims)):
            nursery.start_soon(acquire, place)
            await settle()
    return times


async def test_a_burst_passes_at_once_and_the_rest_evenly(autojump_clock: object) -> None:
    assert await times_of(RateLimiter(2, burst=3), 1, 1, 1, 1, 1) == [0, 0, 0, 0.5, 1]


async def test_a_large_claim_waits_for_all_of_its_permits(autojump_clock: object) -> None:
    assert await times_of(RateLimiter(1, burst=3), 3, 2, 1) == [0, 2, 3]


async def test_a_small_claim_does_not_pass_a_large_one(autojump_clock: object) -> None:
    limiter = RateLimiter(1, burst=3)
    limiter.acquire_nowait(2)
    assert limiter.value == 1
    assert await times_of(limiter, 3, 1) == [2, 3]


async def test_a_rest_fills_the_bucket_and_no_more(autojump_clock: object) -> None:
    limiter = RateLimiter(1, per=10, burst=2)
    limiter.acquire_nowait(2)
    await trio.sleep(1_000)
    assert await times_of(limiter, 1, 1, 1) == [0, 0, 10]


async def test_a_part_of_a_permit_is_kept(autojump_clock: object) -> None:
    limiter = RateLimiter(1, per=10)
    limiter.acquire_nowait()
    await trio.sleep(7)
    assert await times_of(limiter, 1) == [3]


async def test_rounding_does_not_add_up(autojump_clock: object) -> None:
    """Sums of 0.1 in floats would be late or early by thousands of roundings at the end."""
    limiter = RateLimiter(10, burst=1)
    await limiter.acquire()
    began = current_time()
    for number in range(1, 5_001):
        await limiter.acquire()
        exact = began + Fraction(number, 10)
        assert abs(current_time() - exact) <= math.ulp(current_time())


async def test_a_task_that_comes_late_does_not_delay_those_after_it(
    autojump_clock: object,
) -> None:
    limiter = RateLimiter(1, burst=5)
    limiter.acquire_nowait(5)
    await trio.sleep(1.5)
    limiter.acquire_nowait()
    assert await times_of(limiter, 1, 1) == [0.5, 1.5]


async def test_a_cancelled_head_delays_no_task_and_loses_nothing(autojump_clock: object) -> None:
    """H1 of the bugs of peers, of time: those behind are granted as if it had never come."""
    limiter, scope = RateLimiter(1, burst=3), trio.CancelScope()
    limiter.acquire_nowait(2)

    async def ask_for_too_much() -> None:
        with scope:
            await limiter.acquire(3)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(ask_for_too_much)
        await settle()
        nursery.start_soon(limiter.acquire)
        await settle()
        assert limiter.statistics().tasks_waiting == 2
        scope.cancel()
        await settle()
        assert limiter.statistics().tasks_waiting == 0
    assert scope.cancelled_caught
    assert await times_of(limiter, 3) == [3]


async def test_a_cancelled_waiter_behind_the_head_changes_nothing(autojump_clock: object) -> None:
    limiter = RateLimiter(1)
    limiter.acquire_nowait()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(limiter.acquire)
        await settle()
        with trio.move_on_after(0.5) as scope:
            await limiter.acquire()
        assert scope.cancelled_caught
        assert await times_of(limiter, 1) == [1.5]


async def test_a_grant_beats_a_deadline_of_the_same_time(autojump_clock: object) -> None:
    limiter = RateLimiter(1)
    limiter.acquire_nowait()
    with trio.move_on_after(1) as scope:
        await limiter.acquire()
    assert not scope.cancelled_caught
    assert limiter.value == 0


@pytest.mark.parametrize("shielded", [False, True])
async def test_a_cancellation_goes_past_the_timer_though_that_has_fired_meanwhile(
    mock_clock: trio.testing.MockClock, shielded: bool
) -> None:
    """Between the cancellation and the next run of the task its time comes.

    If a shield comes between, too, trio has it that the timer is what cancels.
    """
    limiter, scope, shield = RateLimiter(1), trio.CancelScope(), trio.CancelScope()
    limiter.acquire_nowait()
    went_on = False

    async def acquire() -> None:
        nonlocal went_on
        with scope, shield:
            await limiter.acquire()
            went_on = True

    async with trio.open_nursery() as nursery:
        nursery.start_soon(acquire)
        await settle()
        scope.cancel()
        shield.shield = shielded
        mock_clock.jump(1)
    assert scope.cancelled_caught
    assert not went_on
    assert limiter.value == 1


async def test_an_acquire_that_fits_never_stands_in_the_queue() -> None:
    limiter, seen = RateLimiter(1), list[tuple[str, int, float]]()

    def observer(event: PrimitiveEvent) -> None:
        seen.append((event.kind, limiter.statistics().tasks_waiting, limiter.value))

    with observe(observer):
        await limiter.acquire()
    assert seen == [("requested", 0, 0), ("granted", 0, 0)]


async def test_a_newcomer_grants_what_is_due_before_it_asks(
    mock_clock: trio.testing.MockClock,
) -> None:
    """The clock has moved on, and trio has not looked at its deadlines yet."""
    limiter, order = RateLimiter(1), []

    async def acquire(who: str) -> None:
        await limiter.acquire()
        order.append(who)

    limiter.acquire_nowait()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(acquire, "first")
        await settle()
        mock_clock.jump(1)
        with pytest.raises(trio.WouldBlock):
            limiter.acquire_nowait()
        assert limiter.statistics().tasks_waiting == 0
        nursery.start_soon(acquire, "second")
        await settle()
        assert order == ["first"]
        mock_clock.jump(1)
    assert order == ["first", "second"]


async def times_after_a_stop(clock: trio.testing.MockClock, limiter: RateLimiter) -> list[float]:
    """Let seven tasks wait, and the clock jump by 5 s; return when each had its permit."""
    times = list[float]()

    async def acquire() -> None:
        await limiter.acquire()
        times.append(current_time())

    async with trio.open_nursery() as nursery:
        for _ in range(7):
            nursery.start_soon(acquire)
        await settle()
        clock.jump(5)  # as if the process had been stopped, or a function had not returned
        clock.autojump_threshold = 0
    return times


@pytest.mark.parametrize(
    ("burst", "times"),
    [(1, [5, 6, 7, 8, 9, 10, 11]), (2, [5, 5, 6, 7, 8, 9, 10]), (6, [5, 5, 5, 5, 5, 6, 7])],
)
async def test_who_wait_while_the_loop_is_late_get_no_more_at_once_than_the_bucket_holds(
    mock_clock: trio.testing.MockClock, burst: int, times: list[float]
) -> None:
    limiter = RateLimiter(1, burst=burst)
    limiter.acquire_nowait(burst)
    assert await times_after_a_stop(mock_clock, limiter) == times


async def test_a_late_loop_costs_nothing_where_the_bucket_has_room(
    mock_clock: trio.testing.MockClock,
) -> None:
    """Else each wake-up that is late by a moment would make the rate lower."""
    limiter, times = RateLimiter(1, burst=2), list[float]()
    limiter.acquire_nowait(2)

    async def acquire() -> None:
        await limiter.acquire()
        times.append(current_time())

    async with trio.open_nursery() as nursery:
        for _ in range(3):
            nursery.start_soon(acquire)
        for _ in range(3):
            await settle()
            mock_clock.jump(1.25)
            await settle()
    assert times == [1.25, 2.5, 3.75]
    assert limiter._core.time_of(1) == 4, "3 permits were late, and nothing was lost"


async def test_looking_at_it_while_the_loop_is_late_tells_what_will_be_granted(
    mock_clock: trio.testing.MockClock,
) -> None:
    limiter = RateLimiter(1, burst=2)
    limiter.acquire_nowait(2)
    requests = [limiter.request() for _ in range(4)]
    async with trio.open_nursery() as nursery:
        for request in requests:
            nursery.start_soon(request.wait)
        await settle()
        mock_clock.jump(5)
        seen = [one.status for one in requests]
        statistics = limiter.statistics()
        assert seen == ["granted", "granted", "pending", "pending"]
        assert (statistics.tasks_waiting, statistics.value, statistics.next_time) == (2, 0, 6)
        await settle()
        assert [one.status for one in requests] == seen
        assert limiter.statistics() == statistics
        mock_clock.autojump_threshold = 0


async def test_nowait_takes_what_is_there_and_no_more(mock_clock: trio.testing.MockClock) -> None:
    limiter = RateLimiter(1, burst=2)
    limiter.acquire_nowait(2)
    with pytest.raises(trio.WouldBlock):
        limiter.acquire_nowait()
    mock_clock.jump(1)
    assert limiter.value == 1
    limiter.acquire_nowait()
    assert limiter.value == 0


@pytest.mark.parametrize("n", [3, 2**70])
async def test_more_than_the_bucket_holds_is_refused_at_once(n: int) -> None:
    """D8, zio#11187, of rates: one claim that can never be granted would block all others."""
    limiter = RateLimiter(1, burst=2)
    with pytest.raises(ValueError, match=f"acquire {n} permits .* more than 2; .* burst={n}"):
        await limiter.acquire(n)
    with pytest.raises(ValueError, match="never has more than 2"):
        limiter.acquire_nowait(n)
    assert limiter.value == 2


async def test_a_long_rest_lends_no_more_than_there_is_room_for(autojump_clock: object) -> None:
    limiter = RateLimiter(1, burst=2)
    await trio.sleep(100)
    with pytest.raises(ValueError, match="never has more than 2"):
        await limiter.acquire(3)
    with pytest.raises(ValueError, match="never has more than 2"):
        limiter.acquire_nowait(3)


@pytest.mark.parametrize("n", [0, -1, True, 1.5])
async def test_a_claim_must_be_a_positive_int(n: object) -> None:
    limiter = RateLimiter(1)
    for acquire in (limiter.acquire, limiter.acquire_nowait):
        with pytest.raises((TypeError, ValueError), match="n must be"):
            await acquire(n)  # type: ignore[arg-type, misc]  # the mistake
    assert limiter.value == 1


@pytest.mark.parametrize("burst", [sys.maxsize + 1, 10**400])
def test_a_bucket_is_no_larger_than_time_can_fill(burst: int) -> None:
    with pytest.raises(ValueError, match=f"burst must be <= {sys.maxsize}, not {burst}"):
        RateLimiter(1, burst=burst)


async def test_the_largest_bucket_is_filled_by_the_clock(mock_clock: object) -> None:
    limiter = RateLimiter(sys.float_info.max, per=sys.float_info.max, burst=sys.maxsize)
    for n in (sys.maxsize, sys.maxsize):
        limiter.request(n)
    assert repr(limiter).startswith("<RateLimiter")
    assert limiter.statistics().next_time == math.inf


@pytest.mark.parametrize("number", [0, -1, True, "1", None, math.inf, math.nan, 10**400])
def test_a_rate_must_be_a_finite_number_above_zero(number: object) -> None:
    with pytest.raises((TypeError, ValueError), match="rate must be a"):
        RateLimiter(number)  # type: ignore[arg-type]  # the mistake
    with pytest.raises((TypeError, ValueError), match="per must be a"):
        RateLimiter(1, number)  # type: ignore[arg-type]  # the mistake


@pytest.mark.parametrize("burst", [0, -1, True, 1.5, None])
def test_a_burst_must_be_a_positive_int(burst: object) -> None:
    with pytest.raises((TypeError, ValueError), match="burst must be"):
        RateLimiter(1, burst=burst)  # type: ignore[arg-type]  # the mistake


def test_a_name_must_be_a_str_and_is_shown() -> None:
    with pytest.raises(TypeError, match="name must be a str or None, not 3"):
        RateLimiter(1, name=3)  # type: ignore[arg-type]  # the mistake
    limiter = RateLimiter(0.5, 60, burst=4, name="downloads")
    assert (limiter.name, limiter.rate, limiter.per, limiter.burst) == ("downloads", 0.5, 60, 4)
    assert "<RateLimiter 'downloads' at 0x" in repr(limiter)
    assert "value 4/4, 0.5 per 60 s" in repr(limiter)


async def test_it_knows_that_it_is_closed() -> None:
    limiter = RateLimiter(1)
    assert not limiter.closed
    limiter.close()
    assert limiter.closed


def test_between_two_runs_no_time_passes() -> None:
    limiter = RateLimiter(1, burst=2)

    async def use(*claims: int) -> list[float]:
        return await times_of(limiter, *claims)

    def run(*claims: int, at: float = 0) -> list[float]:
        clock = trio.testing.MockClock(autojump_threshold=0)
        clock.jump(at)
        return trio.run(use, *claims, clock=clock)

    assert run(2) == [0]
    assert run(1, at=1_000) == [1]
    assert run(1) == [1]
    with pytest.raises(trio.WouldBlock):
        limiter.acquire_nowait()  # outside a run none passes either


def test_no_permit_on_hand_is_lost_to_rounding_where_the_clock_changes() -> None:
    rng = random.Random(0)
    for _ in range(2_000):
        burst = rng.randint(1, 4)
        core = RateLimiterCore(rng.uniform(0.01, 100), rng.choice([1.0, 86_400.0]), burst)
        core.change_clock(rng.uniform(10_000, 1_000_000))  # as trio chooses where a clock begins
        core.elapse(core.now + rng.random())
        core.admit(rng.randint(1, burst))
        core.elapse(core.time_of(rng.randint(1, burst)))
        on_hand = core.value(core.now)
        core.change_clock(rng.uniform(10_000, 1_000_000))
        assert core.value(core.now) == on_hand
        assert core.anchor <= core.now


async def test_statistics_tell_the_time_of_the_next_grant(autojump_clock: object) -> None:
    limiter = RateLimiter(1, burst=2)
    assert limiter.statistics().next_time is None
    limiter.acquire_nowait()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(limiter.acquire, 2)
        await settle()
        statistics = limiter.statistics()
        assert (statistics.tasks_waiting, statistics.value, statistics.burst) == (1, 1, 2)
        assert statistics.next_time == current_time() + 1


async def test_observers_hear_of_each_step(autojump_clock: object) -> None:
    limiter, heard = RateLimiter(1), []

    def note(event: PrimitiveEvent) -> None:
        assert event.primitive is limiter
        heard.append(f"{event.kind} {event.details.get('n')}")

    with observe(note):
        limiter.acquire_nowait()
        await limiter.acquire()
        with trio.move_on_after(0.5):
            await limiter.acquire()
        limiter.close()
    assert heard == [
        *["requested 1", "granted 1"] * 2,
        *["requested 1", "withdrawn 1"],
        "closed None",
    ]


async def test_a_scope_misses_nothing_of_a_rate_limiter() -> None:
    async with open_scope() as scope:
        await scope.own(RateLimiter(1)).acquire()


async def test_the_next_task_is_woken_though_another_call_saw_the_time_of_the_first(
    mock_clock: trio.testing.MockClock,
) -> None:
    limiter, order = RateLimiter(1), list[int]()
    limiter.acquire_nowait()

    async def acquire(number: int) -> None:
        await limiter.acquire()
        order.append(number)

    async with trio.open_nursery() as nursery:
        for number in range(2):
            nursery.start_soon(acquire, number)
            await settle()
        mock_clock.jump(1)
        with pytest.raises(trio.WouldBlock):
            limiter.acquire_nowait()  # which grants the first of them
        await settle()
        assert order == [0]
        mock_clock.jump(1)
        await settle()
        assert order == [0, 1]


def test_looking_at_it_in_another_run_brings_nothing_back() -> None:
    """The clocks of two runs are not compared."""
    limiter = RateLimiter(1)

    async def use(clock: trio.testing.MockClock) -> None:
        limiter.acquire_nowait()
        clock.jump(0.5)

    async def look(clock: trio.testing.MockClock) -> None:
        clock.jump(1000)
        assert limiter.value == limiter.statistics().value == 0
        with pytest.raises(trio.WouldBlock):
            limiter.acquire_nowait()

    for program in (use, look):
        trio.run(program, clock := trio.testing.MockClock(), clock=clock)
