"""A limiter lends one token per borrower, and knows who has it."""

import math
from typing import Any

import pytest
import trio
import trio.testing

from structsync import CapacityLimiter

settle = trio.testing.wait_all_tasks_blocked


async def borrow(limiter: CapacityLimiter, borrower: object, got: list[object]) -> None:
    await limiter.acquire_on_behalf_of(borrower)
    got.append(borrower)


async def test_a_borrower_that_holds_a_token_is_refused() -> None:
    limiter = CapacityLimiter(2)
    limiter.acquire_on_behalf_of_nowait("b")
    with pytest.raises(RuntimeError, match="already holding one of this CapacityLimiter's tokens"):
        await limiter.acquire_on_behalf_of("b")
    assert limiter.borrowed_tokens == 1


async def test_a_borrower_that_waits_already_is_refused_at_once() -> None:
    """O5 of the bugs of peers, live in trio 0.35: both are granted and one token is counted."""
    limiter = CapacityLimiter(0)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(limiter.acquire_on_behalf_of, "b")
        await settle()
        with pytest.raises(RuntimeError, match="already waiting for one of this"):
            await limiter.acquire_on_behalf_of("b")
        nursery.cancel_scope.cancel()


async def test_giving_back_for_a_task_that_holds_nothing_is_refused() -> None:
    with pytest.raises(RuntimeError, match="isn't holding any of this CapacityLimiter's tokens"):
        CapacityLimiter(1).release_on_behalf_of("b")


async def test_a_task_that_holds_nothing_cannot_release() -> None:
    limiter = CapacityLimiter(1)
    limiter.acquire_on_behalf_of_nowait("b")
    with pytest.raises(RuntimeError, match="isn't holding any"):
        limiter.release()


async def test_a_token_that_was_freed_goes_to_the_queue_and_to_no_other_task() -> None:
    """O3 of the bugs of peers: a nowait acquire slipped in and made -1 available."""
    limiter, got = CapacityLimiter(1), []  # type: ignore[var-annotated]
    limiter.acquire_on_behalf_of_nowait("a")
    async with trio.open_nursery() as nursery:
        nursery.start_soon(borrow, limiter, "b", got)
        await settle()
        limiter.release_on_behalf_of("a")
        with pytest.raises(trio.WouldBlock):
            limiter.acquire_on_behalf_of_nowait("c")
    assert (got, limiter.available_tokens) == (["b"], 0)


async def test_a_total_of_zero_pauses() -> None:
    limiter = CapacityLimiter(0)
    with pytest.raises(trio.WouldBlock):
        limiter.acquire_nowait()
    limiter.total_tokens = 1
    limiter.acquire_nowait()


def test_an_infinite_total_never_blocks() -> None:
    limiter = CapacityLimiter(math.inf)
    for borrower in range(1000):
        limiter.acquire_on_behalf_of_nowait(borrower)
    assert limiter.available_tokens == math.inf


def test_tokens_on_hand_are_negative_after_a_shrink() -> None:
    limiter = CapacityLimiter(2)
    limiter.acquire_on_behalf_of_nowait("a")
    limiter.acquire_on_behalf_of_nowait("b")
    limiter.total_tokens = 1
    assert limiter.available_tokens == -1


@pytest.mark.parametrize("total", [True, 1.5, "1", None, math.nan, -math.inf], ids=repr)
def test_a_total_that_is_no_int_is_refused(total: Any) -> None:
    with pytest.raises((TypeError, ValueError), match="total_tokens must be"):
        CapacityLimiter(total)


def test_a_total_below_zero_is_refused_and_changes_nothing() -> None:
    limiter = CapacityLimiter(1)
    with pytest.raises(ValueError, match="total_tokens must be >= 0"):
        limiter.total_tokens = -1
    assert limiter.total_tokens == 1


@pytest.mark.parametrize("busy", [False, True])
async def test_a_borrower_that_cannot_be_hashed_is_refused_and_changes_nothing(busy: bool) -> None:
    limiter = CapacityLimiter(1)
    if busy:
        limiter.acquire_on_behalf_of_nowait("a")
    before = limiter.statistics()
    with pytest.raises(TypeError, match="unhashable"):
        await limiter.acquire_on_behalf_of([])
    assert limiter.statistics() == before


async def test_it_limits_worker_threads() -> None:
    limiter = CapacityLimiter(1)
    await trio.to_thread.run_sync(lambda: None, limiter=limiter)  # type: ignore[arg-type]
    assert limiter.borrowed_tokens == 0


async def test_a_closed_limiter_starts_no_worker_thread() -> None:
    limiter, ran = CapacityLimiter(1), []  # type: ignore[var-annotated]
    limiter.close()
    with pytest.raises(trio.ClosedResourceError):
        await trio.to_thread.run_sync(ran.append, 1, limiter=limiter)  # type: ignore[arg-type]
    assert ran == []


async def test_statistics_list_the_borrowers_in_the_order_of_their_grants() -> None:
    limiter = CapacityLimiter(3)
    for borrower in "cab":
        limiter.acquire_on_behalf_of_nowait(borrower)
    assert limiter.statistics().borrowers == ["c", "a", "b"]
