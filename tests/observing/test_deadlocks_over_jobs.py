"""A task that waits for a job waits for the worker that does it, or for the workers that would have to begin it."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

import structsync
from structsync import DeadlockError, TaskPool, deadlock_guard

from .crossing import use


async def test_a_job_that_needs_what_its_caller_holds_gets_the_error() -> None:
    lock = structsync.Lock(name="ledger")
    with deadlock_guard():
        async with structsync.open_pool(1) as pool:
            with pytest.raises(DeadlockError) as raised:
                async with lock:
                    await pool.run(use, lock)
            await pool.run(use, lock)
    text = str(raised.value)
    assert "waits for a job of TaskPool" in text
    assert "where worker of TaskPool does not continue" in text
    assert text.endswith("Hold nothing that a job needs while you wait for the job.")
    assert pool.statistics().done == 1


async def test_who_waits_for_a_job_that_is_stuck_already_gets_the_error_and_the_job_goes_on() -> (
    None
):
    lock = structsync.Lock()
    with deadlock_guard():
        async with structsync.open_pool(1) as pool:
            async with lock:
                job = await pool.submit(use, lock)
                await wait_all_tasks_blocked()
                with pytest.raises(DeadlockError, match="waits for a job"):
                    await job.wait()
            await job.wait()
    assert pool.statistics().done == 1


async def test_a_job_in_the_queue_behind_stuck_ones_is_cancelled_and_its_caller_gets_the_error() -> (
    None
):
    lock = structsync.Lock()
    with deadlock_guard():
        async with structsync.open_pool(1) as pool:
            async with lock:
                await pool.submit(use, lock)
                await wait_all_tasks_blocked()
                with pytest.raises(DeadlockError, match="waits for a job"):
                    await pool.run(trio.lowlevel.checkpoint)
    found = pool.statistics()
    assert (found.done, found.cancelled) == (1, 1)


async def test_the_error_comes_to_a_sleeper_whose_request_closes_the_cycle() -> None:
    """It has queued for the lock, and sleeps for a job whose worker waits behind it."""
    lock, other = structsync.Lock(), structsync.Lock()
    raised: list[DeadlockError] = []

    async def caller(pool: TaskPool) -> None:
        with other.request() as request:
            assert request.status == "pending"
            try:
                await pool.run(use, other)
            except DeadlockError as error:
                raised.append(error)

    with deadlock_guard():
        async with structsync.open_pool(1) as pool:
            async with trio.open_nursery() as nursery, lock:
                async with other:
                    nursery.start_soon(caller, pool)
                    await wait_all_tasks_blocked()
                await wait_all_tasks_blocked()
    assert len(raised) == 1


async def test_the_job_of_another_pool_may_close_a_cycle_too() -> None:
    lock = structsync.Lock()
    with deadlock_guard():
        async with structsync.open_pool(1) as near, structsync.open_pool(1) as far:
            with pytest.raises(DeadlockError) as raised:
                async with lock:
                    await near.run(far.run, use, lock)
    assert len(raised.value.tasks) == 3


async def test_a_worker_that_sleeps_or_has_not_begun_or_a_deadline_is_a_way_out() -> None:
    lock, told = structsync.Lock(), list[DeadlockError]()

    with deadlock_guard(told.append):
        async with structsync.open_pool(1) as pool:
            async with lock:
                await pool.run(trio.sleep, 0.01)
                job = pool.submit_nowait(trio.lowlevel.checkpoint)
                await job.wait()  # its worker has not begun
            with trio.move_on_after(0.01):
                async with lock:
                    await pool.run(use, lock)
        async with structsync.open_pool(2) as pool, lock:
            stuck = pool.submit_nowait(use, lock)
            await wait_all_tasks_blocked()
            await pool.run(trio.lowlevel.checkpoint)
            assert stuck.status == "running"
    assert told == []


async def test_who_is_told_only_lets_them_wait() -> None:
    lock, told = structsync.Lock(), list[DeadlockError]()
    with deadlock_guard(told.append):
        async with structsync.open_pool(1) as pool:
            with trio.CancelScope() as scope:
                async with lock:
                    async with trio.open_nursery() as nursery:
                        nursery.start_soon(wait_and_cancel, scope)
                        await pool.run(use, lock)
    assert [error.tasks[0].name for error in told] == ["worker of TaskPool"]
    assert pool.statistics().cancelled == 1


async def wait_and_cancel(scope: trio.CancelScope) -> None:
    await wait_all_tasks_blocked()
    scope.cancel()


@pytest.mark.parametrize("ordered", [True, False])
async def test_a_loop_over_results_that_holds_what_the_jobs_need_gets_the_error(
    ordered: bool,
) -> None:
    lock = structsync.Lock(name="ledger")

    async def job(number: int) -> int:
        await use(lock)
        return number

    with deadlock_guard():
        async with structsync.open_pool(2) as pool:
            with pytest.raises(DeadlockError):
                async with lock:
                    async for _ in pool.map(job, range(5), ordered=ordered):
                        pytest.fail("no job can end")
            assert [each async for each in pool.map(job, range(5))] == list(range(5))
    assert pool.statistics().running == 0


async def test_a_loop_that_closes_the_cycle_gets_the_error_where_it_waits() -> None:
    lock = structsync.Lock(name="ledger")

    async def job(_: int) -> None:
        await use(lock)

    async def slow(number: int) -> int:
        await wait_all_tasks_blocked()
        return number

    with deadlock_guard():
        async with structsync.open_pool(3) as pool:
            async with lock:
                results = pool.map(job, range(5), ahead=2)
                slow_ones = pool.map(slow, [1])
                with trio.move_on_after(0.001):
                    await anext(results)
                assert await anext(slow_ones) == 1
                with pytest.raises(DeadlockError, match="waits for a job of TaskPool") as raised:
                    await anext(results)
                with pytest.raises(StopAsyncIteration):
                    await anext(results)
    assert ", where worker of TaskPool" in str(raised.value)
    assert pool.statistics().cancelled == 2


async def test_in_whatever_order_results_come_one_that_can_end_is_a_way_out() -> None:
    lock, may_end = structsync.Lock(), trio.Event()

    async def job(number: int) -> int:
        if number == 0:
            await use(lock)
        elif number == 2:
            await may_end.wait()
        return number

    with deadlock_guard():
        async with structsync.open_pool(3) as pool, lock:
            async with contextlib.aclosing(pool.map(job, [0, 1, 2], ordered=False)) as results:
                assert await anext(results) == 1
                may_end.set()
                assert await anext(results) == 2
                with pytest.raises(DeadlockError):
                    await anext(results)


async def test_an_item_that_is_still_to_come_is_a_way_out() -> None:
    lock = structsync.Lock()

    async def job(number: int) -> int:
        if not number:
            await use(lock)
        return number

    async def items() -> AsyncIterator[int]:
        yield 0
        yield 1
        await trio.sleep(0.01)
        yield 2

    with deadlock_guard():
        async with structsync.open_pool(3) as pool, lock:
            async with contextlib.aclosing(pool.map(job, items(), ordered=False)) as results:
                assert await anext(results) == 1
                assert await anext(results) == 2


async def test_of_results_in_order_the_first_has_to_come_whatever_else_is_still_to_come() -> None:
    lock = structsync.Lock()

    async def items() -> AsyncIterator[structsync.Lock]:
        yield lock
        await trio.sleep_forever()

    with deadlock_guard():
        async with structsync.open_pool(3) as pool, lock:
            results = pool.map(use, items())
            with trio.fail_after(5), trio.CancelScope(shield=True), pytest.raises(DeadlockError):
                await anext(results)
            await results.aclose()


async def test_a_loop_that_was_cancelled_waits_for_nothing() -> None:
    """A deadlock is told, and the loop cancelled; what its task then gives to the job closes no other one."""
    first, second, told = structsync.Lock(), structsync.Lock(), list[DeadlockError]()

    async def job(_: int) -> None:
        with first.request():
            await use(second)

    with deadlock_guard(told.append):
        async with structsync.open_pool(1) as pool:
            results = pool.map(job, [1])
            async with second:
                await first.acquire()
                with trio.CancelScope() as scope:
                    async with trio.open_nursery() as nursery:
                        nursery.start_soon(wait_and_cancel, scope)
                        await anext(results)
                assert len(told) == 1
                first.release()  # to the job, which waits for the second one
                assert len(told) == 1
            await anext(results)
