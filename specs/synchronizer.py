"""Rules over several monitors hold in every order of calls, and no call that may start is left waiting.

Of two switches, each in a monitor of its own, at most one is on: turning on is disabled while one is,
and triggers keep count. A trigger may raise. Two other calls, one at each monitor, start together. One
call is concerned by no rule. Each task makes one call; a call that waits may withdraw, one that is inside leaves
eventually (that is *fair*). The rules begin and end while calls wait, and one of those that start together may be
closed. The state is the two monitors with their rules, and which calls are inside.

What is promised is about *starts*: what the bodies do after that is theirs. A call that is disabled waits for others,
perhaps forever. But if the rules end again and again, and those inside leave while there are none, each starts
eventually. That is *strong* fairness, because both are possible again and again, and neither all the time.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from structsync import Status
from structsync._core.queue.request import Request
from structsync.checking import Spec, action, implies, invariant, invariants, leads_to, start, step

from ._switches import CALLS, Defect, Switches, granted

# ==== Bounds ====

# The calls are in `_switches.py`: of each kind of rule one, and of those that must meet one at each of
# two monitors. A third monitor is settled as the second is, from the same list.


def monitor_of(who: str) -> int:
    return CALLS[who][0]


def entry_of(who: str) -> str:
    return CALLS[who][1]


def idle(spec: SynchronizerSpec) -> list[str]:
    busy = {*spec.inside, *spec.waiting()}
    return [who for who in CALLS if who not in busy and not spec.is_closed(who)]


def waiting(spec: SynchronizerSpec) -> list[str]:
    return spec.waiting()


class SynchronizerSpec(Spec):
    """Two monitors under a synchronizer, and which calls were let in and have not left."""

    forgets = ("ended",)
    core: Switches = start(Switches)
    inside: tuple[str, ...] = start(tuple)  # whose calls were let in and have not left
    ended: tuple[Request[Any], ...] = start(tuple)  # what the last action ended; then forgotten

    # ==== Words that actions use ====

    def note(self, ended: Iterable[Request[Any]]) -> None:
        """Record what the core ended, wherever that was."""
        self.ended = tuple(ended)
        self.inside = tuple(sorted((*self.inside, *self.started())))

    def waiting(self) -> list[str]:
        return [*self.core.queue(0), *self.core.queue(1)]

    def is_closed(self, who: str) -> bool:
        """Return whether the entry that a task calls is closed, or one that has to start together with it."""
        own = CALLS[who]
        together = [(0, "join"), (1, "join")] if self.core.ruled else []
        needed = together if own in together else [own]
        return any(self.core.entries[one].cause is not None for one in needed)

    def may_start(self, who: str) -> bool:
        """Return whether a task that waits could start now, by a naive reading of the rules."""
        if any(monitor_of(one) == monitor_of(who) for one in self.inside):
            return False
        if self.core.ruled and entry_of(who) == "on":
            return self.core.lit == 0
        if self.core.ruled and entry_of(who) == "join":
            return {"joins here", "joins there"} <= {*self.waiting()} and not self.inside
        return True

    def started(self) -> list[str]:
        """Return whose calls the last action let in."""
        return granted(list(self.ended))

    def describe(self) -> Mapping[str, object]:
        queues = {f"queue {at}": ", ".join(self.core.queue(at)) or "-" for at in range(2)}
        inside = ", ".join(self.inside) or "-"
        return queues | {"inside": inside, "lit": self.core.lit, "ruled": self.core.ruled}

    # ==== Actions ====

    @action(who=idle)
    def call(self, who: str) -> None:
        self.note(self.core.arrive(who))

    @action(who=waiting)
    def withdraw(self, who: str) -> None:
        self.note(self.core.withdraw(who))

    @action(who=lambda spec: list(spec.inside), fair=True)
    def leave(self, who: str) -> None:
        self.inside = tuple([one for one in self.inside if one != who])
        self.note(self.core.leave(who))

    @action(who=lambda spec: list(spec.inside), when=lambda spec, who: not spec.core.ruled)
    def leave_while_there_are_no_rules(self, who: str) -> None:
        self.leave(who)

    @action(when=lambda spec: not spec.core.ruled and not spec.is_closed("joins there"))
    def begin(self) -> None:
        self.core.begin()

    @action(when=lambda spec: spec.core.ruled)
    def end(self) -> None:
        self.note(self.core.end())

    @action(when=lambda spec: not spec.is_closed("joins there"))
    def close(self) -> None:
        self.note(self.core.close_join(1))

    # ==== Invariants ====

    @invariant
    def one_inside_each_monitor(self) -> bool:
        """In each monitor at most one call is inside, and the monitor knows whose."""
        for at, monitor in enumerate(self.core.monitors):
            inside = [who for who in self.inside if monitor_of(who) == at]
            owners = [] if monitor.owner is None else [monitor.owner]
            if inside != owners:
                return False
        return True

    @invariant
    def nothing_that_may_start_waits(self) -> bool:
        """No lost wakeup, in either monitor, while there are rules and after they ended (I3)."""
        return not any(self.may_start(who) for who in self.waiting())

    @invariant
    def at_most_one_is_on(self) -> bool:
        """The two switches are never on together, because turning on is disabled while one is."""
        return self.core.lit <= 1

    @invariant
    def no_call_waits_for_what_is_closed(self) -> bool:
        """No call waits at an entry that is closed, or to start together with a call of one that is."""
        return not any(self.is_closed(who) for who in self.waiting())

    # ==== Step properties ====

    @step
    def calls_of_a_group_start_together(self, before: Any) -> bool:
        """Under the rules, of those that start together both start in one step or neither."""
        joined = [who for who in self.started() if entry_of(who) == "join"]
        return implies(self.core.ruled, len(joined) in (0, 2))

    @step
    def triggers_run_for_calls_that_start(self, before: Any) -> bool:
        """Triggers run once for each call that starts or that one of them ends, and for no others."""
        failed = [
            one.waiter
            for one in self.ended
            if one.status is not Status.GRANTED and isinstance(getattr(one, "cause", None), Defect)
        ]
        concerned = [who for who in (*self.started(), *failed) if entry_of(who) != "look"]
        return sorted(self.core.ran) == (sorted(concerned) if self.core.ruled else [])

    @step
    def a_call_whose_trigger_raises_does_not_start(self, before: Any) -> bool:
        """Under the rules, the call whose trigger raises is not let in."""
        return implies(self.core.ruled, "fails" not in self.started())

    @step
    def a_call_ends_once(self, before: Any) -> bool:
        """A call that ends does so once, and is in no queue any more (I4)."""
        ended = [one.waiter for one in self.ended]
        each_once = len(ended) == len({*ended})
        return each_once and not any(who in self.waiting() for who in ended)

    @step
    def positions_are_kept(self, before: Any) -> bool:
        """A position in a queue is lost by ending alone, and newcomers are at the end (I2)."""
        ended = [one.waiter for one in self.ended]
        return all(
            invariants.positions_are_kept(before.core.queue(at), ended, self.core.queue(at))
            for at in range(2)
        )

    # ==== Temporal properties ====

    @leads_to
    def what_no_rule_concerns_is_served(self) -> tuple[bool, bool]:
        """If those inside leave, a call that no rule concerns gets in eventually, or withdraws."""
        waits = "looks" in self.waiting()
        return waits, not waits

    @leads_to(
        who=tuple(CALLS),
        assuming={"end": "strong", "leave_while_there_are_no_rules": "strong"},
    )
    def a_call_permitted_again_and_again_is_served(self, who: str) -> tuple[bool, bool]:
        """If the rules end again and again, every call that waits gets in eventually, or withdraws, or is ended."""
        waits = who in self.waiting()
        return waits, not waits
