"""Bugs that rules over several objects invite, planted in ours: each must be found by the named property."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, cast

from structsync._core.monitors.entry import Call, Invocation
from structsync._core.monitors.monitor import MonitorCore
from structsync._core.monitors.synchronizer import Rules
from structsync._core.queue.request import Request, ToSettle
from structsync.checking import fault

from ._planting import move_to_the_end
from ._switches import CALLS, Ended, Switches
from .synchronizer import SynchronizerSpec
from .synchronizer_requests import RequestsSpec, Store


@fault(SynchronizerSpec, "core", refuted_by="nothing_that_may_start_waits")
class OtherMonitorsAreNotConsidered(Switches):
    """A trigger permits a call of another monitor, and that sleeps on (H1: a wakeup is lost)."""

    def carried(self, ended: Ended) -> Ended:
        started = [each for one in ended if one.group for each in one.group.to_settle(one)]
        return [*ended, *(one for _, already in started for one in already)]


@fault(SynchronizerSpec, "core", refuted_by="a_call_permitted_again_and_again_is_served")
@fault(SynchronizerSpec, "core", refuted_by="nothing_that_may_start_waits")
class TheEndOfTheBlockConsidersNoCall(Switches):
    """The rules have ended, and the calls that they disabled sleep on."""

    def end(self) -> Ended:
        self.lit = 0
        self.synchronizer.end()
        return []


class ConsidersNewcomers(MonitorCore):
    """Evaluates rules for a call that arrives, and never again."""

    settling = False

    def settle(self, candidates: Iterable[Request[Invocation]] | None = None) -> Ended:
        self.settling = candidates is None
        ended = super().settle(candidates)
        self.settling = False
        return ended

    def admits(self, claim: Invocation) -> bool:
        return self.owner is None and (self.settling or claim.entry.permits(claim))


@fault(SynchronizerSpec, "core", refuted_by="at_most_one_is_on")
class DisabledOnArrivalOnly(Switches):
    """A call is not looked at again when it is its turn: another has started between the look and the start."""

    monitor = ConsidersNewcomers


class TakesTheOccupied(Rules):
    """Takes the oldest call of a partner, whether or not that may start."""

    __slots__ = ()

    def next_call(self) -> Call | None:
        queue = self.arbiter.queue
        return cast("Call | None", next((one for one in queue if one.group is self), None))


@fault(SynchronizerSpec, "core", refuted_by="one_inside_each_monitor")
class AGroupEntersWhereATaskIs(Switches):
    """Calls start together although a task is inside the monitor of one of them."""

    rules = TakesTheOccupied


class StartsAlone(Rules):
    """Believes that each call is all of its group."""

    __slots__ = ()

    def together(self, call: Request[Any]) -> list[Call] | None:
        return [cast("Call", call)]


@fault(SynchronizerSpec, "core", refuted_by="calls_of_a_group_start_together")
class TheFirstDoesNotWait(Switches):
    """One of two starts, and the other does when it can: half a transfer."""

    rules = StartsAlone


@fault(SynchronizerSpec, "core", refuted_by="triggers_run_for_calls_that_start")
class TriggersRunOnArrival(Switches):
    """The call is counted before it starts, and it may be cancelled before it does."""

    def arrive(self, who: str) -> Ended:
        ended = super().arrive(who)
        rules = self.entries[CALLS[who]].rules
        if rules is not None and not ended:
            self.ran.append(who)
        return ended


@fault(SynchronizerSpec, "core", refuted_by="a_call_whose_trigger_raises_does_not_start")
class TheErrorOfATriggerIsSwallowed(Switches):
    """A trigger raises, and the call starts all the same."""

    def _raise(self) -> None:
        pass


class TellsTwice(Rules):
    """Names the other monitors of a group twice."""

    __slots__ = ()

    def to_settle(self, request: Request[Any]) -> Sequence[ToSettle]:
        return [*super().to_settle(request)] * 2


@fault(SynchronizerSpec, "core", refuted_by="a_call_ends_once")
class AGroupIsToldTwice(Switches):
    """The second of those that start together is told by both monitors."""

    rules = TellsTwice


@fault(SynchronizerSpec, "core", refuted_by="no_call_waits_for_what_is_closed")
class ClosingTellsItsOwnMonitorOnly(Switches):
    """A call that was to start together with one of a closed entry hangs."""

    def close_join(self, at: int) -> Ended:
        return self.carried(self.monitors[at].remove(self.entries[at, "join"], "closed"))


@fault(SynchronizerSpec, "core", refuted_by="positions_are_kept")
class PositionsAreNotKept(Switches):
    """When a task withdraws, the next in that queue goes to its end (O2: gh-76915)."""

    def withdraw(self, who: str) -> Ended:
        ended = super().withdraw(who)
        monitor = self.monitors[CALLS[who][0]]
        for request in list(monitor.queue)[:1]:
            move_to_the_end(monitor, request)
        return ended


class HeadBlocks(MonitorCore):
    """Looks at the oldest call alone."""

    def candidates(self) -> Iterator[Request[Invocation]]:
        return iter(list(self.queue)[:1])


@fault(SynchronizerSpec, "core", refuted_by="what_no_rule_concerns_is_served")
class DisabledCallsBlockTheQueue(Switches):
    """A call that no rule concerns waits behind one that is disabled."""

    monitor = HeadBlocks


# ==== Rules that look at the call ====


class EvaluatesTheOldest(Rules):
    """Takes the answer for the oldest call of an entry for that of all."""

    __slots__ = ()

    @property
    def reads_request(self) -> bool:
        return False


@fault(RequestsSpec, "core", refuted_by="nothing_that_may_start_waits")
class OnlyTheOldestOfAnEntryIsEvaluated(Store):
    """A younger call that is not disabled waits behind an older one that is."""

    rules = EvaluatesTheOldest


class EvaluatesForTheEntry(Rules):
    """Permits a call where any call of its entry is permitted."""

    __slots__ = ()

    def permit(self, invocation: Invocation) -> bool:
        others = [one for one in self.arbiter.queue if one.claim.entry is self.entry]
        return any(super(EvaluatesForTheEntry, self).permit(one.claim) for one in others)


@fault(RequestsSpec, "core", refuted_by="no_call_takes_what_is_not_there")
class OneAnswersForAll(Store):
    """Where one call of an entry is permitted, all are."""

    rules = EvaluatesForTheEntry
