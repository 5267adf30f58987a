"""TaskPool: which job runs when, who waits for room, and what a job finds."""

import gc
import inspect
import math
import weakref
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from contextvars import ContextVar
from typing import Any

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

import structsync
from structsync import (
    Job,
    JobStatus,
    PoolStatistics,
    PrimitiveEvent,
    TaskPool,
    observe,
    open_pool,
    open_process_pool,
    open_thread_pool,
)


class Gate:
    """Jobs that begin, and end when they are told to."""

    def __init__(self) -> None:
        self.begun: list[object] = []
        self.open = trio.Event()

    async def job(self, name: object) -> object:
        self.begun.append(name)
        await self.open.wait()
        return name


@pytest.fixture
def gate() -> Gate:
    return Gate()


async def test_the_seed_s_demonstration() -> None:
    """One worker, three tasks of level 2, later one of level 1."""
    order: list[int] = []

    async def task(number: int) -> None:
        order.append(number)

    async with open_pool(1, policy="priority", max_queued=3) as pool:
        for number in (1, 2, 3):
            pool.submit_nowait(task, number, priority=2)
        pool.submit_nowait(task, 4, priority=1)
    assert order == [1, 4, 2, 3]


async def test_an_urgent_job_that_is_held_back_runs_before_those_that_are_accepted(
    gate: Gate,
) -> None:
    async with open_pool(1, policy="priority", max_queued=1, ageing=None) as pool:
        pool.submit_nowait(gate.job, "runs", priority=2)
        pool.submit_nowait(gate.job, "accepted", priority=2)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(submit_at_level_1, pool, gate)
            await wait_all_tasks_blocked()
            assert pool.statistics().held_back == 1
            gate.open.set()
    assert gate.begun == ["runs", "urgent", "accepted"]


async def submit_at_level_1(pool: TaskPool, gate: Gate) -> None:
    job = await pool.submit(gate.job, "urgent", priority=1)
    assert job.status is not JobStatus.QUEUED


async def test_a_job_returns_its_result(gate: Gate) -> None:
    async with open_pool(2) as pool:
        job = await pool.submit(gate.job, "a")
        assert job.status == "running"
        assert repr(job).endswith("Gate.job, running>")
        gate.open.set()
        assert await job.wait() == "a"
        assert job.status == "done"
        assert await job.wait() == job.result() == "a"
        assert await pool.run(gate.job, "b") == "b"


async def test_a_result_is_asked_for_too_early(gate: Gate) -> None:
    async with open_pool(1) as pool:
        job = pool.submit_nowait(gate.job, "a")
        with pytest.raises(RuntimeError, match=r"has not ended; await its wait\(\) first"):
            job.result()
        gate.open.set()


async def test_any_number_of_tasks_wait_for_a_job(gate: Gate) -> None:
    results: list[object] = []

    async def wait(job: Job[object]) -> None:
        results.append(await job.wait())

    async with open_pool(1) as pool, trio.open_nursery() as nursery:
        job = pool.submit_nowait(gate.job, "a")
        for _ in range(3):
            nursery.start_soon(wait, job)
        await wait_all_tasks_blocked()
        gate.open.set()
    assert results == ["a", "a", "a"]


async def test_who_submits_waits_while_the_queue_is_full(gate: Gate) -> None:
    submitted: list[int] = []

    async def submit(number: int) -> None:
        await pool.submit(gate.job, number)
        submitted.append(number)

    async with open_pool(1, max_queued=2) as pool, trio.open_nursery() as nursery:
        for number in range(6):
            nursery.start_soon(submit, number)
            await wait_all_tasks_blocked()
        assert submitted == [0, 1, 2]
        assert pool.statistics() == PoolStatistics(5, 3, 1, 1, 0, 0, 0)
        assert repr(pool).endswith("1/1 busy, 5 waiting>")
        gate.open.set()
    assert gate.begun == [0, 1, 2, 3, 4, 5]
    assert pool.statistics() == PoolStatistics(0, 0, 0, 1, 6, 0, 0)


