"""Faults of a pool's queue, each for one claim."""

from __future__ import annotations

from structsync._core.primitives.job_queue import JobQueueCore
from structsync._core.queue.request import Request

from ...plants import pool  # noqa: TID252 - the one home of the faults
from ._planting import Shared, fault

a_worker_has_two_jobs = Shared(
    pool.a_worker_has_two_jobs, "job_queue.a_job_is_given_to_a_worker_that_is_free"
)


@fault(JobQueueCore, "give_back", refuted_by="job_queue.a_job_that_ends_frees_one_worker")
def ends_beyond_none_are_counted(core: JobQueueCore, claim: object) -> None:
    core.busy -= 1


@fault(JobQueueCore, "left", refuted_by="job_queue.the_oldest_are_accepted_as_far_as_there_is_room")
def nobody_is_accepted_for_who_leaves(core: JobQueueCore, request: Request[object]) -> None:
    if core.held_back.pop(request.ticket, None) is None:
        core.accepted -= 1
