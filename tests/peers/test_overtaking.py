"""O: a task is granted who should have waited, or is granted twice."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest
import trio
from hypothesis import given
from hypothesis import strategies as st
from trio.testing import wait_all_tasks_blocked

import structsync
from structsync import CapacityLimiter, Lock, PrimitiveEvent, Request, Semaphore

if TYPE_CHECKING:
    from tests.peers.conftest import OneStep, Start

TRIO = tuple(int(part) for part in trio.__version__.split(".")[:2])


@pytest.mark.parametrize("make", [Lock, lambda: Semaphore(1)], ids=["Lock", "Semaphore"])
async def test_a_releaser_that_acquires_again_at_once_waits_its_turn(
    make: Callable[[], Lock | Semaphore],
) -> None:
    """O1, bpo-45997: the grants of three tasks with two rounds each were AACCBB."""
    primitive = make()
    grants: list[object] = []

    def record(event: PrimitiveEvent) -> None:
        if event.kind == "granted":
            grants.append(event.task)

    async def two_rounds() -> None:
        for _ in range(2):
            async with primitive:
                await trio.lowlevel.checkpoint()

    with structsync.observe(record):
        async with trio.open_nursery() as nursery:
            for _ in range(3):
                nursery.start_soon(two_rounds)
    assert len(set(grants[:3])) == 3
    assert grants[:3] == grants[3:]


async def test_a_lock_has_one_owner_after_acquire_cancel_acquire(
    start: Start, one_step: OneStep
) -> None:
    """O2, python/cpython gh-76915: several tasks owned the lock after a cancellation."""
    lock = Lock()
    lock.acquire_nowait()
    waiters = [await start(lock.acquire) for _ in range(3)]
    await one_step(waiters[0].cancel, lock.release)
    again = await start(lock.acquire)
    ends = [waiter.ended for waiter in (*waiters, again)]
    assert ends.count("done") == 1
    assert lock.statistics().tasks_waiting == ends.count("waiting")


async def test_nowait_for_one_permit_does_not_pass_a_claim_for_three(start: Start) -> None:
    """O3, anyio#1170: permits that are free and too few for the head are not free for others."""
    semaphore = Semaphore(2, max_value=3)
    await start(semaphore.acquire, 3)
    with pytest.raises(trio.WouldBlock):
        semaphore.acquire_nowait()


async def test_growing_a_limiter_that_was_shrunk_below_its_use_lets_in_what_fits(
    start: Start,
) -> None:
    """O4, anyio PR 1223: it woke by the difference of the totals, not by the room."""
    limiter = CapacityLimiter(3)
    for borrower in "abc":
        limiter.acquire_on_behalf_of_nowait(borrower)
    waiter = await start(limiter.acquire)
    limiter.total_tokens = 1
    limiter.total_tokens = 2
    await wait_all_tasks_blocked()
    assert (waiter.ended, limiter.borrowed_tokens) == ("waiting", 3)
    limiter.total_tokens = 4
    await wait_all_tasks_blocked()
    assert (waiter.ended, limiter.borrowed_tokens) == ("done", 4)


async def test_growing_a_semaphore_that_was_shrunk_below_its_use_lets_in_what_fits(
    start: Start,
) -> None:
    """O4, anyio PR 1223: shrink to 1 and grow to 2, then 4, with 3 permits out."""
    semaphore = Semaphore(3, max_value=3)
    semaphore.acquire_nowait(3)
    waiter = await start(semaphore.acquire)
    semaphore.resize(1)
    semaphore.resize(2)
    await wait_all_tasks_blocked()
    assert (waiter.ended, semaphore.value) == ("waiting", -1)
    semaphore.resize(4)
    await wait_all_tasks_blocked()
    assert (waiter.ended, semaphore.value) == ("done", 0)


async def test_a_borrower_that_waits_already_is_refused(start: Start) -> None:
    """O5, trio.CapacityLimiter; O6, anyio CapacityLimiter (asyncio): both waits were granted and one
    token counted; or the second overwrote the first, which never woke."""
    limiter = CapacityLimiter(1)
    limiter.acquire_on_behalf_of_nowait("holder")
    first = await start(limiter.acquire_on_behalf_of, "same")
    second = await start(limiter.acquire_on_behalf_of, "same")
    assert second.ended == "RuntimeError"
    limiter.release_on_behalf_of("holder")
    await wait_all_tasks_blocked()
    assert (first.ended, limiter.borrowed_tokens) == ("done", 1)


@pytest.mark.skipif(TRIO != (0, 35), reason="says what trio 0.35 does")
async def test_trio_still_grants_one_token_to_two_waits_of_one_borrower(start: Start) -> None:
    """O5, trio.CapacityLimiter: when this fails, trio has fixed it, and our pages about it are out of
    date."""
    limiter = trio.CapacityLimiter(1)
    limiter.acquire_on_behalf_of_nowait("holder")
    waiters = [await start(limiter.acquire_on_behalf_of, "same") for _ in range(2)]
    limiter.total_tokens = 3
    await wait_all_tasks_blocked()
    assert [waiter.ended for waiter in waiters] == ["done", "done"]
    assert limiter.borrowed_tokens == 2  # the holder's and one more


