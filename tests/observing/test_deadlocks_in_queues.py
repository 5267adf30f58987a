"""Deadlocks in which a task stands ahead, has alternatives, or was moved to another queue."""

from __future__ import annotations

from typing import Any

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

import structsync
from structsync import DeadlockError, deadlock_guard

from .crossing import use


async def test_a_knot_of_alternatives_is_a_deadlock() -> None:
    near, far, lock = structsync.Lock(), structsync.Lock(), structsync.Lock()
    raised: list[DeadlockError] = []

    async def holds(one: structsync.Lock) -> None:
        try:
            async with one:
                await wait_all_tasks_blocked()
                async with lock:
                    pass
        except DeadlockError as error:
            raised.append(error)

    with deadlock_guard():
        async with trio.open_nursery() as nursery:
            nursery.start_soon(holds, near)
            nursery.start_soon(holds, far)
            try:
                async with lock:
                    await wait_all_tasks_blocked(0.001)
                    async with structsync.acquire_any(near.claim(), far.claim()):
                        pass
            except DeadlockError as error:
                raised.append(error)
    assert len(raised) == 1
    assert "every other way out leads to these 3 tasks" in str(raised[0])


async def test_a_group_that_is_ahead_in_the_queue_blocks_those_behind() -> None:
    free, taken, lock = structsync.Lock(), structsync.Lock(), structsync.Lock()
    with deadlock_guard():
        async with trio.open_nursery() as nursery:

            async def group() -> None:
                async with structsync.acquire_all(free.claim(), taken.claim()):
                    pass

            async def behind() -> None:
                async with lock, free:
                    pass

            async with taken:
                nursery.start_soon(group)
                await wait_all_tasks_blocked()
                nursery.start_soon(behind)
                await wait_all_tasks_blocked()
                with pytest.raises(DeadlockError, match="in whose queue"):
                    await lock.acquire()


async def test_a_grant_to_a_task_that_waits_elsewhere_closes_a_cycle() -> None:
    """The cycle is closed by a release; the error comes to the task whose request was granted."""
    one, other = structsync.Lock(), structsync.Lock()
    raised: list[str] = []

    async def requests() -> None:
        with one.request():
            await trio.lowlevel.checkpoint()
            try:
                async with other:
                    pass
            except DeadlockError as error:
                raised.append(str(error))

    async def waits() -> None:
        async with other:
            await wait_all_tasks_blocked(0.001)
            async with one:
                pass

    with deadlock_guard():
        async with trio.open_nursery() as nursery:
            async with one:
                nursery.start_soon(requests)
                nursery.start_soon(waits)
                await wait_all_tasks_blocked(0.01)
                assert not raised
    assert len(raised) == 1


async def test_a_condition_may_be_notified_by_any_task_and_its_lock_has_an_owner() -> None:
    lock, other = structsync.Lock(), structsync.Lock()
    condition = structsync.Condition(lock)
    scope = trio.CancelScope()
    with deadlock_guard():
        async with trio.open_nursery() as nursery:

            async def waits() -> None:
                with scope:
                    async with other, condition:
                        await condition.wait()

            nursery.start_soon(waits)
            await wait_all_tasks_blocked()
            async with condition:
                scope.cancel()
                await wait_all_tasks_blocked()  # it sleeps on: it has to own the lock to raise
                with pytest.raises(DeadlockError):
                    await other.acquire()


async def test_a_task_that_only_leads_to_a_deadlock_closes_none() -> None:
    told: list[DeadlockError] = []
    lock, semaphore = structsync.Lock(), structsync.Semaphore(1, max_value=1)
    with deadlock_guard(told.append), trio.CancelScope() as scope:
        async with trio.open_nursery() as nursery:

            async def closes() -> None:
                async with lock, semaphore, semaphore:
                    pass

            async def leads_there() -> None:
                async with wanted:
                    nursery.start_soon(use, wanted)
                    await wait_all_tasks_blocked()
                    await lock.acquire()

            wanted = structsync.Lock()
            nursery.start_soon(closes)
            await wait_all_tasks_blocked()
            nursery.start_soon(leads_there)
            await wait_all_tasks_blocked(0.001)
            scope.cancel()
    assert len(told) == 1


async def test_where_several_hold_the_permits_the_graph_has_each_once() -> None:
    semaphore, lock = structsync.Semaphore(2, max_value=2), structsync.Lock()
    raised: list[DeadlockError] = []

    async def worker() -> None:
        try:
            async with semaphore:
                await wait_all_tasks_blocked()
                async with lock:
                    async with semaphore.permits(2):
                        pass
        except DeadlockError as error:
            raised.append(error)

    with deadlock_guard():
        async with trio.open_nursery() as nursery:
            nursery.start_soon(worker)
            nursery.start_soon(worker)
    assert len(raised[0].graph.edges) == 3
    assert {edge.holder for edge in raised[0].graph.edges} == {"worker #1", "worker #2"}


async def test_cancelled_in_a_condition_it_waits_behind_others_for_the_lock() -> None:
    lock, other = structsync.Lock(), structsync.Lock()
    condition, scope = structsync.Condition(lock), trio.CancelScope()
    with deadlock_guard():
        async with trio.open_nursery() as nursery:

            async def waits() -> None:
                with scope:
                    async with other, condition:
                        await condition.wait()

            nursery.start_soon(waits)
            await wait_all_tasks_blocked()
            async with lock:
                nursery.start_soon(use, lock)
                await wait_all_tasks_blocked()
                scope.cancel()
                with pytest.raises(DeadlockError, match="waits for"):
                    await other.acquire()


@pytest.mark.parametrize("first", ["lock", "limiter"])
async def test_each_claim_of_a_group_is_waited_for(first: str) -> None:
    limiter, lock, held = structsync.CapacityLimiter(1), structsync.Lock(), structsync.Lock()
    both: list[structsync.Claim[Any]] = [lock.claim(), limiter.claim()]
    claims = both[:: 1 if first == "lock" else -1]

    async def takes_both() -> None:
        async with held, structsync.acquire_all(*claims):
            pass

    with deadlock_guard():
        async with trio.open_nursery() as nursery, limiter:
            nursery.start_soon(takes_both)
            await wait_all_tasks_blocked()
            with pytest.raises(DeadlockError):
                await held.acquire()


async def test_who_holds_a_permit_that_another_task_releases_is_no_part_of_the_deadlock() -> None:
    one, other = structsync.Lock(name="one"), structsync.Lock(name="other")
    permits = structsync.Semaphore(2, max_value=2)
    goes_on = trio.Event()

    async def holds_a_permit() -> None:
        async with permits:
            await goes_on.wait()

    async def holds_a_permit_and_waits() -> None:
        async with permits, one:
            pass

    async def takes(block: Any) -> None:
        async with other, block:
            pass

    with deadlock_guard():
        async with trio.open_nursery() as nursery, one:
            nursery.start_soon(holds_a_permit)
            nursery.start_soon(holds_a_permit_and_waits)
            await wait_all_tasks_blocked()
            nursery.start_soon(takes, one)
            await wait_all_tasks_blocked()
            with pytest.raises(DeadlockError) as raised:
                async with structsync.acquire_all(other.claim(), permits.claim()):
                    pass
            goes_on.set()
    assert [edge.primitive for edge in raised.value.graph.edges] == [
        "Lock 'other'",
        "Lock 'one'",
    ]
