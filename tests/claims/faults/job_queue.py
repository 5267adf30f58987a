"""Faults of a pool's queue, each for one claim."""

from __future__ import annotations

from typing import Any

from structsync._core.primitives.job_queue import JobQueueCore
from structsync._core.queue.request import Request
from structsync.specs import job_queue_faults

from ...plants import pool  # noqa: TID252 - the one home of the faults
from ._planting import Ended, OfASpec, Shared, fault

a_worker_has_two_jobs = Shared(
    pool.a_worker_has_two_jobs, "job_queue.a_job_is_given_to_a_worker_that_is_free"
)


ends_beyond_none_are_counted = OfASpec(
    JobQueueCore, job_queue_faults.EndsTwice, "job_queue.a_job_that_ends_frees_one_worker"
)

no_job_is_accepted_for_one_that_leaves = OfASpec(
    JobQueueCore,
    job_queue_faults.RoomIsNotPassedOn,
    "job_queue.the_oldest_are_accepted_as_far_as_there_is_room",
)


@fault(JobQueueCore, "give_up", refuted_by="job_queue.only_what_is_held_back_is_given_up")
def what_is_accepted_is_given_up(core: JobQueueCore, request: Request[Any]) -> Ended | None:
    return core.withdraw(request)
