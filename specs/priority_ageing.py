"""The other two ways to age: a hundred arrivals for each level, which is the default, and never.

* With the default a request is passed by at most ninety-nine later arrivals one level more important. That it
  *happens* so often is checked too (`every_action_fires`, of `be_passed_as_often_as_may_be`).
* With strict levels (`ageing=None`) the smaller number always goes first, and a task that is less important may
  wait forever.

State and actions are those of every semaphore (`permits.py`).
"""

from __future__ import annotations

from typing import Any

from structsync._core.primitives.semaphore import SemaphoreCore
from structsync._core.queue.request import Request
from structsync.checking import action, invariant, leads_to, start, step

from .permits import PermitsSpec, may_request

# ==== Bounds ====

DEFAULT = 100

# For one permit: one holds it, one waits on the same level, and one that is less important is passed.
LEVELS = {"late": 1, "x": 0, "y": 0}

# Strict: two levels with an order among equals, and a third.
STRICT = {"a": 0, "b": 0, "c": 1, "d": 2, "e": 2}
MOST_IMPORTANT = ("a", "b")


class DefaultAgeingSpec(PermitsSpec):
    """One task that waits, and others that come, are served and come again; and how often they passed it."""

    weights = dict.fromkeys(LEVELS, 1)
    newcomers = ((1, 0), (1, 1))
    core: SemaphoreCore = start(SemaphoreCore, 1, max_value=1, policy="priority")
    passed: int = start(int)  # how often a later arrival was granted; not counted above the default

    def canonical(self, snapshot: Any) -> Any:
        """Forget how long ago a task came that no newcomer can pass any more.

        What is said of each that waits is its position and its rank, both counted from the next arrival's.
        """
        state, cause, queue, waiting = snapshot.core
        ranks = [rank for _, rank in waiting]
        first = -len(ranks)
        renewed = tuple([(at, max(rank, at)) for at, rank in enumerate(ranks, start=first)])
        return snapshot._replace(ended=(), core=(state, cause, queue, renewed))

    # ==== Words that actions use ====

    def got(self, request: Request[Any]) -> None:
        super().got(request)
        late = [one for one in self.core.queue if one.waiter == "late"]
        passes = any(one.ticket < request.ticket for one in late)
        self.passed = min(self.passed + passes, DEFAULT)

    def note(self, ended: Any) -> None:
        super().note(ended)
        if "late" not in self.in_queue():
            self.passed = 0

    # ==== Actions ====

    @action(who=may_request)
    def request(self, who: str) -> None:
        self.submitted(self.core.submit(1, LEVELS[who], who))

    @action(who=lambda spec: ["late"] if "late" in spec.in_queue() else [])
    def withdraw(self, who: str) -> None:
        """Withdraw the one that is passed; the others do not, or they would age it without passing it."""
        self.note(self.withdrawn(who))

    @action(when=lambda spec: spec.passed == DEFAULT - 1)
    def be_passed_as_often_as_may_be(self) -> None:
        self.note([])

    # ==== Invariants ====

    @invariant
    def fewer_than_a_hundred_pass(self) -> bool:
        """Fewer than a hundred later arrivals one level more important pass a request that waits."""
        return self.passed < DEFAULT

    # ==== Temporal properties ====

    @leads_to(who=tuple(LEVELS))
    def a_queued_request_is_served(self, who: str) -> tuple[bool, bool]:
        """If permits are released, every task that waits is granted eventually, or withdraws, or is ended."""
        waits = who in self.in_queue()
        return waits, not waits


class StrictLevelsSpec(PermitsSpec):
    """A semaphore whose levels never age; the level of each task is fixed."""

    weights = dict.fromkeys(STRICT, 1)
    newcomers = ((1, 0), (1, 1), (1, 2))
    core: SemaphoreCore = start(SemaphoreCore, 1, max_value=1, policy="priority", ageing=None)

    # ==== Actions ====

    @action(who=may_request)
    def request(self, who: str) -> None:
        self.submitted(self.core.submit(1, STRICT[who], who))

    # ==== Step properties ====

    @step
    def the_most_important_is_granted(self, before: Any) -> bool:
        """Of those that wait the smallest number goes first, and of equals the oldest (I2)."""
        waited, granted = before.in_queue(), self.granted()
        arrived = [*waited, *[who for who in granted if who not in waited]]
        could_be_next = [who for who in arrived if who in granted or who in self.in_queue()]
        in_order = sorted(could_be_next, key=lambda who: (STRICT[who], arrived.index(who)))
        return granted == in_order[: len(granted)]

    # ==== Temporal properties ====

    @leads_to(who=MOST_IMPORTANT)
    def the_most_important_are_served(self, who: str) -> tuple[bool, bool]:
        """If permits are released, a task that has the smallest number gets one eventually, or withdraws, or is ended."""
        waits = who in self.in_queue()
        return waits, not waits
