"""What comes in the middle of a step of a pool, from a finalizer, takes effect once, and on nothing else.

At the k-th instruction inside structsync, for k = 1, 2, ..., a job is cancelled, or tasks that wait for one, or the
pool, or a job is submitted. Whatever k is, each job ends once and no task sleeps on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import pytest
import trio
import trio.testing

from structsync import Job, JobCancelled, TaskPool, open_pool
from structsync._runtime.transitions import of_this_thread

from .striking import Striker, every_instruction

SUBMITTER = ContextVar("SUBMITTER", default="the program")


class Program:
    """Three jobs and three tasks that wait: for a job, for a call, and for room."""

    def __init__(self, strike: Callable[[Program], object], k: int) -> None:
        self.striker = Striker(k, self.strike)
        self.what = strike
        self.pool: TaskPool | None = None
        self.jobs: dict[str, Job[str]] = {}
        self.scopes = [trio.CancelScope() for _ in range(3)]
        self.submitters: dict[str, str] = {}

    def strike(self) -> None:
        if self.pool is not None:
            with refusals():  # in the middle of a step it may not submit
                self.what(self)

    async def job(self, name: str) -> str:
        self.submitters[name] = SUBMITTER.get()
        await trio.lowlevel.checkpoint()
        return name

    def submit(self, name: str) -> None:
        with refusals():
            assert self.pool is not None
            self.jobs[name] = self.pool.submit_nowait(self.job, name)

    async def wait(self) -> None:
        with self.scopes[0], refusals():
            await next(reversed(self.jobs.values())).wait()

    async def call(self) -> None:
        with self.scopes[1], refusals():
            assert self.pool is not None
            assert await self.pool.run(self.job, "call") == "call"

    async def wait_for_room(self) -> None:
        with self.scopes[2], refusals():
            assert self.pool is not None
            self.jobs["late"] = await self.pool.submit(self.job, "late")

    async def main(self) -> None:
        with trio.fail_after(1):
            async with open_pool(2, max_queued=1) as self.pool:
                with every_instruction(self.striker):
                    for name in "abc":
                        self.submit(name)
                    async with trio.open_nursery() as nursery:
                        for wait in (self.wait, self.call, self.wait_for_room):
                            nursery.start_soon(wait)
                        for name in "de":  # to workers that sleep
                            await trio.testing.wait_all_tasks_blocked()
                            self.submit(name)

    def run(self) -> bool:
        """Return whether it was struck."""
        trio.run(self.main, clock=trio.testing.MockClock(autojump_threshold=0))
        transitions = of_this_thread()
        assert not transitions.running
        assert not transitions.later
        assert self.pool is not None
        statistics = self.pool.statistics()
        assert statistics.running == statistics.tasks_waiting == 0
        assert {job.status for job in self.jobs.values()} <= {"done", "cancelled"}
        for name, submitter in self.submitters.items():
            assert (name == "extra") == (submitter == "a finalizer")
        return bool(self.striker.struck)


@contextmanager
def refusals() -> Iterator[None]:
    """Go on where a job was cancelled, or refused."""
    refused = (JobCancelled, trio.WouldBlock, trio.ClosedResourceError)
    try:
        yield
    except refused:
        pass
    except RuntimeError as error:
        if "must not change" not in str(error):
            raise


def cancel_waiters(program: Program) -> None:
    for scope in program.scopes:
        scope.cancel()


def cancel_jobs(program: Program) -> None:
    for job in program.jobs.values():
        job.cancel()


def cancel_jobs_and_waiters(program: Program) -> None:
    cancel_jobs(program)
    cancel_waiters(program)


def cancel_pool(program: Program) -> None:
    assert program.pool is not None
    program.pool.cancel_scope.cancel()


def submit(program: Program) -> None:
    token = SUBMITTER.set("a finalizer")
    try:
        program.submit("extra")
    finally:
        SUBMITTER.reset(token)


STRIKES = [cancel_waiters, cancel_jobs, cancel_jobs_and_waiters, cancel_pool, submit]


def sweep(strike: Callable[[Program], object], step: int) -> int:
    k = 1
    while Program(strike, k).run():
        k += step
    return k


@pytest.mark.slow
@pytest.mark.parametrize("strike", STRIKES)
def test_what_strikes_a_pool_at_an_instruction_takes_effect_once(
    strike: Callable[[Program], object],
) -> None:
    assert sweep(strike, 17) > 3000


@pytest.mark.nightly
@pytest.mark.parametrize("strike", STRIKES)
def test_what_strikes_a_pool_at_any_instruction_takes_effect_once(
    strike: Callable[[Program], object],
) -> None:
    assert sweep(strike, 1) > 3000


@pytest.mark.slow
def test_a_job_that_is_cancelled_too_late_cancels_no_other() -> None:
    def cancel_the_first(program: Program) -> None:
        if "a" in program.jobs:
            program.jobs["a"].cancel()

    k, goes_on = 1, True
    while goes_on:
        program = Program(cancel_the_first, k)
        goes_on = program.run()
        others = [job for name, job in program.jobs.items() if name != "a"]
        assert {job.status for job in others} == {"done"}, program.striker.struck
        k += 7
