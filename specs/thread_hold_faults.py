"""Mistakes in what ends an errand, planted in ours: each must be found by the named property."""

from __future__ import annotations

from structsync._core.primitives.errand import ASKED, BEGUN, ENDED, ErrandCore
from structsync.checking import fault

from .thread_hold import ThreadHoldSpec


@fault(ThreadHoldSpec, "entering", refuted_by="a_thread_without_an_answer_holds_nothing")
class DroppedAndDone(ErrandCore):
    """What was interrupted before it began is begun all the same."""

    def begin(self) -> bool:
        self.stage = BEGUN
        return True


@fault(ThreadHoldSpec, "entering", refuted_by="a_thread_without_an_answer_holds_nothing")
class InterruptBeatsGrant(ErrandCore):
    """The thread is told at once, though the permit may be granted already (Martins 2020)."""

    def interrupt(self) -> bool:
        if self.stage == ENDED:
            return False
        self.interrupted = True
        self.stage = ENDED
        return True


@fault(ThreadHoldSpec, "entering", refuted_by="a_thread_without_an_answer_holds_nothing")
class ToldTwice(ErrandCore):
    """A thread that holds is told afterwards that it does not."""

    def interrupt(self) -> bool:
        told = super().interrupt()
        return told or self.stage == ENDED


@fault(ThreadHoldSpec, "entering", refuted_by="a_thread_that_waits_is_answered")
class InterruptedIsForgotten(ErrandCore):
    """A thread that is interrupted before its errand began gets no answer."""

    def interrupt(self) -> bool:
        super().interrupt()
        return False


@fault(ThreadHoldSpec, "leaving", refuted_by="what_a_thread_leaves_is_released")
class LeavingIsDropped(ErrandCore):
    """An interrupt drops even what must be done."""

    def __init__(self, *, must: bool = False) -> None:
        super().__init__()


@fault(ThreadHoldSpec, "leaving", refuted_by="what_was_granted_is_released_once")
class LeftTwice(ErrandCore):
    """The errand to leave is done as often as it arrives."""

    def begin(self) -> bool:
        if self.stage != ASKED:
            self.stage = BEGUN
        return True
