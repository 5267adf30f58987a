"""Locks and capacity limiters whose queues are served by priority, or by who is eligible.

A claim on either is as large as any other, so with "eligible" the oldest always is: it is the same queue as first
come, first served, and refines the same abstract queue. With "priority" the smaller number goes first, and
of equals the oldest; here levels never age (`priority.py` is about those that do).
"""

from __future__ import annotations

from typing import Any

from structsync._core.primitives.capacity_limiter import CapacityLimiterCore
from structsync._core.primitives.lock import LockCore
from structsync._core.queue.request import Request
from structsync.checking import action, invariant, leads_to, start, step

from .common import FifoSpec, QueueSpec

# ==== Bounds ====

# One owner and four in the queue, or two borrowers and three: on each level of two a first and a second.
LEVELS = {"a": 0, "b": 0, "c": 1, "d": 1, "e": 0}
MOST_IMPORTANT = ("a", "b", "e")
TOKENS = 2


class HoldersSpec(QueueSpec):
    """Something that claimants hold, and who was granted it and has not given it back."""

    abstract = True

    newcomers = (("one more", 0), ("another", 1))
    core: Any
    most: int  # how many may hold it
    holders: tuple[str, ...] = start(tuple)  # in order of names

    # ==== Words that actions use ====

    def got(self, request: Request[Any]) -> None:
        self.holders = tuple(sorted((*self.holders, request.waiter)))

    def idle(self) -> list[str]:
        busy = {*self.holders, *self.in_queue()}
        return [who for who in LEVELS if who not in busy] if self.core.cause is None else []

    # ==== Actions ====

    @action(who=idle)
    def request(self, who: str) -> None:
        self.asked(self.core.submit(who, LEVELS[who], who))

    @action(who=lambda spec: spec.in_queue())
    def withdraw(self, who: str) -> None:
        self.note(self.withdrawn(who))

    @action(who=holders, fair=True)
    def release(self, who: str) -> None:
        self.holders = tuple([one for one in self.holders if one != who])
        self.note(self.core.release(who))

    @action(when=lambda spec: spec.core.cause is None)
    def close(self) -> None:
        self.note(self.core.end("closed"))

    # ==== Invariants ====

    @invariant
    def no_more_hold_it_than_may(self) -> bool:
        """As many as there is room for, and each of them once (I1)."""
        return len(self.holders) == len({*self.holders}) <= self.most

    # ==== Temporal properties ====

    @leads_to(who=MOST_IMPORTANT)
    def the_most_important_are_served(self, who: str) -> tuple[bool, bool]:
        """If holders give back, whoever has the smallest number is granted eventually, or is told."""
        waits = who in self.in_queue()
        return waits, not waits


class ByLevelSpec(HoldersSpec):
    """The smaller number first."""

    abstract = True

    @step
    def the_most_important_is_granted(self, before: Any) -> bool:
        """Of those who wait the smallest number goes first, and of equals the oldest (I2)."""
        waited = before.in_queue()
        came = [*waited, *[who for who in self.granted() if who not in waited]]
        left = [who for who in came if who in (*self.granted(), *self.in_queue())]
        ranked = sorted(left, key=lambda who: (LEVELS[who], came.index(who)))
        return ranked[: len(self.granted())] == self.granted()


class PriorityLockSpec(ByLevelSpec):
    """A lock with strict levels."""

    most = 1
    core: LockCore = start(LockCore, policy="priority", ageing=None)


class PriorityLimiterSpec(ByLevelSpec):
    """A limiter with strict levels."""

    most = TOKENS
    core: CapacityLimiterCore = start(CapacityLimiterCore, TOKENS, policy="priority", ageing=None)


class EligibleLockSpec(HoldersSpec, FifoSpec):
    """A lock that would pass over whoever is not eligible, and there is nobody."""

    most = 1
    core: LockCore = start(LockCore, policy="eligible")


class EligibleLimiterSpec(HoldersSpec, FifoSpec):
    """A limiter that would pass over whoever is not eligible, and there is nobody."""

    most = TOKENS
    core: CapacityLimiterCore = start(CapacityLimiterCore, TOKENS, policy="eligible")
