"""P: a permit is granted to a task that is being cancelled, and must be in exactly one place."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from structsync import CapacityLimiter, Lock, Parker, Semaphore

if TYPE_CHECKING:
    from tests.peers.conftest import OneStep, Start

one_or_three = pytest.mark.parametrize("claim", [1, 3])


def taken(permits: int = 3) -> Semaphore:
    semaphore = Semaphore(permits, max_value=permits)
    semaphore.acquire_nowait(permits)
    return semaphore


@one_or_three
@pytest.mark.parametrize("next_claim", [1, 3])
async def test_a_release_and_a_cancellation_in_one_step_lose_no_permit(
    start: Start, one_step: OneStep, claim: int, next_claim: int
) -> None:
    """P1, python/asyncio#270; P4, anyio#387: the permit went to the cancelled waiter, and the other
    one slept forever."""
    semaphore = taken()
    first = await start(semaphore.acquire, claim)
    second = await start(semaphore.acquire, next_claim)
    cancel_first = await one_step(first.cancel, lambda: semaphore.release(3))
    left = 3 if cancel_first else 3 - claim
    fits = next_claim <= left
    assert first.ended == ("cancelled" if cancel_first else "done")
    assert second.ended == ("done" if fits else "waiting")
    assert semaphore.value == (left - next_claim if fits else left)


async def test_a_release_and_a_cancellation_in_one_step_do_not_lose_a_lock(
    start: Start, one_step: OneStep
) -> None:
    """P2, bpo-27585: the same in Lock."""
    lock = Lock()
    lock.acquire_nowait()
    first = await start(lock.acquire)
    second = await start(lock.acquire)
    if not await one_step(first.cancel, lock.release):
        assert (first.ended, second.ended) == ("done", "waiting")
        await first.act(lock.release)
    assert second.ended == "done"


@one_or_three
async def test_the_semaphore_works_on_after_a_cancelled_grant(
    start: Start, one_step: OneStep, claim: int
) -> None:
    """P3, python/cpython gh-90155: a flag stayed set when the woken waiter was cancelled, and every
    later acquire hung."""
    semaphore = taken()
    waiter = await start(semaphore.acquire, claim)
    if not await one_step(waiter.cancel, lambda: semaphore.release(3)):
        semaphore.release(claim)
    later = await start(semaphore.acquire, 3)
    assert later.ended == "done"


async def test_a_lock_whose_only_waiter_is_cancelled_at_the_release_is_free_or_its(
    start: Start, one_step: OneStep
) -> None:
    """P5, anyio PR 1145: no owner, a queue that is not empty, and no task to wake it."""
    lock = Lock()
    lock.acquire_nowait()
    waiter = await start(lock.acquire)
    cancel_first = await one_step(waiter.cancel, lock.release)
    assert lock.statistics().owner is (None if cancel_first else waiter.task)
    assert lock.statistics().tasks_waiting == 0


async def test_who_joins_while_the_one_ahead_is_cancelled_at_the_release_is_served(
    nursery: trio.Nursery, start: Start, one_step: OneStep
) -> None:
    """P5, anyio PR 1145: it starts to wait in that very step."""
    lock = Lock()
    lock.acquire_nowait()
    first = await start(lock.acquire)
    nursery.start_soon(lock.acquire)  # begins after the step below
    if not await one_step(first.cancel, lock.release):
        assert lock.statistics().tasks_waiting == 1
        await first.act(lock.release)
    assert lock.statistics().tasks_waiting == 0
    # It has ended as the owner: it was served, and no other task was.
    with pytest.raises(trio.BrokenResourceError):
        lock.acquire_nowait()


async def test_a_token_granted_to_a_cancelled_borrower_is_held_or_free(
    start: Start, one_step: OneStep
) -> None:
    """P6, anyio#947: the token of a cancelled borrower was not handed on."""
    limiter = CapacityLimiter(1)
    limiter.acquire_on_behalf_of_nowait("holder")
    first = await start(limiter.acquire_on_behalf_of, "first")
    await start(limiter.acquire_on_behalf_of, "second")
    cancel_first = await one_step(first.cancel, lambda: limiter.release_on_behalf_of("holder"))
    assert limiter.statistics().borrowers == ["second" if cancel_first else "first"]
    assert limiter.available_tokens == 0


