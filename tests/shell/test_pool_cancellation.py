"""TaskPool: a cancelled call of a pool is complete, or has not happened."""

from collections.abc import Callable, Coroutine
from typing import Any

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from structsync import (
    Job,
    JobCancelled,
    JobFailed,
    PrimitiveEvent,
    TaskPool,
    observe,
    open_pool,
)


class Log:
    def __init__(self) -> None:
        self.begun: list[str] = []
        self.open = trio.Event()

    async def job(self, name: str) -> str:
        self.begun.append(name)
        await self.open.wait()
        return name

    async def stubborn(self) -> str:
        with trio.CancelScope(shield=True):
            await self.job("stubborn")
        return "stubborn"


@pytest.fixture
def log() -> Log:
    return Log()


async def cancelled_while_it_waits(call: Callable[[], Coroutine[Any, Any, object]]) -> None:
    async with trio.open_nursery() as nursery:
        nursery.start_soon(call)
        await wait_all_tasks_blocked()
        assert nursery.child_tasks
        nursery.cancel_scope.cancel()
    assert nursery.cancel_scope.cancelled_caught


async def test_a_cancelled_job_that_is_queued_does_not_run(log: Log) -> None:
    async with open_pool(1) as pool:
        running, queued = (pool.submit_nowait(log.job, name) for name in "ab")
        queued.cancel()
        queued.cancel()
        assert queued.status == "cancelled"
        with pytest.raises(JobCancelled, match="was cancelled"):
            await queued.wait()
        log.open.set()
    running.cancel()
    assert running.status == "done"
    assert log.begun == ["a"]


async def test_a_cancelled_job_that_runs_is_interrupted(log: Log) -> None:
    async with open_pool(1) as pool:
        job = await pool.submit(log.job, "a")
        await wait_all_tasks_blocked()
        job.cancel()
        with pytest.raises(JobCancelled):
            await job.wait()
        await pool.run(trio.sleep, 0)


async def test_a_job_that_is_cancelled_before_its_worker_runs_does_not_begin(log: Log) -> None:
    async with open_pool(1) as pool:
        pool.submit_nowait(log.job, "a").cancel()
    async with open_pool(1) as pool:
        await pool.run(trio.sleep, 0)
        await wait_all_tasks_blocked()
        pool.submit_nowait(log.job, "to a worker that slept").cancel()
    assert log.begun == []


async def test_a_job_that_returns_although_it_is_cancelled_is_done(log: Log) -> None:
    async with open_pool(1) as pool:
        job = await pool.submit(log.stubborn)
        await wait_all_tasks_blocked()
        job.cancel()
        log.open.set()
        assert await job.wait() == "stubborn"


async def test_a_cancelled_job_makes_room_for_one_that_is_held_back(log: Log) -> None:
    async with open_pool(1, max_queued=1) as pool, trio.open_nursery() as nursery:
        pool.submit_nowait(log.job, "runs")
        queued = pool.submit_nowait(log.job, "queued")
        nursery.start_soon(pool.submit, log.job, "held back")
        await wait_all_tasks_blocked()
        queued.cancel()
        await wait_all_tasks_blocked()
        assert not nursery.child_tasks
        log.open.set()
    assert log.begun == ["runs", "held back"]


async def test_a_cancelled_submit_has_submitted_nothing(log: Log) -> None:
    async with open_pool(1, max_queued=1) as pool:
        with trio.CancelScope() as scope:
            scope.cancel()
            await pool.submit(log.job, "too late from the start")
        pool.submit_nowait(log.job, "runs")
        pool.submit_nowait(log.job, "queued")
        await cancelled_while_it_waits(lambda: pool.submit(log.job, "held back"))
        assert pool.statistics().tasks_waiting == 1
        log.open.set()
    assert log.begun == ["runs", "queued"]


async def test_a_cancelled_wait_leaves_the_job_alone(log: Log) -> None:
    async with open_pool(1) as pool:
        job = await pool.submit(log.job, "a")
        await cancelled_while_it_waits(job.wait)
        log.open.set()
        assert await job.wait() == "a"


@pytest.mark.parametrize("busy", [False, True])
async def test_a_cancelled_run_cancels_its_job(log: Log, busy: bool) -> None:
    async with open_pool(1) as pool:
        if busy:
            pool.submit_nowait(log.job, "runs")
        with trio.CancelScope() as scope:
            scope.cancel()
            await pool.run(log.job, "cancelled from the start")
        async with trio.open_nursery() as nursery:
            nursery.start_soon(pool.run, log.job, "a")
            await wait_all_tasks_blocked()
            nursery.cancel_scope.cancel()
        assert pool.statistics().cancelled == 1
        log.open.set()
    assert log.begun == (["runs"] if busy else ["a"])


