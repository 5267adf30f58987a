"""A latch falls to zero once, never below, and lets in all tasks that wait.

The state is the core, with its queue, and how much is left to count down. A task that is not in the queue may wait for
zero; one that waits may withdraw. The latch is counted down, by one or by several, and may be closed, for good. What
is promised to a task that waits needs counting down, by one, until zero (a *fair* action).
"""

from __future__ import annotations

from typing import Any

from structsync._core.primitives.latch import LatchCore
from structsync.checking import action, invariant, leads_to, start, terminal

from .common import FifoSpec

# ==== Bounds ====

COUNT = 4  # by ones, by twos and at once: the first count may leave something, or nothing
WAITERS = ("a", "b", "c", "d")  # some wait before the last count, some come after it


class LatchSpec(FifoSpec):
    """A latch, and how much is left to count down."""

    newcomers = ((0, 0),)
    core: LatchCore = start(LatchCore, COUNT)
    left: int = start(lambda: COUNT)

    def got(self, request: Any) -> None:
        """Change nothing: a task that is let in takes nothing."""

    # ==== Actions ====

    @action(
        who=lambda spec: [who for who in WAITERS if who not in spec.in_queue()],
        when=lambda spec, who: spec.core.cause is None,
    )
    def wait(self, who: str) -> None:
        self.submitted(self.core.submit(0, waiter=who))

    @action(who=lambda spec: spec.in_queue())
    def withdraw(self, who: str) -> None:
        self.note(self.withdrawn(who))

    @action(when=lambda spec: spec.left > 0, fair=True)
    def count_down(self) -> None:
        self.count_down_by(1)

    @action(number=(2, 4), when=lambda spec, number: spec.left >= number)
    def count_down_by(self, number: int) -> None:
        self.left -= number
        self.note(self.core.release(number))

    @action(when=lambda spec: spec.core.cause is None)
    def close(self) -> None:
        self.note(self.core.end("closed"))

    # ==== Where it may end ====

    @terminal
    def no_task_is_left(self) -> bool:
        """Once it is closed nothing more need happen; at zero tasks may still come, and are let in."""
        return self.core.cause == "closed"

    # ==== Invariants ====

    @invariant
    def the_count_is_what_is_left(self) -> bool:
        """The count of the latch is what is left to count down; nothing else changes it."""
        return self.core.count == self.left

    @invariant
    def it_never_goes_below_zero(self) -> bool:
        """Counting down by more than is left is refused, and leaves no trace."""
        return self.refuses("release", self.left + 1)

    @invariant
    def it_is_open_exactly_at_zero(self) -> bool:
        """Until it is closed, a task that comes is let in at once exactly if the count is zero."""
        is_closed = self.core.cause is not None
        return is_closed or self.core.admissible(0) == (self.left == 0)

    # ==== Temporal properties ====

    @leads_to(who=WAITERS)
    def every_waiter_continues(self, who: str) -> tuple[bool, bool]:
        """If it is counted down, a task that waits is let in eventually, or withdraws, or is ended."""
        waits = who in self.in_queue()
        return waits, not waits
