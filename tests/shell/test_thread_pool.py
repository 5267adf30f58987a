"""open_thread_pool: sync functions in threads."""

import threading
from contextvars import ContextVar
from typing import Any

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from structsync import SyncPool, open_thread_pool

VARIABLE: ContextVar[str] = ContextVar("VARIABLE", default="no task")


def add(a: int, b: int) -> int:
    return a + b


def thread() -> int:
    return threading.get_ident()


async def test_a_job_runs_in_a_thread_and_sees_the_context_of_who_submitted_it() -> None:
    async with open_thread_pool(2) as pool:
        assert type(pool) is SyncPool
        VARIABLE.set("a borrower")
        assert await pool.run(VARIABLE.get) == "a borrower"
        assert await pool.run(thread) != threading.get_ident()
        job = await pool.submit(add, 1, 2)
        assert await job.wait() == 3
        assert await pool.submit_nowait(add, 3, 4).wait() == 7
        assert [result async for result in pool.map(abs, [-1, -2])] == [1, 2]
        assert "SyncPool" in repr(pool)


async def test_no_more_run_at_a_time_than_there_are_workers() -> None:
    gate = threading.Event()
    async with open_thread_pool(2, max_queued=10) as pool:
        for _ in range(5):
            pool.submit_nowait(gate.wait)
        assert pool.statistics().running == 2
        gate.set()
    assert pool.statistics().done == 5


async def test_an_error_in_a_thread_goes_where_that_of_a_task_would_go() -> None:
    async with open_thread_pool(2) as pool:
        with pytest.raises(ZeroDivisionError):
            await pool.run(divmod, 1, 0)
    with pytest.RaisesGroup(ZeroDivisionError):
        async with open_thread_pool(2) as pool:
            await pool.submit(divmod, 1, 0)


async def test_a_cancelled_job_in_a_thread_may_ask_whether_it_is_cancelled() -> None:
    began, cancelled = trio.Event(), threading.Event()

    def ask() -> None:
        trio.from_thread.run_sync(began.set)
        cancelled.wait()
        trio.from_thread.check_cancelled()

    async with open_thread_pool(1) as pool:
        job = await pool.submit(ask)
        await began.wait()
        job.cancel()
        await wait_all_tasks_blocked()
        assert job.status == "running"
        cancelled.set()
    assert job.status == "cancelled"


async def test_async_functions_are_refused() -> None:
    async with open_thread_pool(1) as pool:
        for call in (pool.submit_nowait, pool.map):
            wrong: Any = call
            with pytest.raises(TypeError, match=r"runs sync functions.*open_pool\(\) runs those"):
                wrong(trio.sleep, [0])