async def test_a_cancelled_run_waits_for_its_job_and_returns_what_it_returns(log: Log) -> None:
    async with open_pool(1) as pool, trio.open_nursery() as nursery:

        async def run() -> None:
            with trio.CancelScope() as scope:
                nursery.start_soon(cancel_and_open, scope)
                assert await pool.run(log.stubborn) == "stubborn"
            assert not scope.cancelled_caught

        async def cancel_and_open(scope: trio.CancelScope) -> None:
            await wait_all_tasks_blocked()
            scope.cancel()
            await wait_all_tasks_blocked()
            log.open.set()

        nursery.start_soon(run)


async def test_a_cancelled_pool_ends_its_jobs(log: Log) -> None:
    async with open_pool(1) as pool:
        jobs = [pool.submit_nowait(log.job, name) for name in "ab"]
        await wait_all_tasks_blocked()
        pool.cancel_scope.cancel()
    assert pool.cancel_scope.cancelled_caught
    assert [job.status for job in jobs] == ["cancelled", "cancelled"]


async def test_a_job_that_is_submitted_to_a_cancelled_pool_does_not_begin(log: Log) -> None:
    async with open_pool(2) as pool:
        pool.cancel_scope.cancel()
        job = pool.submit_nowait(log.job, "a")
    assert job.status == "cancelled"
    assert log.begun == []


async def test_the_next_job_does_not_begin_once_the_pool_is_cancelled(log: Log) -> None:
    async def cancel(pool: TaskPool) -> None:
        pool.cancel_scope.cancel()

    async with open_pool(1) as pool:
        pool.submit_nowait(cancel, pool)
        job = pool.submit_nowait(log.job, "next")
    assert job.status == "cancelled"
    assert log.begun == []


async def test_a_run_that_is_cancelled_by_an_observer_ends_right_after_the_step(log: Log) -> None:
    async with open_pool(1, max_queued=3) as pool:
        scope = trio.CancelScope()
        jobs: list[Job[Any]] = []

        def cancel(event: object) -> None:
            scope.cancel()
            for job in jobs:
                job.cancel()

        async def run() -> None:
            with scope:
                await pool.run(log.job, "queued")
            assert scope.cancelled_caught

        pool.submit_nowait(log.job, "runs")
        async with trio.open_nursery() as nursery:
            nursery.start_soon(run)
            await wait_all_tasks_blocked()
            with observe(cancel):
                jobs.append(pool.submit_nowait(log.job, "cancelled, too"))
                pool.close()
        assert pool.statistics().cancelled == 2
        log.open.set()
    assert log.begun == ["runs"]


# ==== cancelled in the middle of a step, by an observer ====


async def test_what_ends_in_the_step_in_which_its_waiter_is_cancelled_has_ended() -> None:
    """The error of the job that runs breaks the queued one first, whose end cancels the wait for the other."""
    scope, messages = trio.CancelScope(), list[str]()

    async def fail() -> None:
        await wait_all_tasks_blocked()
        raise KeyError

    async def wait(job: Job[None]) -> None:
        with scope, pytest.raises(JobFailed):
            await job.wait()
        messages.append("it failed")

    def observer(event: PrimitiveEvent) -> None:
        if event.kind == "broken":
            scope.cancel()

    with observe(observer):
        async with trio.open_nursery() as nursery:
            with pytest.raises(ExceptionGroup):
                async with open_pool(1) as pool:
                    nursery.start_soon(wait, pool.submit_nowait(fail))
                    pool.submit_nowait(fail)
    assert messages == ["it failed"]
    assert not scope.cancelled_caught


async def test_a_run_whose_job_is_cancelled_before_it_sleeps_is_told_so(log: Log) -> None:
    def observer(event: PrimitiveEvent) -> None:
        if event.kind == "requested":
            event.claim.cancel()  # is done right after the step, in which the task decides to sleep
            scope.cancel()

    async with open_pool(1) as pool:
        pool.submit_nowait(log.job, "runs")
        with trio.CancelScope() as scope, observe(observer), pytest.raises(JobCancelled):
            await pool.run(log.job, "queued")
        log.open.set()
    assert log.begun == ["runs"]


async def test_a_submission_that_is_accepted_before_it_sleeps_is_not_cancelled(log: Log) -> None:
    def observer(event: PrimitiveEvent) -> None:
        if event.kind == "requested":
            queued.cancel()  # which makes room, right after the step
            scope.cancel()

    async with open_pool(1, max_queued=1) as pool:
        pool.submit_nowait(log.job, "runs")
        queued = pool.submit_nowait(log.job, "queued")
        with trio.CancelScope() as scope, observe(observer):
            await pool.submit(log.job, "held back, then accepted")
        assert not scope.cancelled_caught
        log.open.set()
    assert log.begun == ["runs", "held back, then accepted"]
