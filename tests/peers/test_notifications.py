"""N: a notification is spent on a task that is cancelled, and must not be lost with it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from structsync import Condition, Lock

if TYPE_CHECKING:
    from tests.peers.conftest import OneStep, Start

TRIO = tuple(int(part) for part in trio.__version__.split(".")[:2])


async def wait_once(condition: Any) -> None:
    async with condition:
        await condition.wait()


async def notify_one_and_cancel_it(start: Start, condition: Any) -> str:
    """The recipe of N1; returns how the wait of the second waiter stands at the end."""
    first = await start(wait_once, condition)
    second = await start(wait_once, condition)
    async with condition:
        condition.notify()
        first.cancel()
    await wait_all_tasks_blocked()
    assert first.ended == "cancelled"
    return second.ended


async def test_a_notification_outlives_the_cancellation_of_its_waiter(start: Start) -> None:
    """N1, trio.Condition; N2, python/cpython gh-112202; N3, agronholm/anyio#1075: it was lost."""
    assert await notify_one_and_cancel_it(start, Condition()) == "done"


@pytest.mark.skipif(TRIO != (0, 35), reason="says what trio 0.35 does")
async def test_trio_still_loses_the_notification_of_a_cancelled_waiter(start: Start) -> None:
    """N1, trio.Condition: when this fails, trio has fixed it, and our pages about it are out of date."""
    assert await notify_one_and_cancel_it(start, trio.Condition()) == "waiting"


async def test_a_notification_and_a_cancellation_in_one_step_wake_exactly_one(
    start: Start, one_step: OneStep
) -> None:
    """N1, trio.Condition: cancelled before the notification, or after it."""
    condition = Condition()
    waiters = [await start(wait_once, condition) for _ in range(3)]
    async with condition:
        await one_step(waiters[0].cancel, condition.notify)
    await wait_all_tasks_blocked()
    assert [waiter.ended for waiter in waiters] == ["cancelled", "done", "waiting"]


async def test_a_notification_passes_on_as_often_as_its_waiter_is_cancelled(start: Start) -> None:
    """N2, python/cpython gh-112202: the successor is cancelled too."""
    condition = Condition()
    waiters = [await start(wait_once, condition) for _ in range(4)]
    async with condition:
        condition.notify()
        for waiter in waiters[:3]:
            waiter.cancel()
    await wait_all_tasks_blocked()
    assert [waiter.ended for waiter in waiters] == ["cancelled"] * 3 + ["done"]


async def test_the_successor_of_a_cancelled_waiter_keeps_its_place_in_queue(start: Start) -> None:
    """N3, agronholm/anyio#1075: the notification is handed on, with the ticket that it had."""
    condition = Condition()
    order: list[str] = []

    async def record(name: str, wait: bool) -> None:
        async with condition:
            if wait:
                await condition.wait()
            order.append(name)

    first = await start(record, "first", True)
    await start(record, "second", True)
    async with condition:
        condition.notify()
        await start(record, "newcomer", False)
        first.cancel()
    await wait_all_tasks_blocked()
    assert order == ["second", "newcomer"]


async def test_a_notification_that_no_task_can_take_over_ends_with_its_waiter(start: Start) -> None:
    """N3, agronholm/anyio#1075: it is not kept for a later waiter, as none was waiting."""
    condition = Condition()
    first = await start(wait_once, condition)
    async with condition:
        condition.notify()
        first.cancel()
    late = await start(wait_once, condition)
    assert (first.ended, late.ended) == ("cancelled", "waiting")


async def test_a_wait_cancelled_after_the_notification_owns_the_lock(start: Start) -> None:
    """N4, python/asyncio#346: it returned without the lock, and the body's release raised."""
    lock = Lock()
    condition = Condition(lock)
    owners: list[object] = []

    async def wait() -> None:
        async with condition:
            try:
                await condition.wait()
            finally:
                owners.append(lock.statistics().owner)

    waiter = await start(wait)
    async with condition:
        condition.notify()
        waiter.cancel()
    await wait_all_tasks_blocked()
    assert (waiter.ended, owners) == ("cancelled", [waiter.task])


