"""Pools: every schedule of a few tasks, and any of them cancelled anywhere, the workers too."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterable, Iterable
from contextlib import aclosing
from functools import partial

import trio
from trio.lowlevel import checkpoint

from structsync import Job, JobCancelled, TaskPool, open_pool
from structsync.testing import ExploredRun

from .sweeping import TWICE, swept, together

#: Each pool has a worker besides, which counts as one of the tasks.
SIZES = (TWICE,)


class Ledger:
    """Which jobs have begun, returned and are running, by what they say themselves."""

    def __init__(self) -> None:
        self.begun = Counter[int]()
        self.returned = Counter[int]()
        self.running = set[int]()
        self.jobs: dict[int, Job[int]] = {}

    async def job(self, number: int) -> int:
        self.begun[number] += 1
        self.running.add(number)
        try:
            await checkpoint()
            self.returned[number] += 1
            return number
        finally:
            self.running.remove(number)

    async def submit(self, pool: TaskPool, number: int) -> None:
        try:
            self.jobs[number] = await pool.submit(self.job, number)
        except trio.ClosedResourceError:  # a pool ends with any of its workers
            assert pool._core.cause is not None

    def check(self, x: ExploredRun) -> None:
        """What was submitted has ended as its handle says, and nothing else has begun."""
        if max(self.begun.values(), default=0) > 1:
            x.fail(f"begun twice: {self.begun}")
        if not {*self.begun} <= {*self.jobs}:
            x.fail(f"begun: {self.begun}, submitted: {[*self.jobs]}")
        for number, job in self.jobs.items():
            if job.status not in ("done", "cancelled"):
                x.fail(f"{job!r} is left")
            if (job.status == "done") is not (self.returned[number] == 1):
                x.fail(f"{job!r} returned {self.returned[number]} times")


@swept(least=150, sizes=SIZES, long=True)
async def test_no_job_is_lost_or_run_twice(x: ExploredRun, tasks: int) -> None:
    """With no room in the queue, each waits until its job begins."""
    ledger = Ledger()
    async with open_pool(1, max_queued=0) as pool:
        x.always(lambda: len(ledger.running) <= 1, "one worker has one job")
        await together(*[partial(ledger.submit, pool, number) for number in range(tasks - 1)])
    ledger.check(x)


@swept(least=150, sizes=SIZES)
async def test_a_run_has_ended_its_job_when_it_returns(x: ExploredRun, tasks: int) -> None:
    ledger = Ledger()

    async def run(number: int) -> None:
        try:
            if await pool.run(ledger.job, number) != number:
                x.fail("the result of another job")
        except (JobCancelled, trio.ClosedResourceError):
            assert pool._core.cause is not None
        else:
            if ledger.returned[number] != 1:
                x.fail("a result of a job that has not returned")
        finally:
            if number in ledger.running:
                x.fail("run() has ended before its job")

    async with open_pool(1, max_queued=0) as pool:
        await together(*[partial(run, number) for number in range(tasks - 1)])
        if pool.statistics().tasks_waiting or pool.statistics().running:
            x.fail(f"a job is left: {pool.statistics()}")


@swept(least=150, sizes=SIZES, long=True)
async def test_a_job_that_is_cancelled_has_run_or_has_not(x: ExploredRun, tasks: int) -> None:
    ledger = Ledger()

    async def cancel() -> None:
        await checkpoint()
        for job in [*ledger.jobs.values()]:
            job.cancel()

    async with open_pool(1, max_queued=1) as pool:
        ledger.jobs[0] = pool.submit_nowait(ledger.job, 0)
        submits = [partial(ledger.submit, pool, number) for number in range(1, tasks - 1)]
        await together(cancel, *submits)
    ledger.check(x)


@swept(least=150, sizes=SIZES, long=True)
async def test_closing_sends_away_who_is_held_back_and_does_the_rest(
    x: ExploredRun, tasks: int
) -> None:
    ledger = Ledger()

    async def close() -> None:
        await checkpoint()
        pool.close()

    async with open_pool(1, max_queued=0) as pool:
        ledger.jobs[0] = pool.submit_nowait(ledger.job, 0)
        x.always(
            lambda: pool._core.cause is None or not pool._core.held_back, "no task is held back"
        )
        submits = [partial(ledger.submit, pool, number) for number in range(1, tasks - 1)]
        await together(close, *submits)
    ledger.check(x)


async def map_and_check(
    x: ExploredRun,
    items: Iterable[int] | AsyncIterable[int],
    *,
    ordered: bool,
    workers: int,
) -> None:
    ledger, got = Ledger(), list[int]()

    async def loop() -> None:
        try:
            async for result in pool.map(ledger.job, items, ordered=ordered):
                got.append(result)
        except (JobCancelled, trio.ClosedResourceError):
            assert pool._core.cause is not None

    async with open_pool(workers) as pool:
        await together(loop)
    if len(set(got)) < len(got) or (ordered and got != sorted(got)):
        x.fail(f"got {got}")
    if not {*got} <= {*ledger.returned}:
        x.fail(f"got {got}, returned {ledger.returned}")
    if pool.statistics().tasks_waiting or pool.statistics().running:
        x.fail(f"a job is left: {pool.statistics()}")


@swept(least=30, sizes=SIZES, long=True)
async def test_results_come_once_and_in_order(x: ExploredRun, tasks: int) -> None:
    await map_and_check(x, range(tasks - 1), ordered=True, workers=2)


@swept(least=30, sizes=SIZES)
async def test_results_come_once_as_jobs_end(x: ExploredRun, tasks: int) -> None:
    await map_and_check(x, range(tasks - 1), ordered=False, workers=1)


@swept(least=30, sizes=SIZES, cancel="scopes", long=True)
async def test_results_of_an_async_source_come_once(x: ExploredRun, tasks: int) -> None:
    async def source() -> AsyncGenerator[int, None]:
        for number in range(tasks - 1):
            await checkpoint()
            yield number

    # As trio demands: a cancelled loop leaves it half way, and it belongs to the caller.
    async with aclosing(source()) as items:
        await map_and_check(x, items, ordered=True, workers=1)


@swept(least=25, sizes=SIZES, cancel="scopes")
async def test_a_result_whose_wait_is_cancelled_comes_next(x: ExploredRun, tasks: int) -> None:
    ledger, got = Ledger(), list[int]()
    scopes = [trio.CancelScope()]
    async with open_pool(1) as pool:
        results = pool.map(ledger.job, range(tasks - 1))
        try:
            while len(got) < tasks - 1:
                with trio.CancelScope() as scopes[0]:  # which a task may cancel
                    got.append(await anext(results))
        except (JobCancelled, trio.ClosedResourceError):
            assert pool._core.cause is not None
        else:
            if got != list(range(tasks - 1)):
                x.fail(f"got {got}")