@pytest.mark.parametrize("policy", ["fifo", "eligible", "priority"])
async def test_a_cancelled_scope_gets_no_free_permit(policy: Any) -> None:
    """O7, golang/go#63615: the acquire succeeded although its context was done."""
    semaphore = Semaphore(3, max_value=3, policy=policy)
    with trio.CancelScope() as scope:
        scope.cancel()
        await semaphore.acquire(3)
    assert scope.cancelled_caught
    assert semaphore.value == 3


class NaiveSemaphore:
    """What a FIFO semaphore is: a number, and a list of claims served from its front."""

    def __init__(self, value: int) -> None:
        self.value = value
        self.queue: list[tuple[int, int]] = []  # (who, claim)
        self.granted: set[int] = set()

    def serve(self) -> None:
        while self.queue and self.queue[0][1] <= self.value:
            who, claim = self.queue.pop(0)
            self.value -= claim
            self.granted.add(who)


acts = st.lists(
    st.tuples(st.sampled_from(["ask", "try", "release", "withdraw"]), st.integers(1, 3))
)


@given(acts)
def test_a_semaphore_does_what_a_naive_one_does(acts: list[tuple[str, int]]) -> None:
    """O8, kotlinx PR 1898: try, release and cancel were not linearizable together."""

    async def compare() -> None:
        ours, naive = Semaphore(2), NaiveSemaphore(2)
        requests: list[Request[int]] = []
        for act, n in acts:
            if act == "ask":
                naive.queue.append((len(requests), n))
                requests.append(ours.request(n))
            elif act == "try":
                try:
                    ours.acquire_nowait(n)
                except trio.WouldBlock:
                    assert naive.queue or n > naive.value
                else:
                    assert not naive.queue
                    naive.value -= n
            elif act == "release":
                ours.release(n)
                naive.value += n
            elif requests:
                who = n % len(requests)
                left = [entry for entry in naive.queue if entry[0] != who]
                assert requests[who].withdraw() is (left != naive.queue)
                naive.queue = left
            naive.serve()
            assert ours.value == naive.value
            assert {w for w, r in enumerate(requests) if r.status == "granted"} == naive.granted

    trio.run(compare)


async def test_a_release_of_three_lets_in_all_that_fit(start: Start) -> None:
    """O9, kotlinx PR 1553: releasing k must resume all who fit; O10, smol-rs/async-lock#18: it woke
    one waiter only."""
    semaphore = Semaphore(0, max_value=3)
    waiters = [await start(semaphore.acquire, 1) for _ in range(4)]
    semaphore.release(3)
    await wait_all_tasks_blocked()
    assert [waiter.ended for waiter in waiters] == ["done"] * 3 + ["waiting"]


async def test_a_release_of_one_does_not_let_in_a_claim_for_two(start: Start) -> None:
    """O9, kotlinx PR 1553: the second counter-example; O10, marusama/semaphore#3: the second release
    completes it."""
    semaphore = Semaphore(0, max_value=3)
    waiter = await start(semaphore.acquire, 2)
    semaphore.release()
    await wait_all_tasks_blocked()
    assert (waiter.ended, semaphore.value) == ("waiting", 1)
    semaphore.release()
    await wait_all_tasks_blocked()
    assert (waiter.ended, semaphore.value) == ("done", 0)


async def test_a_release_lets_in_claims_of_different_sizes(start: Start) -> None:
    """O10, marusama/semaphore#3: it woke only the waiters of one weight."""
    semaphore = Semaphore(0, max_value=4)
    waiters = [await start(semaphore.acquire, n) for n in (1, 3, 1)]
    semaphore.release(4)
    await wait_all_tasks_blocked()
    assert [waiter.ended for waiter in waiters] == ["done", "done", "waiting"]


async def test_grants_follow_the_queue_though_runs_may_not(start: Start, run_order: str) -> None:
    """O11, trio's scheduler: not a bug. Three granted in one step run in the order of their grants or
    in the opposite one. (And so this whole folder does run under both.)"""
    semaphore = Semaphore(0, max_value=3)
    grants: list[trio.lowlevel.Task | None] = []
    runs: list[int] = []

    async def take(who: int) -> None:
        await semaphore.acquire()
        runs.append(who)

    def record(event: PrimitiveEvent) -> None:
        if event.kind == "granted":
            grants.append(event.task)

    waiters = [await start(take, who) for who in range(3)]
    with structsync.observe(record):
        semaphore.release(3)
    await wait_all_tasks_blocked()
    assert grants == [waiter.task for waiter in waiters]
    assert runs == ([0, 1, 2] if run_order == "arrival" else [2, 1, 0])


@pytest.mark.parametrize(("policy", "small_ends"), [("fifo", "waiting"), ("eligible", "done")])
async def test_a_large_claim_holds_up_small_ones_unless_the_policy_says_otherwise(
    start: Start, policy: Any, small_ends: str
) -> None:
    """O12, golang/go#56910: FIFO surprises users here; so it is the policy's name that says it."""
    semaphore = Semaphore(1, max_value=3, policy=policy)
    await start(semaphore.acquire, 3)
    small = await start(semaphore.acquire, 1)
    assert small.ended == small_ends