@one_or_three
async def test_cancelling_a_waiter_that_was_not_granted_frees_nothing(
    start: Start, claim: int
) -> None:
    """P8, kotlinx PR 1323: each cancellation resumed the next waiter."""
    semaphore = taken()
    first = await start(semaphore.acquire, claim)
    second = await start(semaphore.acquire, 1)
    first.cancel()
    await wait_all_tasks_blocked()
    assert (second.ended, semaphore.value) == ("waiting", 0)


async def test_a_cancelled_acquire_does_not_release_on_the_way_out(start: Start) -> None:
    """P10, microsoft/vs-threading PR 520: "completed" was taken for "acquired": two owners."""
    semaphore = taken(1)

    async def enter() -> None:
        async with semaphore:
            pass

    first = await start(enter)
    second = await start(enter)
    first.cancel()
    await wait_all_tasks_blocked()
    assert (first.ended, second.ended, semaphore.value) == ("cancelled", "waiting", 0)


async def test_nested_deadlines_at_the_time_of_the_release_lose_no_permit(
    nursery: trio.Nursery, start: Start, autojump_clock: MockClock
) -> None:
    """P12, typelevel/cats-effect#4571: two nested timeouts lost the element."""
    semaphore = taken(1)
    due = trio.current_time() + 1
    got: list[str] = []

    async def release_when_due() -> None:
        await trio.sleep_until(due)
        semaphore.release()

    async def acquire_until_due() -> None:
        with trio.CancelScope(deadline=due), trio.CancelScope(deadline=due):
            await semaphore.acquire()
            got.append("it")

    nursery.start_soon(release_when_due)
    waiter = await start(acquire_until_due)
    await trio.sleep_until(due + 1)
    assert waiter.ended == "done"
    assert semaphore.value + len(got) == 1


async def test_what_a_cancelled_taker_did_not_take_is_there_for_the_next(
    start: Start, one_step: OneStep
) -> None:
    """P13, typelevel/cats-effect#3000: an item was handed to a taker that was being cancelled."""
    parker = Parker()
    first = await start(parker.block)
    cancel_first = await one_step(first.cancel, parker.unblock)
    second = await start(parker.block)
    assert second.ended == ("done" if cancel_first else "waiting")


async def test_a_cancelled_taker_does_not_use_up_the_wakeup_of_the_next(
    start: Start, one_step: OneStep
) -> None:
    """P13, typelevel/cats-effect#3000: an offer woke a taker that was cancelled already (#3603)."""
    signals = Semaphore(0)
    first = await start(signals.acquire)
    second = await start(signals.acquire)
    await one_step(first.cancel, signals.release)
    signals.release()
    await wait_all_tasks_blocked()
    assert second.ended == "done"


async def test_an_acquire_whose_time_is_up_leaks_no_lock(
    start: Start, autojump_clock: MockClock
) -> None:
    """P14, python/asyncio#201: wait_for(lock.acquire()) leaked the lock."""
    lock = Lock()
    lock.acquire_nowait()

    async def try_for_a_while() -> None:
        with trio.fail_after(1):
            await lock.acquire()

    waiter = await start(try_for_a_while)
    await trio.sleep_until(trio.current_time() + 2)
    lock.release()
    assert waiter.ended == "TooSlowError"
    assert not lock.locked()


async def test_a_cancelled_wait_for_a_request_loses_neither_place_nor_grant(
    start: Start, one_step: OneStep
) -> None:
    """P14, python/asyncio#343: wait_for(queue.get()) dropped the item. A request is apart from the
    wait for it: whichever comes first, its permit is granted, and given back by its block."""
    semaphore = taken(1)
    with semaphore.request() as request:
        waiter = await start(request.wait)
        cancel_first = await one_step(waiter.cancel, semaphore.release)
        assert waiter.ended == ("cancelled" if cancel_first else "done")
        assert (request.status, semaphore.value) == ("granted", 0)
    assert semaphore.value == 1


async def test_a_claim_that_was_half_there_leaves_no_trace_at_close_and_cancellation(
    start: Start, one_step: OneStep
) -> None:
    """P17, tokio#900: permits gathered for a claim were lost with it when it was dropped, and when the
    other side closed (#8260)."""
    semaphore = Semaphore(2, max_value=3)
    large = await start(semaphore.acquire, 3)
    small = await start(semaphore.acquire, 1)
    cancel_first = await one_step(large.cancel, semaphore.close)
    assert large.ended == ("cancelled" if cancel_first else "ClosedResourceError")
    # Cancelled first, the large claim lets the small one in before the end.
    assert small.ended == ("done" if cancel_first else "ClosedResourceError")
    assert semaphore.value == (1 if cancel_first else 2)
