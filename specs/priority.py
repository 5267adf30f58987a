"""A semaphore with priorities serves the smaller number first, and lets nobody wait forever.

Among equals it is first come, first served, and the one who is next blocks the others, large or
small. What keeps an unimportant request from starving is *ageing*: a later arrival may pass it only
if it comes soon enough, fewer than `ageing` arrivals later for each level between the two.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from structsync._core.primitives.semaphore import SemaphoreCore
from structsync._core.queue.request import Request
from structsync.checking import action, invariant, leads_to, start, step

from .permits import PermitsSpec, may_ask

# ==== Bounds ====

PERMITS = 2  # the largest claim
AGEING = 2  # the smallest at which anybody passes anybody: 1 leaves no room for a later arrival

# Two levels with several on each, so that there is an order among equals, and a third, so that a
# difference of two levels occurs. Of the large claims one is passed and the other passes.
WEIGHTS = {"a": 1, "b": 1, "c": 2, "d": 1, "e": 1, "f": 2}
LEVELS = {"a": 0, "b": 0, "c": 1, "d": 1, "e": 2, "f": 0}

# How many passes are too many. Nobody needs to count further, and then the states are finite also
# for a semaphore that lets somebody be passed forever.
TOO_MANY = {who: max(AGEING * level, 1) for who, level in LEVELS.items()}


def in_order(values: Sequence[Any]) -> dict[Any, int]:
    """Number values by their order, so that the largest is -1: before all who are still to come."""
    return {value: number - len(values) for number, value in enumerate(sorted(values))}


class PrioritySpec(PermitsSpec):
    """A bounded semaphore; everybody's level is fixed."""

    weights = WEIGHTS
    symmetric = ("a", "b")  # of one weight and one level
    newcomers = ((1, 0), (1, 1), (1, 2), (2, 0))
    core: SemaphoreCore = start(
        SemaphoreCore, PERMITS, max_value=PERMITS, policy="priority", ageing=AGEING
    )
    # Those in the queue that were passed: one name for each grant to somebody who came later.
    passed: tuple[str, ...] = start(tuple)

    def canonical(self, snapshot: Any) -> Any:
        """Forget how long ago somebody came whom no newcomer can pass any more.

        The core has a ticket and a rank for each that waits, both counted from those of the next arrival
        (on level 0). A rank below 0 comes before all who are still to come, and it falls with each of them: only
        the order of such ranks matters, as only the order of tickets does. Without this a request
        that is never served would make new states forever.
        """
        state, cause, queue, waiting = snapshot.core
        tickets = in_order([ticket for ticket, _ in waiting])
        ranks = in_order([(rank, ticket) for ticket, rank in waiting if rank < 0])
        waiting = tuple(
            (tickets[ticket], ranks.get((rank, ticket), rank)) for ticket, rank in waiting
        )
        return super().canonical(snapshot)._replace(core=(state, cause, queue, waiting))

    def renamed(self, snapshot: Any, names: Mapping[str, str]) -> Any:
        found = super().renamed(snapshot, names)
        return found._replace(passed=tuple(sorted(found.passed)))

    # ==== Words that actions use ====

    def got(self, request: Request[Any]) -> None:
        super().got(request)
        queue = self.core.queue
        earlier = [one.waiter for one in queue if one.ticket < request.ticket]
        counted = [who for who in earlier if self.passed.count(who) < TOO_MANY[who]]
        self.passed = tuple(sorted((*self.passed, *counted)))

    def note(self, ended: Any) -> None:
        super().note(ended)
        gone = [one.waiter for one in self.ended]
        self.passed = tuple(who for who in self.passed if who not in gone)

    # ==== Actions ====

    @action(who=may_ask)
    def request(self, who: str) -> None:
        self.asked(self.core.submit(WEIGHTS[who], LEVELS[who], who))

    # ==== Invariants ====

    @invariant
    def bypass_is_bounded(self) -> bool:
        """Fewer than `ageing` later arrivals per level pass anybody."""
        return all(self.passed.count(who) < max(AGEING * LEVELS[who], 1) for who in self.in_queue())

    # ==== Step properties ====

    @step
    def equals_are_served_in_queue(self, before: Any) -> bool:
        """Nobody is passed by a later arrival that is not more important (I2)."""
        for who in self.granted():
            queue = before.in_queue()
            older = queue[: queue.index(who)] if who in queue else queue
            still = [one for one in older if one in self.in_queue()]
            if any(LEVELS[one] <= LEVELS[who] for one in still):
                return False
        return True

    # ==== Temporal properties ====

    @leads_to(who=tuple(WEIGHTS))
    def who_stays_in_queue_is_served(self, who: str) -> tuple[bool, bool]:
        """If permits are given back, whoever waits is granted eventually, or gives up, or is told."""
        waits = who in self.in_queue()
        return waits, not waits
