"""Faults of pools."""

from __future__ import annotations

from typing import Any

import pytest
import trio
from trio.lowlevel import Task

from structsync._core.primitives.job_queue import JobQueueCore
from structsync._primitives.result_streams import AsyncStream, Stream
from structsync._runtime import job_end, job_queue
from structsync._runtime.job import Job, has_ended
from structsync._runtime.parking import park
from structsync.specs import job_queue_faults

from ._reuse import plant


def a_worker_has_two_jobs(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(JobQueueCore, "admits", lambda self, claim: self.busy <= self.workers)


def whose_job_begins_sleeps_on(patch: pytest.MonkeyPatch) -> None:
    """Who was held back is not told when a worker takes the job."""
    patch.setattr(job_queue, "resume", lambda transitions, ended: None)


def a_cancelled_job_stays_in_queue(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(JobQueueCore, "withdraw", lambda self, request: None)


def a_cancelled_submission_stays_in_queue(patch: pytest.MonkeyPatch) -> None:
    """Who waited for room is gone, and its job runs all the same."""
    patch.setattr(job_queue, "park", lambda request, withdraw: park(request, lambda _: []))


def a_cancelled_run_leaves_its_job_running(patch: pytest.MonkeyPatch) -> None:
    def stop(pool: Any, job: Job[Any], task: Task, raise_cancel: Any) -> bool:
        return job_end.stop_waiting(job, task, raise_cancel)

    patch.setattr(job_queue, "cancel_and_wait", stop)


def closing_forgets_what_is_held_back(patch: pytest.MonkeyPatch) -> None:
    plant(patch, JobQueueCore, job_queue_faults.CloseForgetsWhatIsHeldBack)


def a_cancelled_wait_loses_its_result(patch: pytest.MonkeyPatch) -> None:
    intact = Stream.wait_for_next

    async def wait_for_next(self: Stream) -> Job[Any]:
        try:
            return await intact(self)
        except trio.Cancelled:
            self.pending.popitem(last=False)
            raise

    patch.setattr(Stream, "wait_for_next", wait_for_next)


def results_come_as_jobs_end(patch: pytest.MonkeyPatch) -> None:
    """Also where they are to come in the order of the items."""

    def next_ready(self: Stream) -> Job[Any] | None:
        return next((job for job in self.pending if has_ended(job)), None)

    patch.setattr(Stream, "next_ready", next_ready)


def a_job_that_ends_tells_no_task(patch: pytest.MonkeyPatch) -> None:
    """The loop over results sleeps on."""

    def ended(self: Stream, job: Job[Any]) -> None:
        self.ready.append(job)

    patch.setattr(Stream, "ended", ended)


def an_end_of_the_source_is_not_told(patch: pytest.MonkeyPatch) -> None:
    async def pull(self: AsyncStream) -> None:
        try:
            while self.goes_on():
                if len(self.pending) >= self.ahead:
                    await self.wait_for_room()
                else:
                    self.add(await anext(self.items))
            self.news.set()
        except StopAsyncIteration:
            self.exhausted = True

    patch.setattr(AsyncStream, "pull", pull)
