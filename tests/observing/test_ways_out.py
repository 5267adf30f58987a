"""deadlock_guard() is silent where a way out is, or may be."""

from __future__ import annotations

import math
from typing import Any

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

import structsync
from structsync import deadlock_guard

from .crossing import Block, finishes, use


async def test_a_guard_that_is_false_may_become_true() -> None:
    open_ = False

    class Door(structsync.Monitor):
        @structsync.entry(when=lambda self: open_)
        def enter(self) -> None:
            """Wait for the door."""

    door, lock = Door(), structsync.Lock()
    with deadlock_guard():
        async with trio.open_nursery() as nursery:

            async def passes() -> None:
                async with lock:
                    await door.enter()

            nursery.start_soon(passes)
            await wait_all_tasks_blocked()
            nursery.start_soon(passes)
            await wait_all_tasks_blocked()
            open_ = True
            door.changed()


async def test_a_deadline_is_a_way_out() -> None:
    one, other = structsync.Lock(), structsync.Lock()

    async def gives_up() -> None:
        async with one:
            await wait_all_tasks_blocked()
            with trio.move_on_after(0.01):
                await other.acquire()

    async def waits() -> None:
        async with other:
            await wait_all_tasks_blocked()
            async with one:
                pass

    await finishes(gives_up, waits)
    await finishes(waits, gives_up)


async def test_a_deadline_that_is_set_later_is_a_way_out() -> None:
    one, other, scope = structsync.Lock(), structsync.Lock(), trio.CancelScope()

    async def gives_up() -> None:
        async with one:
            await wait_all_tasks_blocked()
            with scope:
                await other.acquire()

    async def waits() -> None:
        async with other:
            await wait_all_tasks_blocked(0.01)  # the other one is parked
            scope.deadline = trio.current_time() + 0.01
            async with one:
                pass

    await finishes(gives_up, waits)
    assert scope.cancelled_caught


async def test_a_permit_of_no_block_may_be_released_by_any_task() -> None:
    semaphore, lock = structsync.Semaphore(1, max_value=1), structsync.Lock()

    async def holds() -> None:
        await semaphore.acquire()
        async with lock:
            pass

    async def waits() -> None:
        async with lock:
            await wait_all_tasks_blocked()
            async with semaphore:
                pass

    async def releases() -> None:
        await wait_all_tasks_blocked(0.01)
        semaphore.release()

    await finishes(holds, waits, releases)


async def test_an_unbounded_semaphore_may_be_released_by_any_task() -> None:
    semaphore = structsync.Semaphore(1)

    async def releases() -> None:
        await wait_all_tasks_blocked()
        semaphore.release()

    async def twice() -> None:
        async with semaphore, semaphore:
            pass

    await finishes(twice, releases)


async def test_a_resize_may_follow() -> None:
    semaphore, limiter = structsync.Semaphore(2, max_value=2), structsync.CapacityLimiter(0)

    async def waits() -> None:
        async with semaphore.permits(2):
            async with limiter:
                pass

    semaphore.acquire_nowait()
    semaphore.resize(1)

    async def resizes() -> None:
        await wait_all_tasks_blocked()
        semaphore.release()
        semaphore.resize(2)
        await wait_all_tasks_blocked()
        limiter.total_tokens = 1

    await finishes(resizes, waits)


async def test_more_than_there_are_now_may_be_had_after_a_resize() -> None:
    semaphore = structsync.Semaphore(3, max_value=3)

    async def shrinks() -> None:
        async with semaphore:
            semaphore.resize(1)
            await wait_all_tasks_blocked()
            semaphore.resize(4)

    async def waits() -> None:
        await trio.lowlevel.checkpoint()
        async with semaphore.permits(3):
            pass

    await finishes(shrinks, waits)


