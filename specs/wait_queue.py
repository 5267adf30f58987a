"""A wait queue wakes the oldest of those who wait, and keeps no wake for those who come later.

It is a condition without a lock. Whoever is idle may wait; whoever waits may give up; somebody wakes
one (eventually: that is *fair*), several or all; somebody may close the queue.
"""

from __future__ import annotations

from typing import Any

from structsync._core.primitives.wait_queue import WaitQueueCore
from structsync.checking import action, invariant, leads_to, start, step

from .common import FifoSpec

# ==== Bounds ====

# A wake of two among six: some before them, some after, on each side neighbours to be exchanged.
WAITERS = ("a", "b", "c", "d", "e", "f")


def idle(spec: WaitQueueSpec) -> list[str]:
    queue = spec.in_queue()
    return [who for who in WAITERS if who not in queue] if spec.core.cause is None else []


def waiting(spec: WaitQueueSpec) -> list[str]:
    return spec.in_queue()


class WaitQueueSpec(FifoSpec):
    """A wait queue, and how many the last wake was for."""

    symmetric = WAITERS[:4]  # all six could be exchanged, in thirty times as many ways
    forgets = ("wanted",)
    newcomers = ((None, 0),)
    core: WaitQueueCore = start(WaitQueueCore)
    wanted: int = start(int)  # for how many the last action was a wake; forgotten like `ended`

    # ==== Actions ====

    @action(who=idle)
    def wait(self, who: str) -> None:
        self.asked(self.core.submit(None, waiter=who))

    @action(who=waiting)
    def withdraw(self, who: str) -> None:
        self.note(self.withdrawn(who))

    @action(fair=True)
    def wake(self) -> None:
        self.wanted = 1
        self.note(self.core.wake(1))

    @action(number=(0, 2))
    def wake_several(self, number: int) -> None:
        self.wanted = number
        self.note(self.core.wake(number))

    @action
    def wake_all(self) -> None:
        self.wanted = len(WAITERS)
        self.note(self.core.wake(None))

    @action(when=lambda spec: spec.core.cause is None)
    def close(self) -> None:
        self.note(self.core.end("closed"))

    # ==== Invariants ====

    @invariant
    def no_wake_is_kept(self) -> bool:
        """A wake is for those who wait now: whoever comes later is not admitted (N12)."""
        return not self.core.admits(None) and not self.core.admissible(None)

    # ==== Step properties ====

    @step
    def a_wake_wakes_as_many_as_it_says(self, before: Any) -> bool:
        """`wake(n)` ends n waits, or all if there are fewer, and nothing else does."""
        return len(self.granted()) == min(self.wanted, len(before.in_queue()))

    # ==== Temporal properties ====

    @leads_to(who=WAITERS)
    def who_stays_in_queue_is_woken(self, who: str) -> tuple[bool, bool]:
        """If somebody keeps waking, whoever waits is woken eventually, or gives up, or is told."""
        waits = who in self.in_queue()
        return waits, not waits
