"""TaskPool: where errors go, what is refused, and what a job must not leave behind."""

import gc
import weakref
from collections.abc import Callable, Coroutine
from typing import Any

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from structsync import (
    Job,
    JobCancelled,
    JobFailed,
    Lock,
    PermitLeakError,
    Results,
    RWLock,
    TaskPool,
    open_pool,
    open_thread_pool,
    threads,
)
from structsync._runtime import workers


async def fail(after: Callable[[], Coroutine[Any, Any, object]] = trio.lowlevel.checkpoint) -> None:
    await after()
    raise ValueError("of the job")


async def test_a_job_that_was_submitted_and_fails_cancels_the_pool() -> None:
    begun = []

    async def job(name: str) -> None:
        begun.append(name)
        await trio.sleep_forever()

    with pytest.RaisesGroup(ValueError):
        async with open_pool(2, max_queued=5) as pool:
            running = pool.submit_nowait(job, "runs")
            failing = pool.submit_nowait(fail)
            queued = pool.submit_nowait(job, "queued")
            await trio.sleep_forever()
    assert begun == ["runs"]
    assert [job.status for job in (running, failing, queued)] == [
        "cancelled",
        "failed",
        "cancelled",
    ]
    assert pool.statistics().cancelled == 2
    with pytest.raises(trio.ClosedResourceError, match="was cancelled, because a job of it failed"):
        await pool.submit(job, "late")


async def test_those_outside_are_told_that_the_pool_was_cancelled() -> None:
    told = []

    async def wait(job: Job[None]) -> None:
        with pytest.raises(JobCancelled, match="was cancelled"):
            await job.wait()
        told.append("waits for a job")

    async def run(pool: TaskPool) -> None:
        with pytest.raises(JobCancelled):
            await pool.run(trio.sleep_forever)
        told.append("runs a job")

    async def submit(pool: TaskPool) -> None:
        with pytest.raises(trio.ClosedResourceError):
            await pool.submit(trio.sleep_forever)
        told.append("submits a job")

    async with trio.open_nursery() as nursery:
        with pytest.RaisesGroup(ValueError):
            async with open_pool(1, max_queued=2) as pool:
                event = trio.Event()
                pool.submit_nowait(fail, event.wait)
                nursery.start_soon(wait, pool.submit_nowait(trio.sleep_forever))
                nursery.start_soon(run, pool)
                await wait_all_tasks_blocked()
                nursery.start_soon(submit, pool)
                await wait_all_tasks_blocked()
                event.set()
    assert sorted(told) == ["runs a job", "submits a job", "waits for a job"]


async def test_who_runs_a_job_from_outside_is_told_that_the_pool_was_cancelled_while_it_ran() -> (
    None
):
    """And gets no ``Cancelled`` of a scope in which it is not: a nursery of its own would take that for one."""
    told = []

    async def run(pool: TaskPool) -> None:
        with pytest.raises(JobCancelled, match="was cancelled"):
            await pool.run(trio.sleep_forever)
        told.append("runs a job")

    async with trio.open_nursery() as nursery:
        async with open_pool(1) as pool:
            nursery.start_soon(run, pool)
            await wait_all_tasks_blocked()
            pool.cancel_scope.cancel()
    assert told == ["runs a job"]


async def test_the_error_of_run_goes_to_its_caller_alone() -> None:
    async with open_pool(2) as pool:
        with pytest.raises(ValueError, match="of the job") as raised:
            await pool.run(fail)
        assert raised.value.__context__ is None
        await pool.run(trio.sleep, 0)
        assert pool.statistics().failed == 1


async def test_a_job_that_is_no_async_function_is_said_to_be_none() -> None:
    sync: Any = len
    async with open_pool(1) as pool:
        with pytest.raises(TypeError, match=r"<Job .* len, .* async function, but it returned 2"):
            await pool.run(sync, "ab")


async def test_who_waits_for_a_job_that_failed_learns_why() -> None:
    async with trio.open_nursery() as nursery:
        with pytest.RaisesGroup(ValueError):
            async with open_pool(1) as pool:
                job = pool.submit_nowait(fail)
                nursery.start_soon(expect_failure, job)
    await expect_failure(job)


