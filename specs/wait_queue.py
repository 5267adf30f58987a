"""A wait queue wakes the oldest waiters, and keeps no wake for tasks that come later.

It is a condition without a lock. A task that is idle may wait, and a task that waits may withdraw; a task wakes
one (eventually: that is *fair*), several or all; a task may close the queue. The state is the queue alone.
"""

from __future__ import annotations

from typing import Any

from structsync._core.primitives.wait_queue import WaitQueueCore
from structsync.checking import action, invariant, leads_to, start, step

from .common import FifoSpec

# ==== Bounds ====

# A wake of two among six leaves four: so an order that is wrong shows among those woken and those left.
WAITERS = ("a", "b", "c", "d", "e", "f")


def idle(spec: WaitQueueSpec) -> list[str]:
    queue = spec.in_queue()
    return [who for who in WAITERS if who not in queue] if spec.core.cause is None else []


def waiting(spec: WaitQueueSpec) -> list[str]:
    return spec.in_queue()


class WaitQueueSpec(FifoSpec):
    """A wait queue, and how many the last wake was for."""

    symmetric = WAITERS[
        :4
    ]  # all six can be exchanged, but that would be thirty times as many renamings
    forgets = ("wanted",)
    newcomers = ((None, 0),)
    core: WaitQueueCore = start(WaitQueueCore)
    wanted: int = start(int)  # how many the last action was to wake; forgotten like `ended`

    # ==== Actions ====

    @action(who=idle)
    def wait(self, who: str) -> None:
        self.submitted(self.core.submit(None, waiter=who))

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
        """A wake is for the present waiters: a task that comes later is not admitted by it (N12)."""
        return not self.core.admits(None) and not self.core.admissible(None)

    # ==== Step properties ====

    @step
    def a_wake_wakes_as_many_as_it_says(self, before: Any) -> bool:
        """`wake(n)` grants n that wait, or all if there are fewer; no other action grants any."""
        return len(self.granted()) == min(self.wanted, len(before.in_queue()))

    # ==== Temporal properties ====

    @leads_to(who=WAITERS)
    def a_queued_task_is_woken(self, who: str) -> tuple[bool, bool]:
        """If tasks keep waking, every task that waits is woken eventually, or withdraws, or is ended."""
        waits = who in self.in_queue()
        return waits, not waits
