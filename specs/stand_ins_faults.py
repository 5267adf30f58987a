"""Bugs that rules over objects of several processes invite, planted in ours: each must be found by the named property."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from structsync._core.monitors.entry import Call, Invocation
from structsync._core.monitors.stages import Stage
from structsync._core.monitors.stand_in import Readiness, Review, StandInCore, Starting
from structsync._core.monitors.synchronizer import Rules
from structsync._core.queue.request import Request
from structsync.checking import fault

from ._stand_ins import Ended, StandIns
from .stand_ins import AlikeSpec, PartnersSpec, SwitchesSpec

# ==== What is decided ====


class NeedsNoReservation(Readiness):
    """Lets a call start as soon as it was passed on."""

    __slots__ = ()

    def allows(self, task: Hashable) -> bool:
        return True


@fault(SwitchesSpec, "core", refuted_by="a_start_is_no_surprise")
class StartsWithoutAReservation(StandIns):
    """A trigger has run for a call whose object is occupied where it is."""

    readiness = NeedsNoReservation


class LooksAtTheRulesOnce(StandInCore):
    """Believes that what was permitted when the host was asked is permitted when it has answered."""

    def admits(self, claim: Invocation) -> bool:
        is_ready = self.readiness.stages.get(claim.task) is Stage.READY
        return is_ready or super().admits(claim)


@fault(SwitchesSpec, "core", refuted_by="at_most_one_is_on")
class TheRulesAreNotLookedAtAgain(StandIns):
    """Two hosts are asked, both are ready, and both calls start although the first one disables the second."""

    monitor = LooksAtTheRulesOnce


class AsksAll(Readiness):
    """Asks the host of each call that waits."""

    __slots__ = ()

    def review(self) -> Review:
        asked = [task for task, stage in self.stages.items() if stage is Stage.PROPOSED]
        for task in asked:
            self.note(task, Stage.ASKED)
        return Review(asked, [])


@fault(SwitchesSpec, "core", refuted_by="one_is_asked_of_each_object")
@fault(SwitchesSpec, "core", refuted_by="an_object_is_reserved_for_its_call")
class ObjectsAreReservedForTheDisabled(StandIns):
    """An object is reserved for a call that is disabled, and bars its other calls."""

    readiness = AsksAll


class LetsNoneGo(Readiness):
    """Leaves an object reserved for a call that will not start now."""

    __slots__ = ()

    def review(self) -> Review:
        before = dict(self.stages)
        review = super().review()
        for task in review.let_go:
            self.note(task, before[task])
        return Review(review.asked, [])


@fault(SwitchesSpec, "core", refuted_by="every_question_is_answered")
@fault(SwitchesSpec, "core", refuted_by="a_reservation_ends")
class AReservationLastsForever(StandIns):
    """A host has reserved its object, another call has started meanwhile, and the host is never let go."""

    readiness = LetsNoneGo


class TakesNoOffer(Readiness):
    """Refuses a call that was set aside, and does not ask again."""

    __slots__ = ()

    def reserved(self, task: Hashable) -> bool:
        return self.stages[task] is Stage.ASKED and super().reserved(task)


@fault(SwitchesSpec, "core", refuted_by="what_no_rule_disables_starts")
class WhatIsSetAsideStaysSo(StandIns):
    """The object was occupied when its host was asked, and the call sleeps on."""

    readiness = TakesNoOffer


class LeavesItWhereItStands(Readiness):
    """Notes how a host stands, and has its call stand where it did."""

    __slots__ = ()
    stays: Stage

    def note(self, task: Hashable, stage: Stage) -> None:
        if stage is self.stays:
            self.stages[task] = stage
        else:
            super().note(task, stage)


class AsideAmongTheOthers(LeavesItWhereItStands):
    __slots__ = ()
    stays = Stage.ASIDE


@fault(AlikeSpec, "core", refuted_by="nothing_that_may_start_is_forgotten")
class ACallSetAsideStandsForAll(StandIns):
    """A host could not reserve its object, and those behind its call are not asked: it is the oldest of them."""

    readiness = AsideAmongTheOthers


class ReadyAmongTheOthers(LeavesItWhereItStands):
    __slots__ = ()
    stays = Stage.READY


@fault(AlikeSpec, "core", refuted_by="every_question_is_answered", max_trace=14)
@fault(AlikeSpec, "core", refuted_by="nothing_that_is_ready_waits", max_trace=14)
class AReadyCallIsNotLookedAt(StandIns):
    """A host has reserved its object, and an older call, whose host has not, is looked at in place of its own."""

    readiness = ReadyAmongTheOthers


class DecidesAnew(Readiness):
    """Decides anew each time, as if no host had been asked."""

    __slots__ = ()

    def _startable(self) -> Starting:
        starting: Starting = {}
        self.supposing = True
        for core in self.cores:
            self._add(core, core.candidates(), starting)
        self.supposing = False
        return starting


@fault(PartnersSpec, "core", refuted_by="what_no_rule_disables_starts")
class AVisitHasAnotherLetGo(StandIns):
    """A host is asked, and let go before it can answer, again and again."""

    readiness = DecidesAnew


class AsksOneOfTwo(Readiness):
    """Asks the host of one of those that start together."""

    __slots__ = ()

    def _startable(self) -> Starting:
        return {
            core: call
            for core, call in super()._startable().items()
            if call.claim.task != "joins there"
        }


@fault(PartnersSpec, "core", refuted_by="every_question_is_answered")
class APartnerIsNotAsked(StandIns):
    """One of two is ready, and its object is reserved for as long as the other is not asked."""

    readiness = AsksOneOfTwo


class StartsAlone(Rules):
    """Believes that each call is all of its group."""

    __slots__ = ()

    def together(self, call: Request[Any]) -> list[Call] | None:
        return [call] if isinstance(call, Call) else None


@fault(PartnersSpec, "core", refuted_by="calls_of_a_group_start_together")
class TheFirstDoesNotWait(StandIns):
    """One of two starts, and the other does when its host is ready: half a transfer."""

    rules = StartsAlone


# ==== What is done about it ====


@fault(SwitchesSpec, "core", refuted_by="one_inside_each_object")
class AnOccupiedObjectIsReserved(StandIns):
    """A host says that it is ready while a call is inside."""

    def is_free(self, at: int) -> bool:
        return True


@fault(SwitchesSpec, "core", refuted_by="nothing_that_may_start_is_forgotten")
class AWithdrawalChangesNothing(StandIns):
    """A call is withdrawn for which its object was to be reserved, and the next one sleeps on."""

    def withdraw(self, who: str) -> None:
        carry = self.carry
        self.carry = lambda ended: None  # type: ignore[method-assign]
        super().withdraw(who)
        self.carry = carry  # type: ignore[method-assign]


@fault(SwitchesSpec, "core", refuted_by="all_that_are_asked_are_told")
class AHostIsNotTold(StandIns):
    """What follows from a call that starts is decided, and the host that it concerns does not hear of it."""

    def carry(self, ended: Ended) -> None:
        before = {*self.asked}
        super().carry(ended)
        if self.started:
            self.asked &= before


@fault(SwitchesSpec, "core", refuted_by="triggers_run_for_calls_that_start")
class TriggersRunWhenAHostIsAsked(StandIns):
    """A call is counted when its host is asked, and it may be withdrawn before it starts."""

    def propose(self, who: str) -> None:
        super().propose(who)
        if who in self.asked:
            self.ran.append(who)
