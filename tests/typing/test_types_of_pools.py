"""What pools take and return: for mypy, for pyright, and when it runs."""

# pyright: reportUnnecessaryTypeIgnoreComment=error

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import assert_type

import trio

from structsync import (
    Job,
    JobStatus,
    PoolStatistics,
    Results,
    SyncPool,
    TaskPool,
    open_pool,
    open_process_pool,
    open_thread_pool,
)


async def name(number: int, prefix: str = "") -> str:
    await trio.lowlevel.checkpoint()
    return f"{prefix}{number}"


async def numbers() -> AsyncIterator[int]:
    yield 1


async def test_a_pool_knows_what_its_async_functions_take_and_return() -> None:
    async with open_pool(2, max_queued=3, policy="priority", ageing=None, name="jobs") as pool:
        assert isinstance(assert_type(pool, TaskPool), TaskPool)
        job = await pool.submit(name, 1, "n", priority=1)
        assert isinstance(assert_type(job, Job[str]), Job)
        assert isinstance(assert_type(pool.submit_nowait(name, 1, "n"), Job[str]), Job)
        assert type(assert_type(await job.wait(), str)) is str
        assert type(assert_type(job.result(), str)) is str
        assert isinstance(assert_type(job.status, JobStatus), JobStatus)
        text = await pool.run(name, 1, "n")
        assert type(assert_type(text, str)) is str
        results = pool.map(name, [1, 2], ordered=False, ahead=3, priority=1)
        assert isinstance(assert_type(results, Results[str]), Results)
        async for result in pool.map(name, numbers()):
            assert type(assert_type(result, str)) is str
        assert isinstance(assert_type(pool.statistics(), PoolStatistics).done, int)


async def test_pools_of_sync_functions_know_what_these_take_and_return() -> None:
    async with open_thread_pool(2, name="threads") as pool:
        assert isinstance(assert_type(pool, SyncPool), SyncPool)
        assert isinstance(assert_type(await pool.submit(len, "text"), Job[int]), Job)
        length = await pool.run(len, "text")
        assert type(assert_type(length, int)) is int
        async for result in pool.map(len, ["a"]):
            assert type(assert_type(result, int)) is int
    async with open_process_pool(1, name="processes") as processes:
        assert isinstance(assert_type(processes, SyncPool), SyncPool)


async def rejected_by_the_checkers(
    pool: TaskPool, threads: SyncPool
) -> None:  # pragma: no cover - not run
    await pool.submit(name, "1", "n")  # type: ignore[arg-type]
    await pool.submit(len, "text")  # type: ignore[arg-type]
    await pool.run(name, "1", "n")  # type: ignore[arg-type]
    pool.submit_nowait(name, 1, "n", urgent=True)  # type: ignore[call-arg]
    pool.map(name, ["1"])  # type: ignore[arg-type]
    await threads.run(len, 1)  # type: ignore[arg-type]
    threads.map(len, [1])  # type: ignore[arg-type]
