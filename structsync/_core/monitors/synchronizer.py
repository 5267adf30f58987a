"""Rules over the entries of several monitors: the decisions of :class:`structsync.Synchronizer`.

A synchronizer adds to what an entry itself demands. *Disabling* joins its guard: it is evaluated after
the guard, while the monitor is free, and the grant follows in the same step. *Triggers* run in the step
of the grant, while all monitors that it concerns are taken, so nothing can come between. *Bonds* make
calls of several entries start together.

What a trigger changes may permit calls of other monitors. They are settled by the caller that made the
transition, from a worklist (``settle_transitively`` in :mod:`structsync._core.queue.group`) and not by
recursion: a chain of triggers may be as long as the queue.

Rejected: a queue of the synchronizer's own, in which concerned calls wait. Calls that no rule concerns
would have to be compared with two queues, and the order of arrival in a monitor would be lost.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Hashable, Sequence
from typing import Any, TypeVar, cast

from structsync._core.queue.arbiter import EndedForGood
from structsync._core.queue.request import BROKEN, QueueRef, Request, ToSettle
from structsync._core.queue.user_code import UserCodeFailed

from .entry import Call, EntryCore, EntryRules, Guard, Invocation, Trigger
from .monitor import MonitorCore

T = TypeVar("T")


class Rules(EntryRules):
    """What the synchronizers state of one entry, each with the synchronizer that states it."""

    __slots__ = ("arbiter", "bonds", "disabling", "entry", "primitive", "triggers")

    def __init__(self, entry: EntryCore, arbiter: MonitorCore, primitive: Any) -> None:
        self.entry: EntryCore = entry
        self.arbiter: MonitorCore = arbiter
        self.primitive: Any = primitive  # the monitor of the arbiter, opaque here; the shell's mark
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

    def queues(self) -> Sequence[QueueRef]:
        """Return the queue of the monitor."""
        return (self,)

    # Calls that start together.

    def bonded(self, ended: Collection[SynchronizerCore] = ()) -> list[Rules]:
        """Return the entries whose calls start together with those of this one, itself first.

        Once those synchronizers have ended.
        """
        found: list[Rules] = [self]
        known: set[Rules] = {self}
        looked_at: set[int] = set()
        worklist = deque(found)
        while worklist:
            for synchronizer, group in worklist.popleft().bonds:
                # Each member of a group names all of it.
                if id(group) not in looked_at and synchronizer not in ended:
                    looked_at.add(id(group))
                    fresh = [each for each in group if each not in known]
                    known.update(fresh)
                    found += fresh
                    worklist += fresh  # groups that share an entry are one group
        return found

    def refuse(self) -> None:
        """Raise EndedForGood if one of those that would have to start too never will."""
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
            except UserCodeFailed:  # harmless: the caller gets it when its own monitor is settled
                continue
            if admitted and rules is self:
                return cast("Call", request)
            if admitted and (rules is None or not cast(Rules, rules).bonds):
                return None  # that one is next there, and is let in when its monitor is settled
        return None

    # As a group, of which an arbiter evaluates the consent and which it has grant itself.

    def consents(self, request: Request[Any]) -> bool:
        """Return whether all that have to start with the call can; note which they are."""
        calls = self.together(request)
        if calls is not None:
            calls[0].partners = calls
        return calls is not None

    def grant(self, request: Request[Any]) -> None:
        """Run the triggers of the calls that start together, and grant them.

        If a trigger raises, all that would have started end with an error instead.
        """
        calls = cast(Call, request).partners
        for one in calls:  # taken, so that no trigger can let another call in
            rules_of(one).arbiter.admit(one.claim)
        failed = run_triggers(calls)
        for one in calls:
            arbiter = rules_of(one).arbiter
            if failed is None:
                arbiter.grant(one)  # what is admitted to a monitor twice is inside once
            else:
                arbiter.discharge(one.claim)
                arbiter.end_with(one, BROKEN, failed.error_of(one))
            one.partners = one.to_settle = ()
        concerned = dict.fromkeys(each for one in calls for each in rules_of(one).synchronizers())
        calls[0].to_settle = [
            *((rules_of(one), (one,)) for one in calls[1:]),
            *((synchronizer, ()) for synchronizer in concerned),
        ]

    def synchronizers(self) -> Sequence[SynchronizerCore]:
        """Return those that have triggers here, which may have changed what they look at."""
        return [synchronizer for synchronizer, _ in self.triggers]

    def ended_with(self, request: Request[Any]) -> None:
        """Do nothing: a call that gives up leaves the others waiting."""

    def to_settle(self, request: Request[Any]) -> Sequence[ToSettle]:
        """Return what a call that has ended left to settle in other monitors."""
        return getattr(request, "to_settle", ())


def rules_of(call: Call) -> Rules:
    return cast(Rules, call.claim.entry.rules)


class TriggerFailed:
    """The trigger of one call raised, and those that were to start with it end too."""

    def __init__(self, call: Call, error: BaseException) -> None:
        self.call = call
        self.error = error

    def error_of(self, call: Call) -> BaseException:
        """Return the error of a call: an object of its own, since each is raised in another task."""
        if call is self.call:
            return self.error
        error = RuntimeError(
            f"the trigger of {self.call.claim.entry.name} raised {self.error!r}, and this call of "
            f"{call.claim.entry.name} was to start together with that one"
        )
        error.__cause__ = self.error
        return error


def run_triggers(calls: Sequence[Call]) -> TriggerFailed | None:
    """Run the triggers of the calls up to the first that raises."""
    for call in calls:
        for _, trigger in rules_of(call).triggers:
            try:
                trigger.run(call.claim)
            except UserCodeFailed as failed:  # for those that were to start (I6)
                return TriggerFailed(call, failed.error)
    return None


class SynchronizerCore:
    """The entries that one synchronizer concerns."""

    __slots__ = ("concerned", "entered_by")

    def __init__(self) -> None:
        self.concerned: dict[Rules, None] = {}
        self.entered_by: Hashable = None  # the task whose block it is; None outside

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
          EndedForGood: if an entry or its monitor is closed.
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

    def queues(self) -> list[Rules]:
        """Return where its triggers may permit something, once for each monitor."""
        return list({rules.arbiter: rules for rules in self.concerned}.values())

    def end(self) -> list[Rules]:
        """Take back all rules; return where something may be grantable now, once for each monitor."""
        concerned, queues = list(self.concerned), self.queues()
        self.concerned.clear()
        for rules in concerned:
            self._forget(rules.disabling)
            self._forget(rules.triggers)
            self._forget(rules.bonds)
            if not (rules.disabling or rules.triggers or rules.bonds):
                rules.entry.rules = None
                del rules.arbiter.rules[rules]
        return queues

    def _forget(self, rules: list[tuple[SynchronizerCore, T]]) -> None:
        rules[:] = [one for one in rules if one[0] is not self]