async def expect_failure(job: Job[None]) -> None:
    with pytest.raises(JobFailed) as raised:
        await job.wait()
    assert isinstance(raised.value.__cause__, ValueError)


async def test_an_error_of_the_body_cancels_the_jobs() -> None:
    with pytest.RaisesGroup(KeyError):
        async with open_pool(1) as pool:
            running, queued = (pool.submit_nowait(trio.sleep_forever) for _ in "ab")
            await wait_all_tasks_blocked()
            raise KeyError
    assert running.status == queued.status == "cancelled"


async def test_an_error_of_the_body_ends_workers_without_a_job() -> None:
    with pytest.RaisesGroup(KeyError):
        async with open_pool(1) as pool:
            await pool.run(trio.sleep, 0)
            await wait_all_tasks_blocked()
            raise KeyError


async def test_a_job_that_fails_while_the_pool_is_cancelled_lets_the_cancellation_on() -> None:
    async def fail_when_cancelled() -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(trio.sleep_forever)
            try:
                await trio.sleep_forever()
            finally:
                raise ValueError

    with pytest.RaisesGroup(pytest.RaisesGroup(ValueError)):
        async with open_pool(1) as pool:
            job = pool.submit_nowait(fail_when_cancelled)
            await wait_all_tasks_blocked()
            pool.cancel_scope.cancel()
    assert job.status == "cancelled"


async def test_a_job_that_fails_with_several_errors_has_failed() -> None:
    async def fail_together() -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(fail)

    with pytest.RaisesGroup(pytest.RaisesGroup(ValueError)):
        async with open_pool(1) as pool:
            job = pool.submit_nowait(fail_together)
    assert job.status == "failed"


class OfTheJob(Exception):
    """An exception that can be referenced weakly."""


async def test_the_error_of_a_job_that_is_run_is_in_no_reference_cycle() -> None:
    async def job() -> None:
        raise OfTheJob

    seen = list[weakref.ref[OfTheJob]]()
    async with open_pool(1) as pool:
        gc.collect()
        gc.disable()
        try:
            try:
                await pool.run(job)
            except OfTheJob as error:
                seen.append(weakref.ref(error))
            assert [error() for error in seen] == [None]
        finally:
            gc.enable()


# ==== what a job leaves behind ====


@pytest.mark.parametrize("kind", ["lock", "reading", "writing"])
async def test_a_job_that_ends_with_a_lock_breaks_it_and_fails(kind: str) -> None:
    lock, rwlock = Lock(), RWLock()
    acquire = {
        "lock": lock.acquire,
        "reading": rwlock.acquire_read,
        "writing": rwlock.acquire_write,
    }
    async with open_pool(1) as pool:
        with pytest.raises(PermitLeakError, match=r"a job ended while it owned <.*Lock at"):
            await pool.run(acquire[kind])
        # the worker goes on, and is told of its own leaks again
        other = Lock()
        await pool.run(hold, other)
        with pytest.raises(PermitLeakError):
            await pool.run(other.acquire)
        for one in (lock.acquire if kind == "lock" else rwlock.acquire_read, other.acquire):
            with pytest.raises(trio.BrokenResourceError):
                await one()


async def test_a_job_that_used_a_lock_in_two_modes_is_told_once_which_it_left_behind() -> None:
    lock = RWLock()

    async def read_and_then_write() -> None:
        async with lock.reading():
            pass
        await lock.acquire_write()

    async with open_pool(1) as pool:
        with pytest.raises(PermitLeakError) as caught:
            await pool.run(read_and_then_write)
    assert str(caught.value).count("<RWLock") == 1


async def hold(lock: Lock) -> None:
    async with lock:
        await trio.lowlevel.checkpoint()


async def test_a_submitted_job_that_ends_with_a_lock_cancels_the_pool() -> None:
    with pytest.RaisesGroup(PermitLeakError):
        async with open_pool(1) as pool:
            await pool.submit(Lock().acquire)


async def test_a_job_that_leaves_a_scope_open_fails_and_the_next_one_does_not() -> None:
    async def leave_open() -> None:
        trio.CancelScope().__enter__()

    async with open_pool(1) as pool:
        with pytest.raises(RuntimeError, match=r"leave_open, running> left .* open; use") as raised:
            await pool.run(leave_open)
        assert "Cancel scope stack corrupted" in str(raised.value.__cause__)
        assert await pool.run(double, 2) == 4


