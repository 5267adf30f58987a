"""A semaphore with priorities serves the smaller number first, and lets no request wait forever.

Among equals it is first come, first served, and the one that is next blocks the others, large or
small. What keeps an unimportant request from starving is *ageing*: a later arrival may pass it only
if it comes soon enough, fewer than `ageing` arrivals later for each level between the two.

State and actions are those of every semaphore (`permits.py`); beside them it is counted how often each that
waits was passed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from structsync._core.primitives.semaphore import SemaphoreCore
from structsync._core.queue.request import Request
from structsync.checking import action, invariant, leads_to, start, step

from .permits import PermitsSpec, may_request

# ==== Bounds ====

PERMITS = 2  # the largest claim
AGEING = 2  # the smallest at which one passes another: 1 leaves no room for a later arrival

# Two levels with several on each, so that there is an order among equals, and a third, so that a
# difference of two levels occurs. Of the large claims one is passed and the other passes.
WEIGHTS = {"a": 1, "b": 1, "c": 2, "d": 1, "e": 1, "f": 2}
LEVELS = {"a": 0, "b": 0, "c": 1, "d": 1, "e": 2, "f": 0}

# How many passes are too many. They are counted no further, so that the states are finite also for
# a semaphore that lets a request be passed forever.
TOO_MANY = {who: max(AGEING * level, 1) for who, level in LEVELS.items()}


def renumbered(values: Sequence[Any]) -> dict[Any, int]:
    """Return a number for each value, in the same order; the largest is -1, before all that are still to come."""
    return {value: number - len(values) for number, value in enumerate(sorted(values))}


class PrioritySpec(PermitsSpec):
    """A bounded semaphore; the level of each task is fixed."""

    weights = WEIGHTS
    symmetric = ("a", "b")  # of one weight and one level
    newcomers = ((1, 0), (1, 1), (1, 2), (2, 0))
    core: SemaphoreCore = start(
        SemaphoreCore, PERMITS, max_value=PERMITS, policy="priority", ageing=AGEING
    )
    # Those in the queue that were passed: one name for each grant to a task that came later.
    passed: tuple[str, ...] = start(tuple)

    def canonical(self, snapshot: Any) -> Any:
        """Forget how long ago those came that no newcomer can pass any more.

        The core has a ticket and a rank for each that waits, both counted from the next arrival's. They fall with each
        arrival, and so a request that is never served would make new states forever. But of tickets only the
        order matters; and a rank below 0 is before all that are still to come, so that of those, too, only the
        order matters.
        """
        state, cause, queue, waiting = snapshot.core
        new_tickets = renumbered([ticket for ticket, rank in waiting])
        new_ranks = renumbered([(rank, ticket) for ticket, rank in waiting if rank < 0])
        renewed = []
        for ticket, rank in waiting:
            new_rank = new_ranks[rank, ticket] if rank < 0 else rank
            renewed.append((new_tickets[ticket], new_rank))
        core = (state, cause, queue, tuple(renewed))
        return super().canonical(snapshot)._replace(core=core)

    def renamed(self, snapshot: Any, names: Mapping[str, str]) -> Any:
        found = super().renamed(snapshot, names)
        return found._replace(passed=tuple(sorted(found.passed)))

    # ==== Words that actions use ====

    def got(self, request: Request[Any]) -> None:
        super().got(request)
        queue = self.core.queue
        came_before = [one.waiter for one in queue if one.ticket < request.ticket]
        counted = [who for who in came_before if self.passed.count(who) < TOO_MANY[who]]
        self.passed = tuple(sorted((*self.passed, *counted)))

    def note(self, ended: Any) -> None:
        super().note(ended)
        gone = [one.waiter for one in self.ended]
        self.passed = tuple(who for who in self.passed if who not in gone)

    # ==== Actions ====

    @action(who=may_request)
    def request(self, who: str) -> None:
        self.submitted(self.core.submit(WEIGHTS[who], LEVELS[who], who))

    # ==== Invariants ====

    @invariant
    def bypass_is_bounded(self) -> bool:
        """Fewer than `ageing` later arrivals per level pass a request that waits, and none on the first level."""
        return all(self.passed.count(who) < TOO_MANY[who] for who in self.in_queue())

    # ==== Step properties ====

    @step
    def equals_are_served_in_queue(self, before: Any) -> bool:
        """No request is passed by a later arrival that is not more important (I2)."""
        still_waiting = self.in_queue()
        return all(
            LEVELS[granted] < LEVELS[passed]
            for granted in self.granted()
            for passed in before.ahead_of(granted)
            if passed in still_waiting
        )

    # ==== Temporal properties ====

    @leads_to(who=tuple(WEIGHTS))
    def a_queued_request_is_served(self, who: str) -> tuple[bool, bool]:
        """If permits are released, every task that waits is granted eventually, or withdraws, or is ended."""
        waits = who in self.in_queue()
        return waits, not waits