async def test_nowait_succeeds_while_there_is_room(gate: Gate) -> None:
    async with open_pool(1, max_queued=1) as pool:
        pool.submit_nowait(gate.job, 1)
        pool.submit_nowait(gate.job, 2)
        with pytest.raises(trio.WouldBlock):
            pool.submit_nowait(gate.job, 3)
        gate.open.set()
    assert gate.begun == [1, 2]


async def test_without_a_queue_a_submit_returns_when_its_job_runs(gate: Gate) -> None:
    async with open_pool(1, max_queued=0) as pool, trio.open_nursery() as nursery:
        pool.submit_nowait(gate.job, 1)
        with pytest.raises(trio.WouldBlock):
            pool.submit_nowait(gate.job, 2)
        nursery.start_soon(pool.submit, gate.job, 3)
        await wait_all_tasks_blocked()
        assert len(nursery.child_tasks) == 1
        gate.open.set()
    assert gate.begun == [1, 3]


async def test_the_bound_is_the_number_of_workers_if_none_is_given(gate: Gate) -> None:
    async with open_pool(3) as pool:
        for number in range(6):
            pool.submit_nowait(gate.job, number)
        with pytest.raises(trio.WouldBlock):
            pool.submit_nowait(gate.job, 6)
        gate.open.set()


async def test_workers_are_started_when_needed_and_used_again() -> None:
    tasks: set[trio.lowlevel.Task] = set()

    async def job() -> None:
        tasks.add(trio.lowlevel.current_task())
        await trio.lowlevel.checkpoint()

    async with open_pool(100) as pool:
        for _ in range(10):
            await pool.run(job)
        assert len(tasks) == 1
        for _ in range(9):
            pool.submit_nowait(job)
        await wait_all_tasks_blocked()
        assert len(tasks) == 9
    assert {task.name for task in tasks} == {"worker of TaskPool"}


VARIABLE: ContextVar[str] = ContextVar("VARIABLE", default="of no task")


async def test_a_job_runs_in_a_copy_of_the_context_of_who_submitted_it() -> None:
    seen: list[str] = []

    async def job(name: str) -> None:
        seen.append(VARIABLE.get())
        await trio.lowlevel.checkpoint()
        seen.append(VARIABLE.get())
        VARIABLE.set(name)

    async def submit(name: str) -> None:
        VARIABLE.set(name)
        await pool.submit(job, f"changed by {name}")
        await pool.run(job, f"changed by {name}")
        assert VARIABLE.get() == name

    async with open_pool(1, max_queued=10) as pool:
        await pool.submit(job, "first")
        async with trio.open_nursery() as nursery:  # one after the other, without a rest between
            nursery.start_soon(submit, "a")
        await wait_all_tasks_blocked()  # and after one
        await submit("b")
    assert seen == ["of no task"] * 2 + ["a"] * 4 + ["b"] * 4


class Result:
    """What may be referred to weakly."""


async def make_result() -> Result:
    return Result()


async def test_a_pool_keeps_no_result_longer_than_its_job_is_kept() -> None:
    async with open_pool(1) as pool:
        first = weakref.ref(await pool.run(make_result))
        await pool.run(trio.lowlevel.checkpoint)
        last = weakref.ref(await pool.run(make_result))
        await wait_all_tasks_blocked()
        gc.collect()
        assert (first(), last()) == (None, None)


async def test_a_pool_keeps_no_context_of_who_has_submitted_a_job() -> None:
    variable: ContextVar[Result] = ContextVar("variable")
    seen = list[weakref.ref[Result]]()

    async def submit() -> None:
        variable.set(Result())
        seen.append(weakref.ref(variable.get()))
        await pool.run(trio.lowlevel.checkpoint)

    async with open_pool(1) as pool:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(submit)
        await wait_all_tasks_blocked()
        gc.collect()
        assert [one() for one in seen] == [None]


async def test_leaving_waits_for_all_jobs_and_for_those_that_they_submit() -> None:
    done: list[int] = []

    async def job(number: int) -> None:
        await trio.lowlevel.checkpoint()
        done.append(number)
        if number:
            pool.submit_nowait(job, number - 1)

    async with open_pool(2, max_queued=math.inf) as pool:
        await pool.submit(job, 5)
    assert done == [5, 4, 3, 2, 1, 0]