async def test_who_waits_for_a_lock_that_a_job_left_is_told() -> None:
    lock = Lock()

    async def leave() -> None:
        await lock.acquire()
        await wait_all_tasks_blocked()
        raise ValueError

    async def wait() -> None:
        with pytest.raises(trio.BrokenResourceError):
            await lock.acquire()

    async with open_pool(1) as pool, trio.open_nursery() as nursery:
        nursery.start_soon(wait_after, lock, wait)
        with pytest.RaisesGroup(ValueError, PermitLeakError):
            await pool.run(leave)


async def wait_after(lock: Lock, wait: Callable[[], Coroutine[Any, Any, None]]) -> None:
    while not lock.locked():
        await trio.lowlevel.checkpoint()
    await wait()


async def test_a_job_that_is_cancelled_with_a_lock_breaks_it_too() -> None:
    lock = Lock()

    async def leave() -> None:
        await lock.acquire()
        await trio.sleep_forever()

    with pytest.RaisesGroup(PermitLeakError):
        async with open_pool(1) as pool:
            job = await pool.submit(leave)
            await wait_all_tasks_blocked()
            job.cancel()
    assert job.status == "failed"

    lock = Lock()
    async with open_pool(1) as pool:
        job = await pool.submit(leave)
        await wait_all_tasks_blocked()
        pool.cancel_scope.cancel()
    assert job.status == "cancelled"
    with pytest.raises(trio.BrokenResourceError):
        lock.acquire_nowait()


async def test_a_request_that_a_job_leaves_in_a_queue_is_withdrawn() -> None:
    lock = Lock()

    async def ask() -> None:
        lock.request()

    async with open_pool(1) as pool, lock:
        await pool.run(ask)
        assert lock.statistics().tasks_waiting == 0


async def test_a_lock_that_is_gone_is_none_that_was_left() -> None:
    async def use_one() -> None:
        async with Lock():
            pass

    async with open_pool(1) as pool:
        await pool.run(use_one)


# ==== what would wait for itself ====


async def refused(call: Callable[[], Coroutine[Any, Any, object]]) -> str:
    with pytest.raises(RuntimeError, match="a job must not wait for its own pool") as raised:
        await call()
    return str(raised.value)


async def test_a_job_that_runs_a_job_of_its_own_pool_is_refused() -> None:
    async with open_pool(2) as pool:
        message = await pool.run(refused, lambda: pool.run(trio.sleep, 0))
        assert "run()" in message
        assert "max_queued=math.inf" in message


async def test_a_job_that_waits_for_a_job_of_its_own_pool_is_refused_unless_it_has_ended() -> None:
    async with open_pool(1) as pool:
        ended = await pool.submit(trio.sleep, 0)
        await ended.wait()

        async def wait_for_another() -> None:
            await ended.wait()
            queued = pool.submit_nowait(trio.sleep, 0)
            await refused(queued.wait)

        await pool.run(wait_for_another)


async def test_a_job_that_submits_is_refused_only_where_the_queue_is_full() -> None:
    async with open_pool(1, max_queued=1) as pool:

        async def submit_two() -> None:
            await pool.submit(trio.sleep, 0)
            await refused(lambda: pool.submit(trio.sleep, 0))
            with pytest.raises(trio.WouldBlock):
                pool.submit_nowait(trio.sleep, 0)

        await pool.run(submit_two)
    assert pool.statistics().done == 2


async def test_a_job_that_submits_to_its_own_full_pool_is_told_that_it_is_closed() -> None:
    async with open_pool(1, max_queued=1) as pool:

        async def submit() -> None:
            await pool.submit(trio.sleep, 0)
            pool.close()
            with pytest.raises(trio.ClosedResourceError, match="this TaskPool was closed"):
                await pool.submit(trio.sleep, 0)

        await pool.run(submit)
    assert pool.statistics().done == 2


async def test_a_job_that_loops_over_map_of_its_own_pool_is_refused() -> None:
    async with open_pool(1) as pool:
        results = pool.map(trio.sleep, [0])
        await pool.run(refused, results.__anext__)


