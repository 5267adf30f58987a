"""Faults of pools."""

from __future__ import annotations

from typing import Any

import pytest
from trio.lowlevel import Abort, Task

from structsync._core.primitives.job_queue import JobQueueCore
from structsync._runtime import job_queue
from structsync._runtime.job import Job
from structsync.specs import job_queue_faults

from ._reuse import plant


def a_worker_has_two_jobs(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(JobQueueCore, "admits", lambda self, claim: self.busy <= self.workers)


def whose_job_begins_sleeps_on(patch: pytest.MonkeyPatch) -> None:
    """Who was held back is not told when a worker takes the job."""
    patch.setattr(job_queue, "resume", lambda transitions, ended: None)


def a_cancelled_job_stays_in_queue(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(JobQueueCore, "withdraw", lambda self, request: None)


def a_cancelled_run_leaves_its_job_running(patch: pytest.MonkeyPatch) -> None:
    def abort(self: Any, job: Job[Any], task: Task, raise_cancel: Any) -> Abort:
        job._waiters.pop(task, None)
        return Abort.SUCCEEDED

    patch.setattr(job_queue.JobQueue, "_cancel_and_wait", abort)


def closing_forgets_who_is_held_back(patch: pytest.MonkeyPatch) -> None:
    plant(patch, JobQueueCore, job_queue_faults.CloseForgetsWhoIsHeldBack)
