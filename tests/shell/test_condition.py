"""The two stages of a wait on a condition, notified and granted, and a cancellation in each."""

import sys

import pytest
import trio
import trio.testing

from structsync import Condition, Lock, PrimitiveEvent, Semaphore, acquire_any, observe

from .waits import Waits, settle


async def enter(lock: Lock) -> None:
    async with lock:
        pass


async def test_a_notified_waiter_moves_to_the_queue_of_the_lock() -> None:
    condition = Condition()
    async with trio.open_nursery() as nursery:
        waits = Waits(nursery)
        await waits.start("a", condition)
        async with condition:
            condition.notify()
            statistics = condition.statistics()
    assert (statistics.tasks_waiting, statistics.lock_statistics.tasks_waiting) == (0, 1)


async def test_a_notified_waiter_returns_only_once_it_owns_the_lock() -> None:
    condition = Condition()
    async with trio.open_nursery() as nursery:
        waits = Waits(nursery)
        await waits.start("a", condition)
        async with condition:
            condition.notify()
            await settle()
            assert waits.ended == {}
    assert waits.ended == {"a": "notified"}


async def test_the_oldest_waiters_are_notified_first() -> None:
    condition = Condition()
    async with trio.open_nursery() as nursery:
        waits = Waits(nursery)
        for name in "abc":
            await waits.start(name, condition)
        async with condition:
            condition.notify(2)
        await settle()
        assert waits.ended == {"a": "notified", "b": "notified"}
        async with condition:
            condition.notify_all()


@pytest.mark.parametrize("n", [5, sys.maxsize + 1])
async def test_notifying_more_than_wait_notifies_all_and_keeps_nothing(n: int) -> None:
    condition = Condition()
    async with trio.open_nursery() as nursery:
        waits = Waits(nursery)
        await waits.start("a", condition)
        async with condition:
            condition.notify(n)
        await waits.start("b", condition)
        assert waits.ended == {"a": "notified"}
        nursery.cancel_scope.cancel()


async def test_cancelling_a_notified_waiter_notifies_the_next_in_the_same_step() -> None:
    """N1 of the bugs of peers, live in trio 0.35: the notification is lost with its task."""
    condition = Condition()
    async with trio.open_nursery() as nursery:
        waits = Waits(nursery)
        await waits.start("a", condition)
        await waits.start("b", condition)
        async with condition:
            condition.notify()
            waits.scopes["a"].cancel()
            assert condition.statistics().tasks_waiting == 0
    assert waits.ended == {"a": "cancelled", "b": "notified"}


async def test_the_successor_takes_over_the_place_in_the_queue_of_the_lock() -> None:
    lock = Lock()
    condition = Condition(lock)
    granted: list[str] = []

    def note(event: PrimitiveEvent) -> None:
        if event.primitive is lock and event.kind == "granted":
            granted.append(event.claim.name)

    async with trio.open_nursery() as nursery:
        waits = Waits(nursery)
        await waits.start("a", condition)
        await waits.start("b", condition)
        with observe(note):
            async with condition:
                granted.clear()
                condition.notify()
                nursery.start_soon(enter, lock, name="newcomer")
                await settle()
                waits.scopes["a"].cancel()
            await settle()
    assert granted == ["b", "newcomer", "a"]


async def test_with_no_task_to_take_over_the_notification_ends() -> None:
    condition = Condition()
    async with trio.open_nursery() as nursery:
        waits = Waits(nursery)
        await waits.start("a", condition)
        async with condition:
            condition.notify()
            waits.scopes["a"].cancel()
        await waits.start("b", condition)
        assert waits.ended == {"a": "cancelled"}
        nursery.cancel_scope.cancel()


async def test_a_cancelled_waiter_owns_the_lock_when_it_raises() -> None:
    condition = Condition()
    owned = []

    async def wait(scope: trio.CancelScope) -> None:
        with scope:
            await condition.acquire()
            try:
                await condition.wait()
            finally:
                owned.append(condition.statistics().lock_statistics.owner)
                condition.release()

    async with trio.open_nursery() as nursery:
        scope = trio.CancelScope()
        nursery.start_soon(wait, scope)
        await settle()
        scope.cancel()
    assert scope.cancelled_caught
    assert owned[0] is not None
    assert "wait" in owned[0].name


async def test_a_cancelled_waiter_waits_for_the_lock_at_the_end_of_the_queue() -> None:
    condition = Condition()
    async with trio.open_nursery() as nursery:
        waits = Waits(nursery)
        await waits.start("a", condition)
        async with condition:
            waits.scopes["a"].cancel()
            await settle()
            assert condition.statistics().lock_statistics.tasks_waiting == 1
            assert waits.ended == {}
    assert waits.ended == {"a": "cancelled"}


async def test_waiting_in_a_cancelled_scope_raises_and_keeps_the_lock() -> None:
    condition = Condition()
    async with condition:
        with trio.CancelScope() as scope:
            scope.cancel()
            await condition.wait()
        assert scope.cancelled_caught
        assert condition.statistics().lock_statistics.owner is trio.lowlevel.current_task()


async def test_what_a_wait_lets_in_in_other_queues_is_observed() -> None:
    """Who waits for the lock or a permit is given the lock, and so leaves the queue of the permits."""
    lock = Lock()
    condition = Condition(lock)
    go_on = trio.Event()
    permits = Semaphore(2, max_value=2)
    permits.acquire_nowait()
    granted: list[object] = []

    def note(event: PrimitiveEvent) -> None:
        if event.kind == "granted":
            granted.append(event.primitive)

    async def waits() -> None:
        async with condition:
            await go_on.wait()
            with observe(note):
                await condition.wait()

    async def either() -> None:
        async with acquire_any(permits.claim(2), lock.claim()):
            pass

    async with trio.open_nursery() as nursery:
        nursery.start_soon(waits)
        await settle()
        nursery.start_soon(either)
        await settle()
        nursery.start_soon(permits.acquire)
        await settle()
        go_on.set()
        await settle()
        assert permits in granted
        nursery.cancel_scope.cancel()