async def test_a_pool_without_a_job_is_left_at_once() -> None:
    async with open_pool(2):
        pass
    async with open_pool(2) as pool:
        await pool.run(trio.lowlevel.checkpoint)
        await wait_all_tasks_blocked()


@pytest.mark.parametrize("open_one", [open_pool, structsync.open_thread_pool])
async def test_a_pool_is_called_by_its_name(open_one: Any) -> None:
    async with open_one(2, name="fetchers") as pool:
        assert pool.name == "fetchers"
        assert repr(pool).startswith(f"<{type(pool).__name__} 'fetchers' at ")
    with pytest.raises(trio.ClosedResourceError, match="Pool 'fetchers' was closed"):
        pool.submit_nowait(len, "")
    with pytest.raises(TypeError, match="name must be a str or None, not 3"):
        open_one(2, name=3)


async def test_after_the_block_nothing_is_submitted(gate: Gate) -> None:
    async with open_pool(2) as pool:
        await pool.run(trio.lowlevel.checkpoint)
    assert repr(pool).endswith("0/2 busy, 0 waiting, closed>")
    with pytest.raises(trio.ClosedResourceError, match="this TaskPool was closed"):
        await pool.submit(gate.job, 1)
    with pytest.raises(trio.ClosedResourceError):
        pool.submit_nowait(gate.job, 1)
    with pytest.raises(trio.ClosedResourceError):
        await pool.run(gate.job, 1)
    assert gate.begun == []


async def test_a_closed_pool_does_what_it_has_accepted(gate: Gate) -> None:
    async def submit() -> None:
        with pytest.raises(trio.ClosedResourceError):
            await pool.submit(gate.job, "held back")

    async with open_pool(1, max_queued=1) as pool, trio.open_nursery() as nursery:
        jobs = [pool.submit_nowait(gate.job, name) for name in ("runs", "accepted")]
        nursery.start_soon(submit)
        await wait_all_tasks_blocked()
        pool.close()
        pool.close()
        with pytest.raises(trio.ClosedResourceError):
            pool.submit_nowait(gate.job, "late")
        gate.open.set()
    assert [job.status for job in jobs] == ["done", "done"]
    assert pool.statistics().cancelled == 0


async def test_a_job_that_is_run_and_held_back_as_the_pool_is_closed_was_refused(
    gate: Gate,
) -> None:
    refused: list[str] = []

    async def run() -> None:
        with pytest.raises(trio.ClosedResourceError, match="this TaskPool was closed"):
            await pool.run(gate.job, "held back")
        refused.append("run")

    async with open_pool(1, max_queued=0) as pool, trio.open_nursery() as nursery:
        pool.submit_nowait(gate.job, "runs")
        nursery.start_soon(run)
        await wait_all_tasks_blocked()
        pool.close()
        await wait_all_tasks_blocked()
        assert refused == ["run"]
        gate.open.set()
    assert gate.begun == ["runs"]


async def square(number: int) -> int:
    return number * number


def test_a_manager_makes_a_pool_each_time_that_it_is_entered() -> None:
    manager, done = open_pool(1, name="again"), list[int]()

    async def main() -> None:
        async with manager as pool:
            done.append(await pool.run(square, len(done)))

    for _ in range(3):
        trio.run(main)
    assert done == [0, 1, 4]


async def test_a_manager_is_not_entered_while_its_block_runs(gate: Gate) -> None:
    manager = open_pool(1)
    async with manager as pool:
        pool.submit_nowait(gate.job, "runs")
        with pytest.raises(RuntimeError, match="entered already; open a pool for each block"):
            await manager.__aenter__()
        gate.open.set()
    assert pool.statistics().done == 1


