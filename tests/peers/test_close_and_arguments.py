"""C and A: what close leaves behind; numbers, start values and views of the state."""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

import structsync
from structsync import (
    Barrier,
    Buffer,
    CapacityLimiter,
    Condition,
    Latch,
    Lock,
    LockMap,
    Monitor,
    Parker,
    Primitive,
    RateLimiter,
    ResourcePool,
    RWLock,
    Semaphore,
    Value,
    WaitQueue,
)
from structsync._runtime.lending import Loan
from tests.public_names import PUBLIC

if TYPE_CHECKING:
    from tests.peers.conftest import OneStep, Start

Make = Callable[[], Primitive[Any]]
Operation = Callable[[Any], Awaitable[object]]


def taken_lock() -> Lock:
    lock = Lock()
    lock.acquire_nowait()
    return lock


def map_with_a_taken_lock() -> LockMap[str]:
    locks = LockMap[str]()
    locks["key"].acquire_nowait()
    return locks


def spent_rate_limiter() -> RateLimiter:
    limiter = RateLimiter(1)
    limiter.acquire_nowait()
    return limiter


def read_rwlock() -> RWLock:
    lock = RWLock()
    lock.acquire_read_nowait()
    return lock


def lent_pool() -> ResourcePool[object]:
    pool = ResourcePool[object](make_object, 1)
    pool._acquire_nowait(Loan())
    return pool


async def make_object() -> object:
    return object()


# Each primitive in a state in which its operation has to wait.
BUSY: dict[str, tuple[Make, Operation]] = {
    "Semaphore": (lambda: Semaphore(0, max_value=3), Semaphore.acquire),
    "Lock": (taken_lock, Lock.acquire),
    "LockMap": (map_with_a_taken_lock, lambda locks: locks["key"].acquire()),
    "CapacityLimiter": (lambda: CapacityLimiter(0), CapacityLimiter.acquire),
    "WaitQueue": (WaitQueue, WaitQueue.wait),
    "Parker": (Parker, Parker.block),
    "RWLock": (read_rwlock, RWLock.acquire_write),
    "Barrier": (lambda: Barrier(9), Barrier.wait),
    "Latch": (lambda: Latch(1), Latch.wait),
    "Buffer": (lambda: Buffer(1), Buffer.get),
    "RateLimiter": (spent_rate_limiter, RateLimiter.acquire),
    "ResourcePool": (lent_pool, lambda pool: pool.item().__aenter__()),
    "Value": (lambda: Value(False), lambda value: value.wait_for(bool)),
    "Monitor": (Monitor, lambda monitor: monitor.entry(list, lambda: False)()),
}
each_busy_primitive = pytest.mark.parametrize(("make", "operation"), BUSY.values(), ids=BUSY)


async def wait_once(condition: Condition) -> None:
    async with condition:
        await condition.wait()


# ==== close ====


async def test_a_closed_semaphore_stays_closed_whatever_is_done_to_it(start: Start) -> None:
    """C1, tokio#8020: forgetting permits cleared the bit that said "closed"."""
    semaphore = Semaphore(2, max_value=3)
    granted, pending = semaphore.request(2), semaphore.request(2)
    semaphore.close()
    semaphore.release()
    semaphore.resize(9)
    assert not granted.withdraw()
    assert not pending.withdraw()
    with granted:
        pass
    semaphore.close()
    with pytest.raises(trio.ClosedResourceError):
        semaphore.acquire_nowait()
    with pytest.raises(trio.ClosedResourceError):
        await semaphore.acquire()


async def test_a_closed_limiter_stays_closed_whatever_is_done_to_it() -> None:
    """C1, tokio#8020: releasing and changing the total."""
    limiter = CapacityLimiter(1)
    await limiter.acquire()
    limiter.close()
    limiter.release()
    limiter.total_tokens = 5
    with pytest.raises(trio.ClosedResourceError):
        limiter.acquire_nowait()


async def test_a_closed_wait_queue_and_parker_stay_closed_after_wakes() -> None:
    """C1, tokio#8020: wake, wake all, unblock."""
    queue, parker = WaitQueue(), Parker()
    queue.close()
    parker.close()
    queue.wake()
    queue.wake_all()
    parker.unblock()
    with pytest.raises(trio.ClosedResourceError):
        await queue.wait()
    with pytest.raises(trio.ClosedResourceError):
        await parker.block()


