"""The other two ways to age: a hundred arrivals for each level, which is the default, and never.

* With the default a later arrival on the next level passes somebody at most ninety-nine times. That it *happens* so
  often is checked too (`every_action_fires`, of `be_passed_as_often_as_may_be`).
* With strict levels (`ageing=None`) the smaller number always goes first, and whoever is less important may
  wait forever.
"""

from __future__ import annotations

from typing import Any

from structsync._core.primitives.semaphore import SemaphoreCore
from structsync._core.queue.request import Request
from structsync.checking import action, invariant, leads_to, start, step

from .permits import PermitsSpec, may_ask

# ==== Bounds ====

DEFAULT = 100

# One permit; one holds it, one waits on the level of importance, and one that is less important is passed.
LEVELS = {"late": 1, "x": 0, "y": 0}

# Strict: two levels with an order among equals, and a third.
STRICT = {"a": 0, "b": 0, "c": 1, "d": 2, "e": 2}
MOST_IMPORTANT = ("a", "b")


class DefaultAgeingSpec(PermitsSpec):
    """One who waits, and others who come, are served and come again."""

    weights = dict.fromkeys(LEVELS, 1)
    newcomers = ((1, 0), (1, 1))
    core: SemaphoreCore = start(SemaphoreCore, 1, max_value=1, policy="priority")
    passed: int = start(int)  # how often somebody who came later was granted; no need to count on

    def canonical(self, snapshot: Any) -> Any:
        """Forget how long ago somebody came whom no newcomer can pass any more.

        What is said of each that waits is its position and its rank, both counted from the next arrival's.
        """
        state, cause, queue, ranks = snapshot.core
        ranks = tuple(
            (n - len(ranks), max(rank, n - len(ranks))) for n, (_, rank) in enumerate(ranks)
        )
        return snapshot._replace(ended=(), core=(state, cause, queue, ranks))

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

    @action(who=may_ask)
    def request(self, who: str) -> None:
        self.asked(self.core.submit(1, LEVELS[who], who))

    @action(who=lambda spec: ["late"] if "late" in spec.in_queue() else [])
    def withdraw(self, who: str) -> None:
        """Give up: not the others, whose arrivals would age it without passing it."""
        self.note(self.withdrawn(who))

    @action(when=lambda spec: spec.passed == DEFAULT - 1)
    def be_passed_as_often_as_may_be(self) -> None:
        self.note([])

    # ==== Invariants ====

    @invariant
    def fewer_than_a_hundred_pass(self) -> bool:
        """Later arrivals on the next level pass somebody less often than the default says."""
        return self.passed < DEFAULT

    # ==== Temporal properties ====

    @leads_to(who=tuple(LEVELS))
    def who_stays_in_queue_is_served(self, who: str) -> tuple[bool, bool]:
        """If permits are given back, whoever waits is granted eventually, or gives up, or is told."""
        waits = who in self.in_queue()
        return waits, not waits


class StrictLevelsSpec(PermitsSpec):
    """A semaphore whose levels never age; everybody's level is fixed."""

    weights = dict.fromkeys(STRICT, 1)
    newcomers = ((1, 0), (1, 1), (1, 2))
    core: SemaphoreCore = start(SemaphoreCore, 1, max_value=1, policy="priority", ageing=None)

    # ==== Actions ====

    @action(who=may_ask)
    def request(self, who: str) -> None:
        self.asked(self.core.submit(1, STRICT[who], who))

    # ==== Step properties ====

    @step
    def the_most_important_is_granted(self, before: Any) -> bool:
        """Of those who wait the smallest number goes first, and of equals the oldest (I2)."""
        came = [
            *before.in_queue(),
            *[who for who in self.granted() if who not in before.in_queue()],
        ]
        left = [who for who in came if who in (*self.granted(), *self.in_queue())]
        ranked = sorted(left, key=lambda who: (STRICT[who], came.index(who)))
        return ranked[: len(self.granted())] == self.granted()

    # ==== Temporal properties ====

    @leads_to(who=MOST_IMPORTANT)
    def the_most_important_are_served(self, who: str) -> tuple[bool, bool]:
        """If permits are given back, whoever has the smallest number gets one eventually, or is told."""
        waits = who in self.in_queue()
        return waits, not waits
