"""Jobs that wait for workers, and a bound on how many: the decisions of :class:`structsync.TaskPool`.

A job stands in the queue from the moment at which it is submitted; a free worker takes the next by the
policy. The bound holds back the submitting task, not the job: beyond it a job has its position all the
same, and is *held back*, that is not accepted yet. Rejected: a second queue in front of the first, in
which an urgent job would wait behind others for the room to become urgent.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from typing import Any

from structsync._core.queue.arbiter import Arbiter
from structsync._core.queue.request import BROKEN, Request


class JobQueueCore(Arbiter[Any]):
    """Which jobs wait, how many of them are accepted, and how many workers are busy.

    The claim is the job.
    """

    workers: int
    max_queued: float  # an int >= 0 or math.inf
    busy: int  # how many jobs were granted a worker and have not ended
    accepted: int  # how many in the queue count against the bound: the oldest

    def __init__(
        self,
        workers: int,
        max_queued: float,
        *,
        policy: str = "fifo",
        ageing: int | None = 100,
    ) -> None:
        super().__init__(policy=policy, ageing=ageing)
        self.workers = workers
        self.max_queued = max_queued
        self.busy = 0
        self.start_index()

    @property
    def is_idle(self) -> bool:
        """Whether it has ended: until then its workers belong to one run."""
        return self.cause is not None and self.is_drained

    @property
    def is_drained(self) -> bool:
        """Whether no job waits and none runs."""
        return not self.queue and self.busy == 0

    def has_room(self) -> bool:
        """Return whether a job submitted now would be accepted into the queue at once."""
        return self.cause is None and self.accepted < self.max_queued

    def is_held_back(self, request: Request[Any]) -> bool:
        """Return whether the request waits to be accepted."""
        return request.ticket in self.held_back

    # The three functions.

    def admits(self, claim: Hashable) -> bool:
        return self.busy < self.workers

    def admit(self, claim: Hashable) -> bool:
        self.busy += 1
        return self.busy == self.workers

    def discharge(self, claim: Hashable) -> None:
        if self.busy < 1:
            raise RuntimeError("no job runs that could end")
        self.busy -= 1

    # The index: which jobs are accepted.

    def start_index(self) -> None:
        self.accepted = 0
        # In the order of arrival. Not a dict, whose front is slow to take from once it is long.
        self.held_back: OrderedDict[int, Request[Any]] = OrderedDict()
        # What was accepted, and is to be told; emptied by the caller of the transition.
        self.newly_accepted: list[Request[Any]] = []

    def entered(self, request: Request[Any]) -> None:
        if self.accepted < self.max_queued:
            self.accepted += 1
        else:
            self.held_back[request.ticket] = request

    def left(self, request: Request[Any]) -> None:
        if self.held_back.pop(request.ticket, None) is None:
            self.accepted -= 1
            if self.held_back:
                _, oldest = self.held_back.popitem(last=False)
                self.accepted += 1
                self.newly_accepted.append(oldest)

    # Transitions.

    def take_newly_accepted(self) -> list[Request[Any]]:
        """Return what was accepted since the last call."""
        accepted, self.newly_accepted = self.newly_accepted, []
        return accepted

    def give_up(self, request: Request[Any]) -> list[Request[Any]] | None:
        """Withdraw a request that is held back; None, and nothing changes, if it is accepted or has ended."""
        return self.withdraw(request) if self.is_held_back(request) else None

    def close(self, cause: Hashable) -> list[Request[Any]]:
        """Accept no more: break those that are held back; the accepted ones keep their positions."""
        if self.cause is None:
            self.cause = cause
        return [self.end_with(request, BROKEN, cause) for request in [*self.held_back.values()]]

    def snapshot(self) -> Hashable:
        held_back = tuple([self.is_held_back(request) for request in self.queue])
        return (held_back, super().snapshot())

    def restore(self, snapshot: Any) -> None:
        held_back, rest = snapshot
        super().restore(rest)
        self.start_index()
        for request, held in zip(self.queue, held_back, strict=True):
            if held:
                self.held_back[request.ticket] = request
            else:
                self.accepted += 1
