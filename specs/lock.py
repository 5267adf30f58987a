"""A lock has one owner at a time, goes to whoever waits longest, and breaks if its owner disappears.

The claim is the claimant itself: the lock knows who owns it, and refuses whoever owns it or waits
for it already. A task may disappear (trio calls this the exit of a task): if it owns the lock, the
lock is out of service and everybody in the queue is told; if it has a position in the queue (from `request()`),
the place is given up.
"""

from __future__ import annotations

from operator import methodcaller
from typing import Any

from structsync._core.primitives.lock import LockCore
from structsync._core.queue.request import Request
from structsync.checking import action, invariant, invariants, leads_to, start, step

from .common import FifoSpec

# ==== Bounds ====

# One owner and five in the queue: the head, the tail, and a middle in which neighbours can be exchanged.
TASKS = ("a", "b", "c", "d", "e", "f")


def idle(spec: LockSpec) -> list[str]:
    busy = {*spec.owners, *spec.in_queue()}
    return [who for who in TASKS if who not in busy] if spec.core.cause is None else []


def waiting(spec: LockSpec) -> list[str]:
    return spec.in_queue()


class LockSpec(FifoSpec):
    """A lock, and who was granted it and has not released it."""

    symmetric = TASKS[:4]  # all six could be exchanged, in thirty times as many ways
    forgets = ("gone",)
    newcomers = (("one more", 0),)
    core: LockCore = start(LockCore)
    owners: tuple[str, ...] = start(tuple)  # who was granted the lock and has not released it
    why: str | None = start(lambda: None)  # by what has happened, why it is out of service

    # Who disappeared in the queue just now; forgotten like `ended`.
    gone: tuple[str, ...] = start(tuple)

    # ==== Words that actions use ====

    def got(self, request: Request[Any]) -> None:
        self.owners += (request.waiter,)

    # ==== Actions ====

    @action(who=idle)
    def request(self, who: str) -> None:
        self.asked(self.core.submit(who, waiter=who))

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
        """Whoever was granted the lock is who it says owns it."""
        return self.core.owner == (self.owners[-1] if self.owners else None)

    @invariant
    def nobody_has_two_claims(self) -> bool:
        """Whoever owns the lock or waits for it is refused, and that leaves no trace (I7)."""
        return all(
            invariants.refuses(self.core, methodcaller("enqueue", who))
            for who in (*self.owners, *self.in_queue())
        )

    @invariant
    def only_the_owner_releases(self) -> bool:
        """Whoever does not own the lock cannot release it, and the attempt leaves no trace."""
        return all(
            invariants.refuses(self.core, methodcaller("release", who))
            for who in ("one more", *self.in_queue()[:1])
        )

    @invariant
    def it_is_broken_exactly_if_its_owner_disappeared(self) -> bool:
        """The first thing that takes it out of service counts: a close, or the end of its owner (C5)."""
        return self.core.cause == self.why

    # ==== Step properties ====

    @step
    def whoever_disappears_leaves_the_queue(self, before: Any) -> bool:
        """A position in the queue is given up when the task that has it disappears, and the task is told."""
        told = [one.waiter for one in self.ended]
        return all(who in told and who not in self.in_queue() for who in self.gone)

    @step
    def whoever_left_may_come_back(self, before: Any) -> bool:
        """Only those in the queue are taken for those in the queue.

        Of each step, because a state that is restored knows it anyway.
        """
        return self.core.pending == {one.claim: one for one in self.core.queue}

    # ==== Temporal properties ====

    @leads_to(who=TASKS)
    def who_stays_in_queue_is_served(self, who: str) -> tuple[bool, bool]:
        """If owners release it, whoever waits owns it eventually, or gives up, or is told."""
        waits = who in self.in_queue()
        return waits, not waits