async def test_a_wait_cancelled_after_the_notification_is_a_cancelled_one(start: Start) -> None:
    """N5, python/cpython gh-77022: Condition.wait swallowed the cancellation."""
    condition = Condition()
    waiter = await start(wait_once, condition)
    async with condition:
        condition.notify()
        waiter.cancel()
    await wait_all_tasks_blocked()
    assert waiter.scope.cancelled_caught


async def test_a_deadline_during_the_reacquire_leaves_wait_for_with_the_lock(
    start: Start, autojump_clock: MockClock
) -> None:
    """N6, python/cpython gh-86766: "RuntimeError: Lock is not acquired" after a timeout."""
    condition = Condition()

    async def wait_a_while() -> None:
        async with condition:
            with trio.fail_after(1):
                await condition.wait_for(lambda: False)

    waiter = await start(wait_a_while)
    async with condition:
        condition.notify()
        await trio.sleep_until(trio.current_time() + 2)
        assert waiter.ended == "waiting"  # the time is up, and it has to own the lock to say so
    await wait_all_tasks_blocked()
    assert waiter.ended == "TooSlowError"
    assert not condition.locked()


@pytest.mark.skipif(TRIO < (0, 31), reason="cancellations have no reason in this trio")
@pytest.mark.parametrize("notified", [False, True])
async def test_the_reason_of_a_cancellation_comes_out_of_the_wait(
    start: Start, notified: bool
) -> None:
    """N7, python/cpython gh-111693: a fresh CancelledError replaced the original and its message."""
    condition = Condition()
    waiter = await start(wait_once, condition)
    async with condition:
        if notified:
            condition.notify()
        cancel: Callable[..., None] = waiter.scope.cancel
        cancel(reason="enough")
    await wait_all_tasks_blocked()
    assert getattr(waiter.error, "reason", None) == "enough"


async def test_a_holder_that_waits_for_a_cancelled_waiter_waits_in_vain(
    start: Start, autojump_clock: MockClock
) -> None:
    """N8, trio#1082: expected, and inherent. Who is cancelled has to own the lock when it raises, as
    the block around it will release it; so it ends only after the holder has let go."""
    condition = Condition()
    ended = trio.Event()

    async def wait() -> None:
        try:
            await wait_once(condition)
        finally:
            ended.set()

    waiter = await start(wait)
    async with condition:
        waiter.cancel()
        with trio.move_on_after(1_000) as patience:
            await ended.wait()
    assert patience.cancelled_caught
    await ended.wait()


async def test_no_task_may_notify_after_releasing_the_shared_lock(start: Start) -> None:
    """N10, agronholm/anyio#1319: the condition kept its own, stale, idea of the owner."""
    lock = Lock()
    conditions = [Condition(lock), Condition(lock)]
    await conditions[0].acquire()
    conditions[1].release()
    for condition in conditions:
        with pytest.raises(RuntimeError, match="must hold the lock"):
            condition.notify()


async def test_who_takes_the_shared_lock_directly_may_notify_on_any_condition(
    start: Start,
) -> None:
    """N10, agronholm/anyio#1319: it was refused."""
    lock = Lock()
    conditions = [Condition(lock), Condition(lock)]
    waiters = [await start(wait_once, condition) for condition in conditions]
    async with lock:
        for condition in conditions:
            condition.notify()
    await wait_all_tasks_blocked()
    assert [waiter.ended for waiter in waiters] == ["done", "done"]


async def test_who_waits_on_a_condition_again_is_not_notified_by_the_same_call(
    start: Start,
) -> None:
    """N12, tokio#5396: the same on a condition, with more than one batch."""
    condition = Condition()

    async def wait_twice() -> None:
        async with condition:
            await condition.wait()
            await condition.wait()

    waiters = [await start(wait_twice) for _ in range(40)]
    async with condition:
        condition.notify_all()
    await wait_all_tasks_blocked()
    assert {waiter.ended for waiter in waiters} == {"waiting"}
    assert condition.statistics().tasks_waiting == 40
