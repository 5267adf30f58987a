"""A task that waits for a job waits for whoever works on it, or for the workers that would have to begin it."""

from __future__ import annotations

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
    assert "where worker of TaskPool does not go on" in text
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
