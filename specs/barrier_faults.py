"""Bugs that barriers of others had, planted in ours: each must be found by the named property."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

from structsync import Status
from structsync._core.primitives.barrier import BarrierCore
from structsync._core.queue.arbiter import Arbiter
from structsync._core.queue.request import Request
from structsync.checking import fault

from ._planting import NewestFirst, withdraw_only
from .barrier import BarrierSpec

Ended = list[Request[Any]]
Action = Callable[[], Hashable] | None


@fault(BarrierSpec, "core", refuted_by="each_party_has_a_number_of_its_own")
class NumberedOnArrival(BarrierCore):
    """A number is how many wait; after a cancellation it is given twice (B1: cpython#155233)."""

    def enqueue(self, claim: int | None, *where: Any, **whose: Any) -> Request[Any]:
        request = super().enqueue(claim, *where, **whose)
        request.claim = len(self.queue) - 1
        return request

    def release_round(self) -> Ended:
        self.places = self.parties
        return self.settle()


@fault(BarrierSpec, "core", refuted_by="a_party_that_stays_passes_if_others_come_and_stay")
class OneTooManyIsWaitedFor(BarrierCore):
    """A round waits for one more than there are left to come."""

    @property
    def full(self) -> bool:
        return len(self.queue) > self.parties + 2


@fault(BarrierSpec, "core", refuted_by="a_round_is_let_in_as_a_whole")
class CancelledPartiesCount(BarrierCore):
    """A task that was cancelled is still counted, and the round is let in early (B2: tokio#6494)."""

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


@fault(BarrierSpec, "core", refuted_by="a_round_is_let_in_as_a_whole")
class TheLastBreaksTheRound(BarrierCore):
    """A round that becomes full is sent away instead of let in."""

    def release_round(self) -> Ended:
        return self.reset("full")


@fault(BarrierSpec, "core", refuted_by="a_full_round_does_not_wait")
class ARoundIsNeverFull(BarrierCore):
    """No round counts as full, so none is let in."""

    @property
    def full(self) -> bool:
        return False


@fault(BarrierSpec, "core", refuted_by="grants_follow_the_queue")
class TheNewestGoesFirst(BarrierCore):
    """The parties of a round are numbered from the end."""

    def __init__(self, parties: int) -> None:
        super().__init__(parties)
        self.policy = NewestFirst()


@fault(BarrierSpec, "core", refuted_by="nothing_waits_when_closed_or_broken")
class DeserterTellsNoTask(BarrierCore):
    """The round is broken, and its other tasks wait forever."""

    def leave_and_break(self, request: Request[Any], cause: Hashable) -> Ended | None:
        ended = withdraw_only(self, request)
        self.cause, self.broken = cause, True
        return ended


@fault(BarrierSpec, "core", refuted_by="a_deserter_takes_the_round_along")
class DeserterTellsOne(BarrierCore):
    """One of the others is told, and the rest of the round waits on."""

    def leave_and_break(self, request: Request[Any], cause: Hashable) -> Ended | None:
        if withdraw_only(self, request) is None:
            return None
        for other in self.waiting()[:1]:
            return [self.end_with(other, Status.BROKEN, cause)]
        return []


@fault(BarrierSpec, "core", refuted_by="a_deserter_takes_the_round_along")
class DeserterJustLeaves(BarrierCore):
    """A task that deserts is only withdrawn, and its round waits on."""

    def leave_and_break(self, request: Request[Any], cause: Hashable) -> Ended | None:
        return withdraw_only(self, request)


@fault(BarrierSpec, "core", refuted_by="an_ended_request_cannot_desert")
class DesertsAfterTheRound(BarrierCore):
    """A task that is cancelled after its round breaks the next one."""

    def leave_and_break(self, request: Request[Any], cause: Hashable) -> Ended | None:
        withdraw_only(self, request)
        return self.break_round(cause)


@fault(BarrierSpec, "core", refuted_by="it_is_usable_until_it_is_broken_or_closed")
class BrokenCannotBeClosed(BarrierCore):
    """A broken barrier says that it is broken after a close too, and a reset opens it again."""

    def end(self, cause: Hashable) -> Ended:
        return Arbiter.end(self, cause)


@fault(BarrierSpec, "core", refuted_by="closed_stays_closed")
class ResetOpensAClosedBarrier(BarrierCore):
    """A reset clears every cause, a close too (C1: tokio#8020)."""

    def _mend(self) -> None:
        self.broken, self.cause = False, None


@fault(BarrierSpec, "core", refuted_by="broken_is_not_closed")
class ClosedCountsAsBroken(BarrierCore):
    """A closed barrier says that it is broken, so that a reset would open it."""

    def end(self, cause: Hashable) -> Ended:
        ended = Arbiter.end(self, cause)
        self.broken = True
        return ended


@fault(BarrierSpec, "core", refuted_by="a_reset_makes_it_usable")
class ResetLeavesItBroken(BarrierCore):
    """The tasks that wait are sent away, and no new round begins."""

    def reset(self, cause: Hashable) -> Ended:
        return Arbiter.end(self, cause)


@fault(BarrierSpec, "core", refuted_by="ended_requests_stay_ended")
class ADeserterIsStillInTheQueue(BarrierCore):
    """A task that deserts stays in the queue."""

    def leave_and_break(self, request: Request[Any], cause: Hashable) -> Ended | None:
        return []


@fault(BarrierSpec, "core", refuted_by="a_party_that_left_is_not_counted")
class APartyThatLeftIsWaitedFor(BarrierCore):
    """A party that leaves is not waited for in this round, but in the next ones."""

    def remove_party(self, action: Action = None) -> Ended:
        self.parties -= 1
        ended = self.complete_round(action) if self.queue and self.full else []
        self.parties += 1
        return ended


@fault(BarrierSpec, "core", refuted_by="a_party_that_left_is_not_counted")
class NoTaskIsLeftAndOneWaits(BarrierCore):
    """When all parties have left, a task that comes waits forever."""

    def refuse_impossible(self, claim: int | None) -> None:
        pass


@fault(BarrierSpec, "core", refuted_by="a_full_round_does_not_wait")
class LeavingLetsNoTaskIn(BarrierCore):
    """The last party that the round waits for leaves, and the others wait forever."""

    def remove_party(self, action: Action = None) -> Ended:
        self.parties -= 1
        return []


@fault(BarrierSpec, "core", refuted_by="the_action_runs_once_a_round_while_all_are_inside")
class TheActionRunsTooLate(BarrierCore):
    """The action runs when tasks of the round may be on their way already."""

    def complete_round(self, action: Action = None) -> Ended:
        ended = self.release_round()
        if action is not None:
            action()
        return ended


@fault(BarrierSpec, "core", refuted_by="the_action_runs_once_a_round_while_all_are_inside")
class TheActionRunsForEachParty(BarrierCore):
    """The action runs as often as there are parties."""

    def complete_round(self, action: Action = None) -> Ended:
        for _ in list(self.queue)[1:]:
            if action is not None:
                action()
        return super().complete_round(action)


@fault(BarrierSpec, "core", refuted_by="the_action_runs_once_a_round_while_all_are_inside")
class LeavingRunsNoAction(BarrierCore):
    """A round that is completed by a party that leaves is let in without its action."""

    def remove_party(self, action: Action = None) -> Ended:
        return super().remove_party()


@fault(BarrierSpec, "core", refuted_by="a_round_whose_action_fails_goes_nowhere")
class AFailedActionIsForgotten(BarrierCore):
    """The round is let in as if its action had not failed."""

    def complete_round(self, action: Action = None) -> Ended:
        if action is not None:
            action()
        return self.release_round()


@fault(BarrierSpec, "core", refuted_by="a_round_is_let_in_as_a_whole")
class ALeavingPartyCountsForTwo(BarrierCore):
    """The round is let in before all of its tasks have come."""

    def remove_party(self, action: Action = None) -> Ended:
        self.parties -= 1
        is_full = len(self.queue) >= max(self.parties - 1, 1)
        return self.complete_round(action) if self.queue and is_full else []