async def test_a_task_that_does_something_else_may_go_on() -> None:
    one, other = structsync.Lock(), structsync.Lock()
    send, receive = trio.open_memory_channel[None](0)

    async def holds() -> None:
        async with one:
            await receive.receive()

    async def waits() -> None:
        async with other, one:
            pass

    async def sends() -> None:
        await wait_all_tasks_blocked()
        await send.send(None)

    await finishes(holds, waits, sends)


async def test_one_of_two_alternatives_is_enough() -> None:
    near, far, lock = structsync.Lock(), structsync.Lock(), structsync.Lock()

    async def holds_near() -> None:
        async with near:
            await wait_all_tasks_blocked(0.01)
            async with lock:
                pass

    async def holds_far() -> None:
        async with far:
            await wait_all_tasks_blocked(0.02)

    async def takes_either() -> None:
        async with lock:
            await wait_all_tasks_blocked()
            async with structsync.acquire_any(near.claim(), far.claim()):
                pass

    await finishes(holds_near, holds_far, takes_either)


async def test_an_alternative_that_is_not_known_is_a_way_out() -> None:
    lock, signal = structsync.Lock(), structsync.Semaphore(0)

    async def takes_either() -> None:
        async with structsync.Semaphore(1, max_value=1):
            async with structsync.acquire_any(lock.claim(), signal.claim()):
                pass

    async def signals() -> None:
        async with lock:
            await wait_all_tasks_blocked()
            signal.release()

    await finishes(signals, takes_either)


async def test_a_request_that_no_task_waits_for_may_be_withdrawn_by_any_task() -> None:
    one, other = structsync.Semaphore(1, max_value=1), structsync.Lock()

    async def worker() -> None:
        async with other:
            await wait_all_tasks_blocked()
            async with one.permits(1):
                pass

    with deadlock_guard():
        async with trio.open_nursery() as nursery:
            async with one:
                request = one.request()
                nursery.start_soon(worker)
                await wait_all_tasks_blocked(0.01)
                assert request.withdraw()


async def test_what_is_not_known_of_a_primitive_of_the_users_is_a_way_out() -> None:
    latch, lock = structsync.Latch(1), structsync.Lock()

    async def waits() -> None:
        async with lock:
            await latch.wait()

    async def opens() -> None:
        await wait_all_tasks_blocked()
        latch.count_down()
        async with lock:
            pass

    await finishes(waits, opens)


async def behind_a_group(free: Block, claim: structsync.Claim[Any]) -> None:
    """A task waits for what is free, behind a group that waits elsewhere; all of them finish."""
    taken = structsync.Lock()
    with deadlock_guard():
        async with trio.open_nursery() as nursery:

            async def group() -> None:
                async with structsync.acquire_all(claim, taken.claim()):
                    pass

            async def behind() -> None:
                async with free():
                    pass

            async with taken:
                nursery.start_soon(group)
                await wait_all_tasks_blocked()
                nursery.start_soon(behind)
                await wait_all_tasks_blocked()


async def test_behind_a_group_a_task_waits_for_what_is_free() -> None:
    rwlock, lock = structsync.RWLock(), structsync.Lock()
    limiter = structsync.CapacityLimiter(math.inf)
    await behind_a_group(rwlock.reading, rwlock.write_claim())
    await behind_a_group(lambda: lock, lock.claim())
    await behind_a_group(lambda: limiter, limiter.claim())


async def test_a_limiter_that_is_paused_goes_on_when_it_has_more_tokens() -> None:
    limiter, lock = structsync.CapacityLimiter(1), structsync.Lock()

    async def borrows() -> None:
        async with limiter:
            await wait_all_tasks_blocked()
            limiter.total_tokens = 0
            async with lock:
                pass

    async def waits() -> None:
        async with lock:
            await wait_all_tasks_blocked(0.001)
            async with limiter:
                pass

    async def resumes() -> None:
        await wait_all_tasks_blocked(0.01)
        limiter.total_tokens = 2

    await finishes(borrows, waits, resumes)


