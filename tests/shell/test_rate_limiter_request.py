"""RateLimiter.request(): a position in the queue whose time comes whether or not any task waits for it."""

from __future__ import annotations

import pytest
import trio
import trio.testing

import structsync
from structsync import RateLimiter, RequestWithdrawn

Clock = trio.testing.MockClock


async def test_a_request_is_granted_at_once_where_permits_are_there(autojump_clock: Clock) -> None:
    limiter = RateLimiter(1, burst=3)
    with limiter.request(2) as request:
        assert request.status == "granted"
        assert limiter.value == 1
        await request.wait()
    assert limiter.value == 1, "permits do not come back by a close"


async def test_its_time_comes_though_no_task_waits_for_it(autojump_clock: Clock) -> None:
    limiter = RateLimiter(1)
    first, second = limiter.request(), limiter.request()
    assert [first.status, second.status] == ["granted", "pending"]
    assert limiter.statistics().tasks_waiting == 1
    await trio.sleep(1)
    assert limiter.statistics().tasks_waiting == 0
    assert second.status == "granted"
    assert limiter.value == 0


async def test_who_waits_for_it_is_woken_when_its_time_has_come(autojump_clock: Clock) -> None:
    limiter = RateLimiter(1, burst=2)
    limiter.acquire_nowait(2)
    request = limiter.request(2)
    with trio.testing.assert_checkpoints():
        await request.wait()
    assert trio.current_time() == 2
    await request.wait()


async def test_a_task_behind_a_request_that_no_task_waits_for_is_woken_in_time(
    autojump_clock: Clock,
) -> None:
    limiter = RateLimiter(1, burst=2)
    limiter.acquire_nowait(2)
    request = limiter.request(2)
    await limiter.acquire()
    assert trio.current_time() == 3
    assert request.status == "granted"


async def test_withdrawing_it_lets_those_behind_it_in_sooner(autojump_clock: Clock) -> None:
    limiter = RateLimiter(1, burst=2)
    limiter.acquire_nowait(2)
    request = limiter.request(2)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(limiter.acquire)
        await trio.testing.wait_all_tasks_blocked()
        assert request.withdraw()
        assert not request.withdraw()
    assert trio.current_time() == 1
    with pytest.raises(RequestWithdrawn):
        await request.wait()


async def test_what_is_due_cannot_be_withdrawn(autojump_clock: Clock) -> None:
    limiter = RateLimiter(1)
    limiter.acquire_nowait()
    request = limiter.request()
    await trio.sleep(1)
    assert not request.withdraw()
    assert limiter.value == 0


async def test_who_is_cancelled_while_it_waits_keeps_the_position(autojump_clock: Clock) -> None:
    limiter = RateLimiter(1, burst=2)
    limiter.acquire_nowait(2)
    request = limiter.request(2)
    async with trio.open_nursery() as nursery:
        with trio.move_on_after(0.5) as scope:
            nursery.start_soon(limiter.acquire)
            await request.wait()
        assert scope.cancelled_caught
        assert request.status == "pending"
        await request.wait()
        assert trio.current_time() == 2
    assert trio.current_time() == 3


async def test_a_grant_in_time_beats_a_cancellation_that_comes_then(autojump_clock: Clock) -> None:
    limiter = RateLimiter(1)
    limiter.acquire_nowait()
    request = limiter.request()
    with trio.move_on_after(1) as scope:
        await request.wait()
    assert not scope.cancelled_caught
    assert request.status == "granted"


async def test_one_task_at_a_time_waits_for_a_request(autojump_clock: Clock) -> None:
    limiter = RateLimiter(1)
    limiter.acquire_nowait()
    request = limiter.request()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(request.wait)
        await trio.testing.wait_all_tasks_blocked()
        with pytest.raises(trio.BusyResourceError):
            await request.wait()


async def test_closing_the_limiter_ends_its_requests(autojump_clock: Clock) -> None:
    limiter = RateLimiter(1)
    limiter.acquire_nowait()
    request = limiter.request()
    limiter.close()
    assert request.status == "broken"
    with pytest.raises(trio.ClosedResourceError):
        await request.wait()
    with pytest.raises(trio.ClosedResourceError):
        limiter.request()


async def test_what_can_never_be_granted_is_refused() -> None:
    limiter = RateLimiter(1, burst=2)
    with pytest.raises(ValueError, match="never has more than 2"):
        limiter.request(3)
    with pytest.raises(ValueError, match="n must be >= 1"):
        limiter.request(0)
    assert limiter.value == 2


async def test_looking_at_it_changes_nothing(autojump_clock: Clock) -> None:
    limiter = RateLimiter(1, burst=2)
    limiter.acquire_nowait(2)
    requests = [limiter.request(), limiter.request(), limiter.request(2)]
    await trio.sleep(2)
    before = limiter._core.snapshot()
    assert [one.status for one in requests] == ["granted", "granted", "pending"]
    assert limiter.statistics() == structsync.RateLimiterStatistics(
        1, value=0, burst=2, next_time=4
    )
    assert limiter._core.snapshot() == before
    limiter.close()
    assert [one.status for one in requests] == ["granted", "granted", "broken"]


async def test_in_the_middle_of_a_step_what_is_due_is_not_withdrawn(autojump_clock: Clock) -> None:
    limiter, other = RateLimiter(1), structsync.Semaphore(1)
    limiter.acquire_nowait()
    due, later, seen = limiter.request(), limiter.request(), list[bool]()
    await trio.sleep(1)
    with structsync.observe(lambda event: seen.extend((due.withdraw(), later.withdraw()))):
        other.release()
    assert seen[:2] == [False, True]
    assert (due.status, later.status) == ("granted", "withdrawn")


async def test_it_is_no_part_of_a_group() -> None:
    with pytest.raises(TypeError, match="a rate limiter cannot be part of a group"):
        structsync.acquire_all(RateLimiter(1).claim(), structsync.Lock().claim())
