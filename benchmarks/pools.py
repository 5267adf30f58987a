"""Jobs of a pool against child tasks under a limiter, and against a longer queue of jobs."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from time import thread_time

import trio

import structsync

from ._measure import Case, Effort, ratio

WORKERS = 10


def dispatch_cases(effort: Effort) -> Iterator[Case]:
    jobs = effort.of(5_000, 100)
    reference = partial(trio.run, start_all, jobs)
    for name, submit in (("submit_nowait", submit_all_at_once), ("submit", submit_in_turn)):
        subject = partial(trio.run, submit, jobs)
        yield Case(f"{name}, {jobs:,} jobs", partial(ratio, subject, reference))


def length_cases(effort: Effort) -> Iterator[Case]:
    jobs = effort.of(100_000, 1_000)
    short = jobs // 100
    subject = partial(trio.run, submit_all_at_once, jobs)
    reference = partial(run_again_and_again, short, jobs // short)
    # one pair is long enough here to be a sample by itself
    yield Case(f"{jobs:,} jobs / {short:,}", partial(ratio, subject, reference, pairs=2))


async def submit_all_at_once(jobs: int) -> float:
    """Return the seconds from the first submission until all jobs have ended."""
    began = thread_time()
    async with structsync.open_pool(WORKERS, max_queued=jobs) as pool:
        for _ in range(jobs):
            pool.submit_nowait(do_nothing)
    return thread_time() - began


async def submit_in_turn(jobs: int, workers: int = WORKERS) -> float:
    """Do the same, held back by a queue that is bounded."""
    began = thread_time()
    async with structsync.open_pool(workers) as pool:
        for _ in range(jobs):
            await pool.submit(do_nothing)
    return thread_time() - began


async def start_all(jobs: int, workers: int = WORKERS) -> float:
    """Do the same with a child task each, of which a limiter lets some run."""
    limiter = trio.CapacityLimiter(workers)

    async def child() -> None:
        async with limiter:
            await do_nothing()

    began = thread_time()
    async with trio.open_nursery() as nursery:
        for _ in range(jobs):
            nursery.start_soon(child)
    return thread_time() - began


def run_again_and_again(jobs: int, times: int) -> float:
    return sum(trio.run(submit_all_at_once, jobs) for _ in range(times))


async def do_nothing() -> None:
    """Do what a short task does between two checkpoints."""
