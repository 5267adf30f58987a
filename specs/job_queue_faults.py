"""Bugs of pools, planted in ours: each must be found by the named property."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from structsync._core.primitives.job_queue import JobQueueCore
from structsync._core.queue.request import Request
from structsync.checking import fault

from ._planting import withdraw_only
from .job_queue import JobQueueSpec, PriorityJobQueueSpec

Ended = list[Request[Any]]


@fault(JobQueueSpec, "core", refuted_by="each_worker_has_one_job")
class EndedJobKeepsItsWorker(JobQueueCore):
    """A job ends, and its worker is busy forever."""

    def discharge(self, claim: Hashable) -> None:
        if self.busy < 1:
            super().discharge(claim)


@fault(JobQueueSpec, "core", refuted_by="nothing_ends_that_does_not_run")
class EndsTwice(JobQueueCore):
    """A job that does not run may end: there is one worker too many then."""

    def discharge(self, claim: Hashable) -> None:
        self.busy -= 1


@fault(JobQueueSpec, "core", refuted_by="nothing_grantable_waits")
class NextJobIsNotTaken(JobQueueCore):
    """A worker that is free takes no job from the queue until the next one is submitted."""

    def release(self, claim: Hashable) -> Ended:
        self.discharge(claim)
        return []


@fault(JobQueueSpec, "core", refuted_by="what_is_accepted_is_bounded")
class RoomForOneMore(JobQueueCore):
    """The bound is tested after the count."""

    def entered(self, request: Request[Any]) -> None:
        if self.accepted <= self.max_queued:
            self.accepted += 1
        else:
            self.held_back[request.ticket] = request


@fault(JobQueueSpec, "core", refuted_by="no_job_is_held_back_beside_room")
class RoomIsNotPassedOn(JobQueueCore):
    """A job leaves the queue, and none that is held back is accepted."""

    def left(self, request: Request[Any]) -> None:
        if self.held_back.pop(request.ticket, None) is None:
            self.accepted -= 1


@fault(JobQueueSpec, "core", refuted_by="the_oldest_are_accepted")
class TheLastIsAccepted(JobQueueCore):
    """Room goes to the job that came last."""

    def left(self, request: Request[Any]) -> None:
        if self.held_back.pop(request.ticket, None) is None:
            self.accepted -= 1
            if self.held_back:
                self.newly_accepted.append(self.held_back.popitem()[1])
                self.accepted += 1


@fault(JobQueueSpec, "core", refuted_by="what_is_accepted_is_bounded")
class NoTaskIsTold(JobQueueCore):
    """A job that is accepted is counted, and a task that submitted it is not told."""

    def take_newly_accepted(self) -> Ended:
        super().take_newly_accepted()
        return []


@fault(JobQueueSpec, "core", refuted_by="nothing_waits_when_closed_or_broken")
class CloseForgetsWhatIsHeldBack(JobQueueCore):
    """Closing ends none of the jobs that are held back."""

    def close(self, cause: Hashable) -> Ended:
        self.cause = cause
        return []


@fault(JobQueueSpec, "core", refuted_by="ended_requests_stay_ended")
class WithdrawnJobRuns(JobQueueCore):
    """A job that was withdrawn is in the queue again."""

    def withdraw(self, request: Request[Any]) -> Ended | None:
        ended = withdraw_only(self, request)
        if ended is not None:
            self.join(request)
        return ended


@fault(JobQueueSpec, "core", refuted_by="closed_stays_closed")
class IdlePoolOpensAgain(JobQueueCore):
    """Once its last job has ended, a closed pool takes jobs again (C1)."""

    def discharge(self, claim: Hashable) -> None:
        super().discharge(claim)
        if self.is_drained:
            self.cause = None


@fault(JobQueueSpec, "core", refuted_by="a_queued_request_is_served")
class TheLastRunsNext(JobQueueCore):
    """The queue is a stack: while jobs keep coming, the first one starves."""

    def release(self, claim: Hashable) -> Ended:
        self.discharge(claim)
        return self.settle(reversed(self.waiting()))


@fault(PriorityJobQueueSpec, "core", refuted_by="the_most_urgent_runs_next")
class AcceptedJobsGoFirst(JobQueueCore):
    """An urgent job that is held back waits for the accepted ones (two queues, one behind the other)."""

    def release(self, claim: Hashable) -> Ended:
        self.discharge(claim)
        accepted = [one for one in self.waiting() if not self.is_held_back(one)]
        return self.settle(iter(accepted[:1]))