@each_busy_primitive
async def test_closing_wakes_all_who_wait(start: Start, make: Make, operation: Operation) -> None:
    """C2, python/cpython gh-117531: a shutdown did not unblock those who waited; C5, trio#3331: they
    are told that it was closed, not that it is broken."""
    primitive = make()
    count = 1 if isinstance(primitive, Parker) else 3
    waiters = [await start(operation, primitive) for _ in range(count)]
    primitive.close()
    await wait_all_tasks_blocked()
    assert {waiter.ended for waiter in waiters} == {"ClosedResourceError"}


@pytest.mark.parametrize("what", ["condition", "lock"])
async def test_closing_wakes_all_who_wait_for_a_notification(start: Start, what: str) -> None:
    """C2, python/cpython gh-117531: by closing the condition, or the lock under it."""
    lock = Lock()
    condition = Condition(lock)
    waiters = [await start(wait_once, condition) for _ in range(3)]
    (condition if what == "condition" else lock).close()
    await wait_all_tasks_blocked()
    assert [waiter.ended for waiter in waiters] == ["ClosedResourceError"] * 3


@each_busy_primitive
async def test_a_close_and_a_cancellation_in_one_step_end_the_wait(
    start: Start, one_step: OneStep, make: Make, operation: Operation
) -> None:
    """C3, dotnet/runtime#59639: disposed right after a cancellation, the waiter never completed."""
    primitive = make()
    waiter = await start(operation, primitive)
    cancel_first = await one_step(waiter.cancel, primitive.close)
    assert waiter.ended == ("cancelled" if cancel_first else "ClosedResourceError")


@pytest.mark.parametrize("notified", [False, True])
async def test_closing_a_condition_and_cancelling_its_waiter_in_one_step_end_the_wait(
    start: Start, one_step: OneStep, notified: bool
) -> None:
    """C3, dotnet/runtime#59639: before and after the notification. Who was notified before the close
    got what it waited for, unless it was cancelled."""
    condition = Condition()
    waiter = await start(wait_once, condition)
    async with condition:
        if notified:
            condition.notify()
        cancel_first = await one_step(waiter.cancel, condition.close)
    await wait_all_tasks_blocked()
    cancelled = cancel_first or notified
    assert waiter.ended == ("cancelled" if cancelled else "ClosedResourceError")
    assert not condition.locked()


async def test_waiters_are_told_when_the_owner_ends_with_the_lock(start: Start) -> None:
    """C4, trio#3035: they hung. On the lock, and on two conditions on it."""
    lock = Lock()
    conditions = [Condition(lock), Condition(lock)]
    waiters = [await start(wait_once, condition) for condition in conditions]

    async def end_with_the_lock() -> None:
        lock.acquire_nowait()
        await wait_all_tasks_blocked()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(end_with_the_lock)
        await trio.lowlevel.checkpoint()
        waiters.append(await start(lock.acquire))
    await wait_all_tasks_blocked()
    assert [waiter.ended for waiter in waiters] == ["BrokenResourceError"] * 3


async def test_a_task_that_ends_with_permits_or_tokens_breaks_nothing(start: Start) -> None:
    """C4, trio#3035: what any task may give back has no owner that could end."""
    semaphore, limiter = Semaphore(1, max_value=1), CapacityLimiter(1)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(semaphore.acquire)
        nursery.start_soon(limiter.acquire_on_behalf_of, "a borrower")
    waiters = [await start(semaphore.acquire), await start(limiter.acquire)]
    semaphore.release()
    limiter.release_on_behalf_of("a borrower")
    await wait_all_tasks_blocked()
    assert [waiter.ended for waiter in waiters] == ["done", "done"]


# ==== arguments and accounting ====


@pytest.mark.parametrize("n", [-1, 0, True, 1.5, "1", None, 10**30])
@pytest.mark.parametrize("method", ["acquire_nowait", "release", "request", "acquire"])
async def test_a_number_that_cannot_be_granted_is_refused_and_changes_nothing(
    method: str, n: Any
) -> None:
    """A1, golang/go#80183: negative weights corrupted the state."""
    semaphore = Semaphore(2, max_value=3)
    with pytest.raises((TypeError, ValueError)):
        outcome = getattr(semaphore, method)(n)
        await outcome
    assert (semaphore.value, semaphore.statistics().tasks_waiting) == (2, 0)


