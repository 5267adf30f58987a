"""Locks and capacity limiters whose queues are served with the policy "priority" or "eligible".

The state is the core, with its queue, and which tasks were granted the lock or a token and have not released it. An
idle task may request it, with its level; a task that waits may withdraw; the core may be closed, for good. What is
promised to tasks that wait needs holders that release (a *fair* action).

A claim on either is as large as any other, so with "eligible" the oldest always fits if one does: it is the same
queue as first come, first served, and refines the same abstract queue. With "priority" the smaller number goes first,
and of equals the oldest; here levels never age (`priority.py` is about those that do), so that only the tasks of the
smallest number are sure to be served.
"""

from __future__ import annotations

from typing import Any

from structsync._core.primitives.capacity_limiter import CapacityLimiterCore
from structsync._core.primitives.lock import LockCore
from structsync._core.queue.request import Request
from structsync.checking import action, invariant, leads_to, start, step

from .common import FifoSpec, QueueSpec

# ==== Bounds ====

# One owner and four in the queue, or two borrowers and three in it: of two levels, two tasks on each at least.
LEVELS = {"a": 0, "b": 0, "c": 1, "d": 1, "e": 0}
MOST_IMPORTANT = ("a", "b", "e")
TOKENS = 2


class HoldersSpec(QueueSpec):
    """A lock or a limiter, and which tasks were granted it and have not released it."""

    abstract = True

    newcomers = (("one more", 0), ("another", 1))
    core: Any
    most: int  # how many tasks may hold it at once
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
        self.submitted(self.core.submit(who, LEVELS[who], who))

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
        """No more tasks hold it than may, and each holds it once (I1)."""
        return len(self.holders) == len({*self.holders}) <= self.most

    # ==== Temporal properties ====

    @leads_to(who=MOST_IMPORTANT)
    def the_most_important_are_served(self, who: str) -> tuple[bool, bool]:
        """If holders release, a task of the smallest number is granted eventually, or withdraws, or is ended."""
        waits = who in self.in_queue()
        return waits, not waits


class ByLevelSpec(HoldersSpec):
    """The smaller number goes first."""

    abstract = True

    @step
    def the_most_important_is_granted(self, before: Any) -> bool:
        """Those granted are those of the smallest numbers among all that waited, of equals the oldest (I2)."""
        granted, waits_on = self.granted(), self.in_queue()
        waited = [who for who in before.in_queue() if who in granted or who in waits_on]
        newcomers = [who for who in granted if who not in waited]
        # sorted() keeps the order of arrival among equals.
        by_level = sorted([*waited, *newcomers], key=lambda who: LEVELS[who])
        return by_level[: len(granted)] == granted


class PriorityLockSpec(ByLevelSpec):
    """A lock with strict levels."""

    most = 1
    core: LockCore = start(LockCore, policy="priority", ageing=None)


class PriorityLimiterSpec(ByLevelSpec):
    """A limiter with strict levels."""

    most = TOKENS
    core: CapacityLimiterCore = start(CapacityLimiterCore, TOKENS, policy="priority", ageing=None)


class EligibleLockSpec(HoldersSpec, FifoSpec):
    """A lock with the policy "eligible": it would pass over claims that do not fit, and there are none."""

    most = 1
    core: LockCore = start(LockCore, policy="eligible")


class EligibleLimiterSpec(HoldersSpec, FifoSpec):
    """A limiter with the policy "eligible": it would pass over claims that do not fit, and there are none."""

    most = TOKENS
    core: CapacityLimiterCore = start(CapacityLimiterCore, TOKENS, policy="eligible")
