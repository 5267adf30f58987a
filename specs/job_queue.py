"""A pool serves its jobs in the order of its queue, loses none, runs none twice, and bounds what it accepts.

The state is the core, with its queue of jobs, which jobs run, and which of those in the queue were told that they are
accepted. A job that is not in the pool may be submitted, and waits in the queue then. While there is no room it is
*held back*: it has its position, but is not accepted yet, and the task that submits it waits too. A job that waits may
be withdrawn, accepted or not. A worker that is free takes the job that is next. The pool may be closed, which ends the
jobs that are held back, and cancelled, which ends all that wait.

What is promised to a job that waits needs jobs that end (a *fair* action).
"""

from __future__ import annotations

from typing import Any

from structsync._core.primitives.job_queue import JobQueueCore
from structsync._core.queue.request import Request
from structsync.checking import action, implies, invariant, leads_to, start, step

from .common import FifoSpec, QueueSpec

# ==== Bounds ====

WORKERS = 2  # one of them ends while the other still runs
ROOM = 2  # an accepted job that leaves the queue, and one that stays

# Two run, two are accepted, and two are held back, which could be accepted in the wrong order.
JOBS = ("a", "b", "c", "d", "e", "f")

# With priorities: jobs of both levels run, are accepted and are held back; so the next to run may be held
# back. Ageing has a specification of its own (`priority.py`), so here levels are strict.
LEVELS = {"a": 1, "b": 0, "c": 1, "d": 0, "e": 1}


class PoolSpec(QueueSpec):
    """The jobs of a pool: which wait, which run, and which were told that they are accepted."""

    abstract = True

    newcomers: tuple[tuple[str, int], ...] = (("one more", 0),)
    core: JobQueueCore
    running: tuple[str, ...] = start(tuple)  # that were granted a worker and have not ended
    told: tuple[str, ...] = start(tuple)  # in the queue, and told that they are accepted

    # ==== Words that actions use ====

    def got(self, request: Request[Any]) -> None:
        self.running = tuple(sorted((*self.running, request.waiter)))

    def note(self, ended: Any) -> None:
        super().note(ended)
        self.told += tuple(one.waiter for one in self.core.take_newly_accepted())
        gone = [one.waiter for one in self.ended]
        self.told = tuple(sorted(who for who in self.told if who not in gone))

    def submit_at(self, who: str, level: int) -> None:
        """Submit a job."""
        request = self.core.submit(who, level, who)
        if not self.core.is_held_back(request) and request.queue is not None:
            self.told = tuple(sorted((*self.told, who)))
        self.submitted(request)

    # ==== Actions ====

    @action(who=lambda spec: spec.in_queue())
    def withdraw(self, who: str) -> None:
        self.note(self.withdrawn(who))

    @action(who=lambda spec: spec.running, fair=True)
    def end_job(self, who: str) -> None:
        at = self.running.index(who)
        self.running = self.running[:at] + self.running[at + 1 :]
        self.note(self.core.release(who))

    @action(when=lambda spec: spec.core.cause is None)
    def close(self) -> None:
        self.note(self.core.close("closed"))

    @action(when=lambda spec: spec.core.queue and spec.core.cause != "cancelled")
    def cancel(self) -> None:
        self.core.cause = "cancelled"
        self.note(self.core.end("cancelled"))

    # ==== Invariants ====

    @invariant
    def each_worker_has_one_job(self) -> bool:
        """As many workers are busy as jobs run, and no more than there are (I1)."""
        return self.core.busy == len(self.running) <= WORKERS

    @invariant
    def what_is_accepted_is_bounded(self) -> bool:
        """No more jobs are accepted than there is room for, and exactly those were told that they are."""
        accepted = [one.waiter for one in self.core.queue if not self.core.is_held_back(one)]
        return len(accepted) <= ROOM and sorted(accepted) == [*self.told]

    @invariant
    def no_job_is_held_back_beside_room(self) -> bool:
        """Jobs are held back only while there is no room (I3)."""
        return implies(len(self.core.held_back) > 0, self.core.accepted == ROOM)

    @invariant
    def the_oldest_are_accepted(self) -> bool:
        """No job is held back while one that came later is accepted."""
        jobs = [*self.core.queue]
        accepted = [one for one in jobs if not self.core.is_held_back(one)]
        return accepted == jobs[: len(accepted)]

    @invariant
    def nothing_waits_when_closed_or_broken(self) -> bool:
        """Once closed, no job is held back, but accepted ones may wait; once cancelled, none waits (C8)."""
        if self.core.cause == "closed":
            return not self.core.held_back
        if self.core.cause == "cancelled":
            return not self.core.queue
        return True

    @invariant
    def nothing_ends_that_does_not_run(self) -> bool:
        """While no job runs none can end, and the attempt leaves no trace."""
        return len(self.running) > 0 or self.refuses("release", "x")

    # ==== Step properties ====

    @step
    def closed_stays_closed(self, before: Any) -> bool:
        """Once closed it stays closed, or is cancelled; once cancelled it stays so (C1)."""
        was, now = before.core.cause, self.core.cause
        if was == "closed":
            return now in ("closed", "cancelled")
        return was is None or bool(now == was)


class JobQueueSpec(PoolSpec, FifoSpec):
    """First come, first served."""

    core: JobQueueCore = start(JobQueueCore, WORKERS, ROOM)

    @action(
        who=lambda spec: [one for one in JOBS if one not in (*spec.in_queue(), *spec.running)],
        when=lambda spec, who: spec.core.cause is None,
    )
    def submit(self, who: str) -> None:
        self.submit_at(who, 0)

    # ==== Temporal properties ====

    @leads_to(who=JOBS)
    def a_queued_request_is_served(self, who: str) -> tuple[bool, bool]:
        """If jobs end, each job that waits runs eventually, or is withdrawn, or is ended."""
        waits = who in self.in_queue()
        return waits, not waits


class PriorityJobQueueSpec(PoolSpec):
    """Smaller number first, accepted or not."""

    newcomers = (("one more", 0), ("another", 1))
    core: JobQueueCore = start(JobQueueCore, WORKERS, ROOM, policy="priority", ageing=None)

    @action(
        who=lambda spec: [one for one in LEVELS if one not in (*spec.in_queue(), *spec.running)],
        when=lambda spec, who: spec.core.cause is None,
    )
    def submit(self, who: str) -> None:
        self.submit_at(who, LEVELS[who])

    # ==== Step properties ====

    @step
    def the_most_urgent_runs_next(self, before: Any) -> bool:
        """No job is granted a worker while one of a smaller level waits on, or an older one of its level (I2)."""
        for who in self.granted():
            for one in self.in_queue():
                is_more_urgent = LEVELS[one] < LEVELS[who]
                is_older = LEVELS[one] == LEVELS[who] and one in before.ahead_of(who)
                if is_more_urgent or is_older:
                    return False
        return True