async def test_an_odd_capacity_with_even_claims_keeps_its_odd_permit() -> None:
    """A2, zio#8598: capacity 5, claims for 2, twenty tasks."""
    semaphore = Semaphore(5, max_value=5)
    lowest = 5

    async def take_two() -> None:
        nonlocal lowest
        async with semaphore.permits(2):
            lowest = min(lowest, semaphore.value)
            await trio.lowlevel.checkpoint()

    async with trio.open_nursery() as nursery:
        for _ in range(20):
            nursery.start_soon(take_two)
    assert (semaphore.value, lowest) == (5, 1)


@pytest.mark.parametrize("initial", [0, 2, 5])
async def test_permits_that_are_out_from_the_start_are_counted(initial: int) -> None:
    """A3, kotlinx#1422: the permits that are out at the start were forgotten."""
    semaphore = Semaphore(initial, max_value=5)
    for _ in range(initial):
        semaphore.acquire_nowait()
    with pytest.raises(trio.WouldBlock):
        semaphore.acquire_nowait()
    semaphore.release(5)
    with pytest.raises(ValueError, match="released too many times"):
        semaphore.release()


@pytest.mark.parametrize("resized", [False, True])
async def test_a_limiter_forgets_cancelled_borrowers(start: Start, resized: bool) -> None:
    """A4, trio#548: they stayed among those who wait."""
    limiter = CapacityLimiter(1)
    limiter.acquire_on_behalf_of_nowait("holder")
    waiter = await start(limiter.acquire_on_behalf_of, "late")
    if resized:
        limiter.total_tokens = 0
    waiter.cancel()
    await wait_all_tasks_blocked()
    assert limiter.statistics().tasks_waiting == 0
    again = await start(limiter.acquire_on_behalf_of, "late")
    assert again.ended == "waiting"  # refused if it were still noted as waiting


@pytest.mark.parametrize("total_tokens", [0, 1, math.inf])
def test_limiters_of_any_size_can_be_made_before_the_run(total_tokens: float) -> None:
    """A5, anyio#1218: 0 and inf were refused outside a loop, and WouldBlock was another class."""
    limiter = CapacityLimiter(total_tokens)

    async def main() -> None:
        if total_tokens:
            limiter.acquire_nowait()
        else:
            with pytest.raises(trio.WouldBlock):
                limiter.acquire_nowait()

    trio.run(main)


def test_options_given_before_the_run_hold_in_it() -> None:
    """A6, anyio SemaphoreAdapter: an option was dropped where the object was made outside a loop."""
    semaphore = Semaphore(0, max_value=1, policy="priority", ageing=None)
    got: list[str] = []

    async def take(name: str, priority: int) -> None:
        await semaphore.acquire(priority=priority)
        got.append(name)

    async def main() -> None:
        async with trio.open_nursery() as nursery:
            for name, priority in (("late", 1), ("soon", 0)):
                nursery.start_soon(take, name, priority)
                await wait_all_tasks_blocked()
            for _ in range(2):
                semaphore.release()
                await wait_all_tasks_blocked()

    trio.run(main)
    assert got == ["soon", "late"]


async def test_what_is_handed_over_never_looks_free(start: Start) -> None:
    """A7, python/cpython gh-138121: locked() was False while a task waited."""
    lock, semaphore, limiter = Lock(), Semaphore(0), CapacityLimiter(1)
    lock.acquire_nowait()
    limiter.acquire_nowait()
    for operation in (lock.acquire, semaphore.acquire, limiter.acquire):
        await start(operation)
    lock.release()
    semaphore.release()
    limiter.release()
    assert lock.locked()
    assert (semaphore.value, limiter.available_tokens) == (0, 0)


def test_no_primitive_is_missing_among_those_closed_here() -> None:
    exported = [getattr(structsync, name) for name in PUBLIC]
    primitives = {c.__name__ for c in exported if isinstance(c, type) and issubclass(c, Primitive)}
    assert primitives - set(BUSY) == {
        "Primitive",
        "Condition",  # conditions have their own tests
        "MonitorCondition",
    }
