"""Faults of a pool's queue, each for one claim."""

from __future__ import annotations

from structsync._core.primitives.job_queue import JobQueueCore
from structsync.specs import job_queue_faults

from ...plants import pool  # noqa: TID252 - the one home of the faults
from ._planting import OfASpec, Shared

a_worker_has_two_jobs = Shared(
    pool.a_worker_has_two_jobs, "job_queue.a_job_is_given_to_a_worker_that_is_free"
)


ends_beyond_none_are_counted = OfASpec(
    JobQueueCore, job_queue_faults.EndsTwice, "job_queue.a_job_that_ends_frees_one_worker"
)

no_task_is_accepted_for_who_leaves = OfASpec(
    JobQueueCore,
    job_queue_faults.RoomIsNotPassedOn,
    "job_queue.the_oldest_are_accepted_as_far_as_there_is_room",
)