async def test_more_permits_than_there_are_may_be_had_later_although_a_holder_waits() -> None:
    semaphore, lock = structsync.Semaphore(2, max_value=2), structsync.Lock()

    async def holds() -> None:
        async with semaphore:
            await wait_all_tasks_blocked()
            semaphore.resize(1)
            async with lock:
                pass

    async def waits() -> None:
        async with lock:
            await wait_all_tasks_blocked(0.001)
            async with semaphore.permits(2):
                pass

    async def resizes() -> None:
        await wait_all_tasks_blocked(0.01)
        semaphore.resize(3)

    await finishes(holds, waits, resizes)


@pytest.mark.parametrize("kind", ["semaphore", "rwlock"])
async def test_a_task_ahead_whose_deadline_ends_is_not_in_the_way(kind: str) -> None:
    semaphore, rwlock, lock = (
        structsync.Semaphore(2, max_value=2),
        structsync.RWLock(),
        structsync.Lock(),
    )

    def less() -> Any:
        return semaphore if kind == "semaphore" else rwlock.reading()

    def more() -> Any:
        return semaphore.permits(2) if kind == "semaphore" else rwlock.writing()

    scope = trio.CancelScope(deadline=trio.current_time() + 1000)

    async def holds() -> None:
        async with less():
            await wait_all_tasks_blocked(0.01)
            async with lock:
                pass

    async def gives_up() -> None:
        await wait_all_tasks_blocked()  # so that a task has it
        with scope:
            async with more():
                pass

    async def ends() -> None:
        await wait_all_tasks_blocked(0.03)
        scope.cancel()

    async def waits() -> None:
        async with lock:
            await wait_all_tasks_blocked(0.02)
            async with less():
                pass

    await finishes(holds, gives_up, waits, ends)


async def test_an_item_that_is_made_ahead_is_of_no_block_and_ends_that() -> None:
    lock, release, made = structsync.Lock(), trio.Event(), list[int]()

    async def make() -> object:
        made.append(1)
        if len(made) > 1:
            await release.wait()
        return object()

    async def borrows() -> None:
        async with pool.item(), lock:
            pass

    async def sets() -> None:
        await wait_all_tasks_blocked()
        assert pool.statistics().tasks_waiting == 1
        release.set()

    pool = structsync.ResourcePool(make, 2, min_size=2)
    with deadlock_guard():
        async with trio.open_nursery() as nursery, lock:
            nursery.start_soon(borrows)
            await wait_all_tasks_blocked()
            nursery.start_soon(pool.fill)
            await wait_all_tasks_blocked()
            nursery.start_soon(sets)
            async with pool.item():
                pass


async def test_who_holds_what_others_want_may_wait_for_an_event() -> None:
    lock, latch = structsync.Lock(), structsync.Latch(1)

    async def holds() -> None:
        async with lock:
            nursery.start_soon(use, lock)
            await wait_all_tasks_blocked()
            await latch.wait()

    with deadlock_guard():
        async with trio.open_nursery() as nursery:
            nursery.start_soon(holds)
            await wait_all_tasks_blocked(0.001)
            latch.count_down()


@pytest.mark.parametrize("kind", ["limiter", "reading"])
async def test_who_holds_what_others_want_may_wait_behind_a_group_for_what_is_free(
    kind: str,
) -> None:
    limiter, rwlock = structsync.CapacityLimiter(1), structsync.RWLock()
    wanted, taken = structsync.Lock(), structsync.Lock()
    claim = limiter.claim() if kind == "limiter" else rwlock.read_claim()

    async def group() -> None:
        async with structsync.acquire_all(claim, taken.claim()):
            pass

    async def holds() -> None:
        async with wanted:
            nursery.start_soon(use, wanted)
            await wait_all_tasks_blocked()
            async with limiter if kind == "limiter" else rwlock.reading():
                pass

    with deadlock_guard():
        async with trio.open_nursery() as nursery, taken:
            nursery.start_soon(group)
            await wait_all_tasks_blocked()
            nursery.start_soon(holds)
            await wait_all_tasks_blocked(0.001)