async def test_the_tasks_of_a_job_are_refused_too() -> None:
    async with open_pool(1) as pool:

        async def start_one() -> None:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(refused, lambda: pool.run(trio.sleep, 0))

        await pool.run(start_one)


async def test_a_job_that_waits_for_another_pool_is_waited_for_by_its_jobs() -> None:
    async with open_pool(1) as pool, open_pool(1) as other:

        async def run_in_the_other() -> None:
            await other.run(refused, lambda: pool.run(trio.sleep, 0))

        await pool.run(run_in_the_other)


@pytest.mark.parametrize("ordered", [True, False])
async def test_a_job_that_loops_over_another_pool_is_waited_for_by_its_jobs(ordered: bool) -> None:
    async with open_pool(1) as pool, open_pool(1) as other:

        async def inner(_: int) -> str:
            return await refused(lambda: pool.run(trio.sleep, 0))

        async def loop() -> None:
            assert [1 async for _ in other.map(inner, [0, 1], ordered=ordered)] == [1, 1]

        await pool.run(loop)


async def test_who_has_left_a_loop_does_not_wait_for_its_jobs() -> None:
    async with open_pool(1) as pool, open_pool(1) as other:
        gate, ran = trio.Event(), list[int]()

        async def inner(number: int) -> int:
            if number:
                await gate.wait()
                ran.append(await pool.run(double, number))
            return number

        async def loop() -> Results[int]:
            results = other.map(inner, [0, 1])
            await anext(results)
            return results

        results = await pool.run(loop)
        gate.set()
        assert await anext(results) == 1
    assert ran == [2]


async def double(number: int) -> int:
    return 2 * number


async def test_a_thread_that_asks_for_its_own_pool_is_refused() -> None:
    async with open_thread_pool(1) as pool:

        def ask_twice() -> None:
            for _ in range(2):
                threads.call(refused, lambda: pool.run(int))
            with threads.hold(Lock()):
                for _ in range(2):
                    threads.call(refused, lambda: pool.run(int))

        await pool.run(ask_twice)
        assert not workers._acts_for, "of a task that has ended"


async def test_two_who_wait_for_one_job_are_both_looked_at() -> None:
    async with open_pool(1) as pool, open_pool(1) as other:
        event = trio.Event()

        async def refused_later() -> None:
            await event.wait()
            await refused(lambda: pool.run(trio.sleep, 0))

        async def wait_twice() -> None:
            job = await other.submit(refused_later)
            async with trio.open_nursery() as nursery:
                nursery.start_soon(job.wait)
                nursery.start_soon(job.wait)
                await wait_all_tasks_blocked()
                event.set()

        await pool.run(wait_twice)


async def test_a_pool_that_a_job_opens_belongs_to_the_job() -> None:
    async with open_pool(1) as pool:

        async def open_another() -> None:
            async with open_pool(1) as inner:
                await inner.submit(refused, lambda: pool.run(trio.sleep, 0))

        await pool.run(open_another)


async def test_a_task_that_a_job_starts_elsewhere_may_wait_for_the_pool() -> None:
    async with trio.open_nursery() as nursery, open_pool(1) as pool:

        async def start_elsewhere() -> None:
            nursery.start_soon(pool.run, trio.sleep, 0)

        await pool.run(start_elsewhere)
        await wait_all_tasks_blocked()
        assert pool.statistics().done == 2


@pytest.mark.parametrize("had_jobs", [False, True])
async def test_a_pool_that_ended_with_an_error_takes_no_more_jobs(had_jobs: bool) -> None:
    """Also where no worker was there to see the end."""
    with pytest.RaisesGroup(ZeroDivisionError):
        async with open_pool(1) as pool:
            if had_jobs:
                await pool.run(trio.lowlevel.checkpoint)
            1 / 0  # noqa: B018 - it is there to raise
    with pytest.raises(trio.ClosedResourceError, match=r"this TaskPool was cancelled$"):
        pool.submit_nowait(trio.lowlevel.checkpoint)
    with pytest.raises(trio.ClosedResourceError, match=r"this TaskPool was cancelled$"):
        await pool.submit(trio.lowlevel.checkpoint)
