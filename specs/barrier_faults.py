"""Bugs that barriers of others had, planted in ours: each must be found by the named property."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from structsync._core.primitives.barrier import BarrierCore
from structsync._core.queue.arbiter import Arbiter
from structsync._core.queue.request import Request
from structsync.checking import fault

from ._planting import NewestFirst, withdraw_only
from .barrier import BarrierSpec

Ended = list[Request[Any]]


@fault(BarrierSpec, "core", refuted_by="each_party_has_a_number_of_its_own")
class NumberedOnArrival(BarrierCore):
    """A number is how many wait; after a cancellation it is given twice (B1: cpython#155233)."""

    def enqueue(self, claim: int | None, priority: int = 0, waiter: Any = None) -> Request[Any]:
        request = super().enqueue(claim, priority, waiter)
        request.claim = len(self.queue) - 1
        return request

    def release_round(self) -> Ended:
        self.places = self.parties
        return self.settle()


@fault(BarrierSpec, "core", refuted_by="a_round_is_let_in_as_a_whole")
class CancelledPartiesCount(BarrierCore):
    """A party that was cancelled is still counted, and the round goes in early (B2: tokio#6494)."""

    ghosts: int

    def __init__(self, parties: int) -> None:
        super().__init__(parties)
        self.ghosts = 0

    @property
    def full(self) -> bool:
        return len(self.queue) + self.ghosts >= self.parties

    def withdraw(self, request: Request[Any]) -> Ended | None:
        self.ghosts = min(self.ghosts + 1, 1)
        return super().withdraw(request)

    def release_round(self) -> Ended:
        self.ghosts = 0
        ended = super().release_round()
        self.places = 0
        return ended


@fault(BarrierSpec, "core", refuted_by="a_full_round_does_not_wait")
class OneTooMany(BarrierCore):
    """A round waits for one more than it has parties."""

    @property
    def full(self) -> bool:
        return len(self.queue) > self.parties


@fault(BarrierSpec, "core", refuted_by="grants_follow_the_queue")
class TheNewestGoesFirst(BarrierCore):
    """The parties of a round are numbered from the end."""

    def __init__(self, parties: int) -> None:
        super().__init__(parties)
        self.policy = NewestFirst()


@fault(BarrierSpec, "core", refuted_by="nobody_waits_out_of_service")
class DeserterTellsNobody(BarrierCore):
    """The round is broken, and the others of it wait for ever."""

    def leave_and_break(self, request: Request[Any], cause: Hashable) -> Ended | None:
        ended = withdraw_only(self, request)
        self.cause, self.broken = cause, True
        return ended


@fault(BarrierSpec, "core", refuted_by="a_deserter_takes_the_round_along")
class DeserterTellsOne(BarrierCore):
    """One of the others is told, and the round goes on without it."""

    def leave_and_break(self, request: Request[Any], cause: Hashable) -> Ended | None:
        if withdraw_only(self, request) is None:
            return None
        for other in self.waiting()[:1]:
            self._break(other, cause)
            return [other]
        return []


@fault(BarrierSpec, "core", refuted_by="a_deserter_breaks_the_round")
class DesertersJustLeave(BarrierCore):
    """A party that is cancelled leaves, and the others wait for one more, although that was not asked for."""

    def leave_and_break(self, request: Request[Any], cause: Hashable) -> Ended | None:
        return withdraw_only(self, request)


@fault(BarrierSpec, "core", refuted_by="nobody_deserts_twice")
class WhoeverPassedBreaksTheNextRound(BarrierCore):
    """A cancellation that comes after the grant breaks the round of others."""

    def leave_and_break(self, request: Request[Any], cause: Hashable) -> Ended | None:
        super().leave(request)
        return self.break_round(cause)


@fault(BarrierSpec, "core", refuted_by="a_close_is_for_good")
class BrokenCannotBeClosed(BarrierCore):
    """A close of a broken barrier is forgotten, and a reset opens it."""

    def end(self, cause: Hashable) -> Ended:
        return Arbiter.end(self, cause)


@fault(BarrierSpec, "core", refuted_by="closed_stays_closed")
class ResetOpensAClosedBarrier(BarrierCore):
    """A reset clears whatever kept people out (C1: tokio#8020)."""

    def _mend(self) -> None:
        self.broken, self.cause = False, None


@fault(BarrierSpec, "core", refuted_by="broken_is_not_closed")
class ClosedCountsAsBroken(BarrierCore):
    """What is broken cannot be closed any more."""

    def end(self, cause: Hashable) -> Ended:
        ended = Arbiter.end(self, cause)
        self.broken = True
        return ended


@fault(BarrierSpec, "core", refuted_by="a_reset_puts_it_into_service")
class ResetLeavesItBroken(BarrierCore):
    """Who waits is sent away, and no new round begins."""

    def reset(self, cause: Hashable) -> Ended:
        return Arbiter.end(self, cause)


@fault(BarrierSpec, "core", refuted_by="ended_requests_stay_ended")
class ADeserterIsStillInLine(BarrierCore):
    """Whoever deserts may do it again."""

    def leave_and_break(self, request: Request[Any], cause: Hashable) -> Ended | None:
        return []
