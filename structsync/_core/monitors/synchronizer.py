"""Rules over the entries of several monitors: the decisions of :class:`structsync.Synchronizer`.

A synchronizer adds to what an entry asks itself. *Disabling* joins its guard: it is asked after the
guard, while the monitor is free, and the grant follows in the same step. *Triggers* run in the step of
the grant, while all monitors that it concerns are taken, so nothing can come between. *Bonds* make
calls of several entries start together.

What a trigger changes may permit calls of other monitors. They are settled by whoever made the
transition, from a list (``settle_transitively`` in :mod:`.group`) and not by recursion: a chain of triggers may be
as long as the queue.

Rejected: a queue of the synchronizer's own, in which concerned calls wait. Calls that no rule concerns
would have to be compared with two queues, and the order of arrival in a monitor would be lost.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeVar, cast

from structsync._core.queue.arbiter import EndedForGood, Group, ToSettle
from structsync._core.queue.request import GRANTED, Request

if TYPE_CHECKING:
    from .entry import Call, EntryCore, Guard, Invocation, Trigger
    from .monitor import MonitorCore

T = TypeVar("T")


class Rules(Group):
    """What the synchronizers say of one entry, each with the synchronizer that says so."""

    __slots__ = ("arbiter", "bonds", "disabling", "entry", "home", "triggers")

    def __init__(self, entry: EntryCore, arbiter: MonitorCore, home: Any) -> None:
        self.entry: EntryCore = entry
        self.arbiter: MonitorCore = arbiter
        self.home: Any = home  # the monitor of the arbiter, opaque here; the shell's mark
        self.disabling: list[tuple[SynchronizerCore, Guard]] = []
        self.triggers: list[tuple[SynchronizerCore, Trigger]] = []
        self.bonds: list[tuple[SynchronizerCore, Sequence[Rules]]] = []

    @property
    def reads_request(self) -> bool:
        """Whether a call is disabled for what it is, and not by the state alone."""
        for _, guard in self.disabling:  # noqa: SIM110 - as in permit
            if guard.reads_request:
                return True
        return False

    def permit(self, invocation: Invocation) -> bool:
        """Return whether no synchronizer disables the invocation now."""
        for _, guard in self.disabling:  # noqa: SIM110 - a generator costs as much as a guard
            if guard.holds(invocation):
                return False
        return True

    # Calls that start together.

    def bonded(self) -> list[Rules]:
        """Return the entries whose calls start together with those of this one, itself first."""
        found: list[Rules] = [self]
        known: set[Rules] = {self}
        looked_at: set[int] = set()
        for one in found:  # it grows: groups that share an entry are one group
            for _, group in one.bonds:
                if id(group) not in looked_at:  # each member of a group names all of it
                    looked_at.add(id(group))
                    fresh = [each for each in group if each not in known]
                    known.update(fresh)
                    found += fresh
        return found

    def refuse(self) -> None:
        """Raise OutOfService if one of those that would have to start too never will."""
        for one in self.bonded():
            for cause in (one.arbiter.cause, one.entry.cause):
                if cause is not None:
                    raise EndedForGood(cause)

    def together(self, call: Request[Any]) -> list[Call] | None:
        """Return the calls that start with one that its monitor would grant now; None if one lacks."""
        calls = [cast("Call", call)]
        for one in self.bonded()[1:]:
            other = one.next_call()
            if other is None:
                return None
            calls.append(other)
        return calls

    def next_call(self) -> Call | None:
        """Return the call of this entry that its monitor would grant now, partners apart."""
        for request in self.arbiter.candidates():
            rules = request.claim.entry.rules
            try:
                admitted = self.arbiter.admits(request.claim)
            except BaseException:  # noqa: BLE001 - harmless: it is told when its own monitor is settled
                continue
            if admitted and rules is self:
                return cast("Call", request)
            if admitted and (rules is None or not rules.bonds):
                return None  # that one is next there, and is let in when its monitor is settled
        return None

    def start(self, call: Request[Any]) -> bool:
        """Grant a call that its monitor would grant now, and those that start with it; run the triggers.

        Where a trigger raises, all that would have started end with its error. Returns whether the
        call has ended.
        """
        calls = self.together(call)
        if calls is None:
            return False
        for one in calls:
            rules_of(one).arbiter.admit(one.claim)
        touched: dict[MonitorCore, ToSettle] = {}
        error = run_triggers(calls, touched)
        for one in calls:
            rules = rules_of(one)
            if one is not call:
                touched[rules.arbiter] = (rules, [one])
            if error is None:
                rules.arbiter.leave(one)
                one.status = GRANTED
            else:
                rules.arbiter.give_back(one.claim)
                rules.arbiter._break(one, error)
            one.left = []
        calls[0].left = list(touched.values())
        return True

    # As a group, of which an arbiter asks and which it tells.

    def consents(self, request: Request[Any]) -> bool:
        """Return whether all that have to start with it can."""
        return self.together(request) is not None

    def ended_with(self, request: Request[Any]) -> None:
        """Do nothing: whoever gives up leaves the others waiting for somebody else."""

    def left(self, request: Request[Any]) -> Sequence[ToSettle]:
        """Return what a call has left to settle in other monitors."""
        return getattr(request, "left", ())


def rules_of(call: Call) -> Rules:
    return cast(Rules, call.claim.entry.rules)


def run_triggers(
    calls: Sequence[Call], touched: dict[MonitorCore, ToSettle]
) -> BaseException | None:
    """Run the triggers of the calls up to the first that raises; take down whom they may permit."""
    for call in calls:
        for synchronizer, trigger in rules_of(call).triggers:
            for rules in synchronizer.concerned:
                touched.setdefault(rules.arbiter, (rules, []))
            try:
                trigger.run(call.claim)
            except BaseException as error:  # noqa: BLE001 - it is told to those who were to start (I6)
                return error
    return None


class SynchronizerCore:
    """The entries that one synchronizer concerns."""

    __slots__ = ("concerned",)

    def __init__(self) -> None:
        self.concerned: dict[Rules, None] = {}

    def disable(self, rules: Rules, guard: Guard) -> None:
        """Disable the calls of an entry where the guard holds."""
        self._concern(rules).disabling.append((self, guard))

    def trigger(self, rules: Rules, trigger: Trigger) -> None:
        """Run the trigger whenever a call of the entry starts."""
        self._concern(rules).triggers.append((self, trigger))

    def atomic(self, group: Sequence[Rules]) -> None:
        """Let calls of these entries start together only.

        Raises:
          ValueError: if two entries, or two that would be bonded by it, are of one monitor.
          OutOfService: if an entry or its monitor is closed.
        """
        bonded = dict.fromkeys(each for one in group for each in one.bonded())
        if len(bonded) < len(group) or len({one.arbiter for one in bonded}) < len(bonded):
            names = ", ".join(
                one.entry.name for one in [*group, *(each for each in bonded if each not in group)]
            )
            raise ValueError(
                f"entries that start together must be of different monitors, and two of {names} are "
                "not: only one call at a time can be inside a monitor"
            )
        for one in group:
            one.refuse()
        for one in group:
            self._concern(one).bonds.append((self, group))

    def _concern(self, rules: Rules) -> Rules:
        rules.entry.rules = rules
        rules.arbiter.rules[rules] = None
        self.concerned[rules] = None
        return rules

    def end(self) -> list[Rules]:
        """Take back all rules; return where something may be grantable now, once for each monitor."""
        concerned = list(self.concerned)
        self.concerned.clear()
        for rules in concerned:
            self._forget(rules.disabling)
            self._forget(rules.triggers)
            self._forget(rules.bonds)
            if not (rules.disabling or rules.triggers or rules.bonds):
                rules.entry.rules = None
                del rules.arbiter.rules[rules]
        return list({rules.arbiter: rules for rules in concerned}.values())

    def _forget(self, rules: list[tuple[SynchronizerCore, T]]) -> None:
        rules[:] = [one for one in rules if one[0] is not self]