async def test_observers_see_jobs_begin_and_end(gate: Gate) -> None:
    events: list[PrimitiveEvent] = []
    with observe(events.append):
        async with open_pool(1, max_queued=3) as pool:
            first = pool.submit_nowait(gate.job, 1)
            second = pool.submit_nowait(gate.job, 2)
            third = pool.submit_nowait(gate.job, 3)
            second.cancel()
            pool.close()
            gate.open.set()
    here = trio.lowlevel.current_task()
    seen = [(event.kind, event.claim) for event in events if event.primitive is pool]
    assert seen == [
        ("requested", first),
        ("granted", first),
        ("requested", second),
        ("requested", third),
        ("withdrawn", second),
        ("closed", None),
        ("released", first),
        ("granted", third),
        ("released", third),
    ]
    assert events[0].task is here


async def test_observers_see_what_never_began_because_the_pool_ended(gate: Gate) -> None:
    events: list[PrimitiveEvent] = []
    with observe(events.append):
        async with open_pool(1, max_queued=3) as pool:
            pool.submit_nowait(gate.job, 1)
            waits = pool.submit_nowait(gate.job, 2)
            await wait_all_tasks_blocked()
            pool.cancel_scope.cancel()
    seen = [event.kind for event in events if event.claim is waits]
    assert seen == ["requested", "broken"]


@pytest.mark.parametrize(
    ("error", "arguments"),
    [
        (TypeError, {"workers": True}),
        (TypeError, {"workers": 1.5}),
        (ValueError, {"workers": 0}),
        (TypeError, {"workers": 1, "max_queued": "3"}),
        (ValueError, {"workers": 1, "max_queued": -1}),
        (ValueError, {"workers": 1, "policy": "eligible"}),
        (TypeError, {"workers": 1, "ageing": "old"}),
        (ValueError, {"workers": 1, "policy": "priority", "ageing": -1}),
    ],
)
def test_bad_arguments_are_refused_at_once(
    error: type[Exception], arguments: dict[str, Any]
) -> None:
    with pytest.raises(error):
        open_pool(**arguments)


async def test_bad_jobs_are_refused_at_once(gate: Gate) -> None:
    async with open_pool(1) as pool:
        coroutine: Any = None
        with pytest.raises(TypeError, match="a job is a function and its arguments, not None"):
            await pool.submit(coroutine)
        with pytest.raises(ValueError, match="priority must be 0 with policy 'fifo'"):
            pool.submit_nowait(gate.job, 1, priority=1)
        urgent: Any = "urgent"
        with pytest.raises(TypeError, match="priority must be an int"):
            await pool.run(gate.job, 1, priority=urgent)
        assert pool.statistics().running == 0


async def test_another_thread_is_refused(gate: Gate) -> None:
    async with open_pool(1) as pool:
        job = pool.submit_nowait(gate.job, 1)
        for operation in (pool.close, job.cancel, lambda: pool.submit_nowait(gate.job, 2)):
            with pytest.raises(RuntimeError, match="in use by another trio run"):
                await trio.to_thread.run_sync(operation)
        gate.open.set()


@pytest.mark.parametrize("open_one", [open_pool, open_thread_pool])
async def test_a_queue_as_long_as_there_are_workers_and_a_slow_ageing_are_the_default(
    open_one: Callable[..., AbstractAsyncContextManager[Any]],
) -> None:
    async with open_one(2, policy="priority") as pool:
        core = pool._core
        assert (core.max_queued, core.policy.ageing) == (2, 100)


def test_pools_of_all_kinds_have_the_same_options() -> None:
    options = [
        [
            (one.name, one.kind, one.default)
            for one in inspect.signature(open_one).parameters.values()
        ]
        for open_one in (open_pool, open_thread_pool, open_process_pool)
    ]
    assert options[0] == options[1] == options[2]


async def test_nothing_keeps_the_task_of_a_worker_that_has_ended() -> None:
    tasks = list[weakref.ref[trio.lowlevel.Task]]()

    async def job() -> None:
        tasks.append(weakref.ref(trio.lowlevel.current_task()))

    async with open_pool(1) as pool:
        await pool.run(job)
    del pool
    gc.collect()
    assert [one() for one in tasks] == [None]
