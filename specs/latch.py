"""A latch falls to zero once, never below, and lets in all who wait.

Whoever is idle may wait; whoever waits may give up; somebody counts down (eventually: that is *fair*).
"""

from __future__ import annotations

from typing import Any

from structsync._core.primitives.latch import LatchCore
from structsync.checking import action, invariant, invariants, leads_to, start, terminal

from .common import FifoSpec

# ==== Bounds ====

COUNT = 4  # by ones and twos, with something left after the first
WAITERS = ("a", "b", "c", "d")  # some before the last count, some after; neighbours to be exchanged


class LatchSpec(FifoSpec):
    """A latch, and what was not counted down yet."""

    newcomers = ((0, 0),)
    core: LatchCore = start(LatchCore, COUNT)
    left: int = start(lambda: COUNT)

    def got(self, request: Any) -> None:
        """Waiting takes nothing."""

    # ==== Actions ====

    @action(
        who=lambda spec: [who for who in WAITERS if who not in spec.in_queue()],
        when=lambda spec, who: spec.core.cause is None,
    )
    def wait(self, who: str) -> None:
        self.asked(self.core.submit(0, waiter=who))

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
    def nobody_is_left(self) -> bool:
        """Closed, nothing more need happen; open it goes on, because whoever comes passes."""
        return self.core.cause == "closed"

    # ==== Invariants ====

    @invariant
    def the_count_is_what_is_left(self) -> bool:
        """Only counting down changes it."""
        return self.core.count == self.left

    @invariant
    def it_never_goes_below_zero(self) -> bool:
        """More than is left is refused, and leaves no trace."""
        return invariants.refuses(self.core, lambda core: core.release(self.left + 1))

    @invariant
    def it_is_open_exactly_at_zero(self) -> bool:
        """Whoever comes at zero passes, and nobody does before."""
        return self.core.cause is not None or self.core.admissible(0) == (self.left == 0)

    # ==== Temporal properties ====

    @leads_to(who=WAITERS)
    def who_waits_is_let_in(self, who: str) -> tuple[bool, bool]:
        """If it is counted down, whoever waits is let in eventually, or gives up, or is told."""
        waits = who in self.in_queue()
        return waits, not waits
