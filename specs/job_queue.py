"""A pool serves its jobs in the order of its queue, loses none, runs none twice, and bounds what it accepts.

Whoever is idle may submit; whoever waits may be withdrawn, accepted or not. A worker that is free
takes the job that is next. What is promised to the one who waits needs jobs that end (*fair*).
"""

from __future__ import annotations

from operator import methodcaller
from typing import Any

from structsync._core.primitives.job_queue import JobQueueCore
from structsync._core.queue.request import Request
from structsync.checking import action, invariant, invariants, leads_to, start, step

from .common import FifoSpec, QueueSpec

# ==== Bounds ====

WORKERS = 2  # one of them ends while the other still runs
ROOM = 2  # an accepted one that goes, and one that stays

# Two run, two are accepted, and two are held back, who may be accepted in the wrong order.
JOBS = ("a", "b", "c", "d", "e", "f")

# With priorities: one of either level runs, is accepted and is held back; so a held-back job may be the
# next. Ageing has a specification of its own (priority.py), so here levels are strict.
LEVELS = {"a": 1, "b": 0, "c": 1, "d": 0, "e": 1}


class PoolSpec(QueueSpec):
    """The jobs of a pool: who waits, who runs, and who was told that it is accepted."""

    abstract = True

    newcomers: tuple[tuple[str, int], ...] = (("one more", 0),)
    core: JobQueueCore
    running: tuple[str, ...] = start(tuple)
    told: tuple[str, ...] = start(tuple)  # those in the queue whose submission has returned

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
        self.asked(request)

    # ==== Actions ====

    @action(who=lambda spec: spec.in_queue())
    def withdraw(self, who: str) -> None:
        self.note(self.withdrawn(who))

    @action(who=lambda spec: spec.running, fair=True)
    def end_job(self, who: str) -> None:
        place = self.running.index(who)
        self.running = self.running[:place] + self.running[place + 1 :]
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
        """As many workers are busy as jobs were granted one and have not ended (I1)."""
        return self.core.busy == len(self.running) <= WORKERS

    @invariant
    def what_is_accepted_is_bounded(self) -> bool:
        """Never more are accepted than there is room for, and whoever is accepted was told."""
        queue = self.core.queue
        accepted = [one.waiter for one in queue if not self.core.is_held_back(one)]
        return sorted(accepted) == list(self.told) and len(accepted) <= ROOM

    @invariant
    def nobody_is_held_back_beside_room(self) -> bool:
        """Whoever is held back finds no room (I3)."""
        return not self.core.held_back or self.core.accepted == ROOM

    @invariant
    def the_oldest_are_accepted(self) -> bool:
        """Nobody is accepted before somebody who came earlier."""
        held = [self.core.is_held_back(one) for one in self.core.queue]
        return held == sorted(held)

    @invariant
    def nobody_waits_out_of_service(self) -> bool:
        """Closed, nobody is held back, but the accepted may run; cancelled, nobody waits at all (C8)."""
        if self.core.cause == "cancelled":
            return not self.core.queue
        return self.core.cause is None or not self.core.held_back

    @invariant
    def nothing_ends_that_does_not_run(self) -> bool:
        """A job that ends without one that runs is refused, and leaves no trace."""
        return bool(self.running) or invariants.refuses(self.core, methodcaller("release", "x"))

    # ==== Step properties ====

    @step
    def closed_stays_closed(self, before: Any) -> bool:
        """Closed, it may still be cancelled; nothing else changes why it is out of service (C1)."""
        return before.core.cause in (None, self.core.cause) or self.core.cause == "cancelled"


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
    def who_stays_in_queue_is_served(self, who: str) -> tuple[bool, bool]:
        """If jobs end, whatever waits runs eventually, or is withdrawn, or is told."""
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
        """Whoever is granted a worker passes nobody of its level or of a smaller one (I2)."""
        for who in self.granted():
            queue = before.in_queue()
            older = queue[: queue.index(who)] if who in queue else queue
            if any(LEVELS[one] <= LEVELS[who] for one in older if one in self.in_queue()):
                return False
        return all(LEVELS[one] >= LEVELS[who] for who in self.granted() for one in self.in_queue())
