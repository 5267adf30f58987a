"""A lock has one owner at a time, goes to the task that waits longest, and breaks if its owner disappears.

The state is the core, with its queue, and which task was granted the lock and has not released it. An idle task may
request the lock, a task that waits may withdraw, and the lock may be closed, for good. The claim is the task itself:
the lock knows which task owns it, and refuses one that owns it or waits for it already. A task may *disappear* (trio
calls this the exit of a task): if it owns the lock, the lock is broken and all tasks in the queue are told; if it has
a position in the queue (from `request()`), that is withdrawn.

What is promised to a task that waits needs owners that release the lock (a *fair* action).
"""

from __future__ import annotations

from typing import Any

from structsync._core.primitives.lock import LockCore
from structsync._core.queue.request import Request
from structsync.checking import action, invariant, leads_to, start, step

from .common import FifoSpec

# ==== Bounds ====

# One owner and five in the queue: the head, the tail, and three between them, whose order could be wrong.
TASKS = ("a", "b", "c", "d", "e", "f")


def idle(spec: LockSpec) -> list[str]:
    busy = {*spec.owners, *spec.in_queue()}
    return [who for who in TASKS if who not in busy] if spec.core.cause is None else []


def waiting(spec: LockSpec) -> list[str]:
    return spec.in_queue()


class LockSpec(FifoSpec):
    """A lock, and which task was granted it and has not released it."""

    # All six can be exchanged; but a state is compared with all its renamings, thirty times as many.
    symmetric = TASKS[:4]
    forgets = ("gone",)
    newcomers = (("one more", 0),)
    core: LockCore = start(LockCore)
    owners: tuple[str, ...] = start(tuple)  # granted the lock, and have not released it
    why: str | None = start(lambda: None)  # by what has happened: "broken", "closed", or neither

    # The task in the queue that the last action made disappear; forgotten like `ended`.
    gone: tuple[str, ...] = start(tuple)

    # ==== Words that actions use ====

    def got(self, request: Request[Any]) -> None:
        self.owners += (request.waiter,)

    # ==== Actions ====

    @action(who=idle)
    def request(self, who: str) -> None:
        self.submitted(self.core.submit(who, waiter=who))

    @action(who=waiting)
    def withdraw(self, who: str) -> None:
        self.note(self.withdrawn(who))

    @action(who=owners, fair=True)
    def release(self, who: str) -> None:
        self.owners = tuple([one for one in self.owners if one != who])
        self.note(self.core.release(who))

    @action(who=owners)
    def owner_disappears(self, who: str) -> None:
        self.why = self.why or "broken"
        self.note(self.core.owner_exited(who, "broken"))

    @action(who=waiting)
    def waiter_disappears(self, who: str) -> None:
        self.gone = (who,)
        self.note(self.core.owner_exited(who, "broken"))

    @action(when=lambda spec: spec.core.cause is None)
    def close(self) -> None:
        self.why = "closed"
        self.note(self.core.end("closed"))

    # ==== Invariants ====

    @invariant
    def one_owner_at_a_time(self) -> bool:
        """At most one task was granted the lock and has not released it."""
        return len(self.owners) <= 1

    @invariant
    def the_lock_knows_its_owner(self) -> bool:
        """The owner that the lock names is the task that was granted it, and none if no task was."""
        expected = self.owners[-1] if self.owners else None
        return bool(self.core.owner == expected)

    @invariant
    def no_task_has_two_claims(self) -> bool:
        """A task that owns the lock or waits for it is refused another claim, without a trace (I7)."""
        return all(self.refuses("enqueue", who) for who in (*self.owners, *self.in_queue()))

    @invariant
    def only_the_owner_releases(self) -> bool:
        """A task that does not own the lock cannot release it, and the attempt leaves no trace."""
        do_not_own_it = ("one more", *self.in_queue()[:1])
        return all(self.refuses("release", who) for who in do_not_own_it)

    @invariant
    def it_is_broken_exactly_if_its_owner_disappeared(self) -> bool:
        """It is broken if its owner disappeared, closed if it was closed, and what came first counts (C5)."""
        return self.core.cause == self.why

    # ==== Step properties ====

    @step
    def a_task_that_exits_leaves_the_queue(self, before: Any) -> bool:
        """When a task in the queue disappears, its request ends and its position is gone."""
        ended = [request.waiter for request in self.ended]
        return all(who in ended and who not in self.in_queue() for who in self.gone)

    @step
    def a_task_that_left_may_come_back(self, before: Any) -> bool:
        """The index of the tasks that wait has those in the queue and no others, which are not refused then.

        A step property, because restoring a state computes this anew.
        """
        return self.core.pending == {request.claim: request for request in self.core.queue}

    # ==== Temporal properties ====

    @leads_to(who=TASKS)
    def a_queued_request_is_served(self, who: str) -> tuple[bool, bool]:
        """If owners release it, a task that waits owns it eventually, or withdraws, or is ended."""
        waits = who in self.in_queue()
        return waits, not waits
