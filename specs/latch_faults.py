"""Bugs of counting down, planted in ours: each must be found by the named property."""

from __future__ import annotations

from typing import Any

from structsync._core.primitives.latch import LatchCore
from structsync._core.queue.request import Request
from structsync.checking import fault

from ._planting import grant
from .latch import LatchSpec

Ended = list[Request[Any]]


@fault(LatchSpec, "core", refuted_by="the_count_is_what_is_left")
class WaitingCounts(LatchCore):
    """Each task that is let in counts the latch down."""

    def admit(self, claim: int) -> None:
        self.count -= 1


@fault(LatchSpec, "core", refuted_by="it_never_goes_below_zero")
class TooMuchIsForgiven(LatchCore):
    """Counting down by more than is left leaves zero."""

    def discharge(self, claim: int) -> None:
        self.count = max(self.count - claim, 0)


@fault(LatchSpec, "core", refuted_by="it_is_open_exactly_at_zero")
class OpensEarly(LatchCore):
    """The latch is open when one is left to count down."""

    def admits(self, claim: int) -> bool:
        return self.count <= 1


@fault(LatchSpec, "core", refuted_by="nothing_grantable_waits")
class OneIsLetIn(LatchCore):
    """The last count wakes one of the tasks that wait."""

    def release(self, claim: int) -> Ended:
        self.discharge(claim)
        return [grant(self, one) for one in self.waiting()[:1] if self.count == 0]


@fault(LatchSpec, "core", refuted_by="every_waiter_continues")
class NoTaskIsLetIn(LatchCore):
    """Counting down to zero wakes none of the tasks that wait."""

    def release(self, claim: int) -> Ended:
        self.discharge(claim)
        return []


@fault(LatchSpec, "core", refuted_by="no_deadlock")
class ZeroIsTheEnd(LatchCore):
    """At zero it is closed, and tasks that come later are refused."""

    def release(self, claim: int) -> Ended:
        ended = super().release(claim)
        if self.count == 0:
            self.cause = "over"
        return ended
