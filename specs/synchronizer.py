"""Rules over several monitors hold in every order of calls, and nobody who may start is left waiting.

Of two switches, each in a monitor of its own, at most one is on: turning on is disabled while one is,
and triggers keep count. A trigger may raise. Two other calls, one at each monitor, start together. One
call is concerned by no rule. The rules begin and end while calls wait, and one of those that start
together may be closed.

What is promised is about *starts*: what the bodies do after that is theirs. Whoever is disabled waits for others, perhaps
forever. But if the rules end again and again, and those inside leave while there are none, everybody starts eventually.
That is *strong* fairness, because both are possible again and again, and neither all the time.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from structsync import Status
from structsync._core.queue.request import Request
from structsync.checking import Spec, action, invariant, invariants, leads_to, start, step

from ._switches import CALLS, Defect, Switches, granted

# ==== Bounds ====

# The calls are in `_switches.py`: of each kind of rule one, and of those that must meet one at each of
# two monitors. A third monitor is settled as the second is, from the same list.


def idle(spec: SynchronizerSpec) -> list[str]:
    busy = {*spec.inside, *spec.waiting()}
    return [who for who in CALLS if who not in busy and not spec.is_closed(who)]


def waiting(spec: SynchronizerSpec) -> list[str]:
    return spec.waiting()


class SynchronizerSpec(Spec):
    """Two monitors under a synchronizer, and who was let in and has not left."""

    forgets = ("ended",)
    core: Switches = start(Switches)
    inside: tuple[str, ...] = start(tuple)
    ended: tuple[Request[Any], ...] = start(tuple)  # what the last action ended; then forgotten

    # ==== Words that actions use ====

    def note(self, ended: Iterable[Request[Any]]) -> None:
        """Take down what the core ended, wherever that was."""
        self.ended = tuple(ended)
        self.inside = tuple(sorted((*self.inside, *granted(list(self.ended)))))

    def waiting(self) -> list[str]:
        return [*self.core.queue(0), *self.core.queue(1)]

    def is_closed(self, who: str) -> bool:
        at, name = CALLS[who]
        both = self.core.ruled and name == "join"
        places = [(0, name), (1, name)] if both else [(at, name)]
        return any(self.core.entries[place].cause is not None for place in places)

    def may_start(self, who: str) -> bool:
        """Return whether somebody who waits could start now, by a naive reading of the rules."""
        at, name = CALLS[who]
        if any(CALLS[one][0] == at for one in self.inside):
            return False
        if not self.core.ruled or name not in ("on", "join"):
            return True
        if name == "on":
            return self.core.lit == 0
        return {"joins here", "joins there"} <= {*self.waiting()} and not self.inside

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
        """At most one was let in and has not left, and the monitor knows who."""
        inside = [[who for who in self.inside if CALLS[who][0] == at] for at in range(2)]
        owners = [one.owner for one in self.core.monitors]
        return [[] if one is None else [one] for one in owners] == inside

    @invariant
    def nothing_that_may_start_waits(self) -> bool:
        """No lost wakeup, in either monitor (I3), while there are rules and after they ended."""
        return not any(self.may_start(who) for who in self.waiting())

    @invariant
    def at_most_one_is_on(self) -> bool:
        """Whatever is disabled is disabled at the start: no two starts slip through one look."""
        return self.core.lit <= 1

    @invariant
    def nobody_waits_for_what_is_closed(self) -> bool:
        """Closing an entry tells those, too, who were to start together with its calls."""
        return not any(self.is_closed(who) for who in self.waiting())

    # ==== Step properties ====

    @step
    def calls_of_a_group_start_together(self, before: Any) -> bool:
        """Of those that start together, both start in one step or neither."""
        joined = [who for who in granted(list(self.ended)) if CALLS[who][1] == "join"]
        return not self.core.ruled or len(joined) in (0, 2)

    @step
    def triggers_run_for_those_who_start(self, before: Any) -> bool:
        """Triggers have run once for each call that has started or was ended by one, for no others."""
        expected = [
            one.waiter
            for one in self.ended
            if one.status is Status.GRANTED or isinstance(getattr(one, "cause", None), Defect)
        ]
        ruled = [who for who in expected if CALLS[who][1] != "look"] if self.core.ruled else []
        return sorted(self.core.ran) == sorted(ruled)

    @step
    def whose_trigger_raises_does_not_start(self, before: Any) -> bool:
        """Its call ends with the error, and it is not let in."""
        return not self.core.ruled or "fails" not in granted(list(self.ended))

    @step
    def a_call_ends_once(self, before: Any) -> bool:
        """All that ended did so once, and stand in no queue any more (I4)."""
        whose = [one.waiter for one in self.ended]
        return len(whose) == len({*whose}) and not {*whose} & {*self.waiting()}

    @step
    def places_are_kept(self, before: Any) -> bool:
        """Nobody loses a position in the queue but by ending, and newcomers stand at the end (I2)."""
        ended = [one.waiter for one in self.ended]
        return all(
            invariants.places_are_kept(before.core.queue(at), ended, self.core.queue(at))
            for at in range(2)
        )

    # ==== Temporal properties ====

    @leads_to
    def what_no_rule_concerns_is_served(self) -> tuple[bool, bool]:
        """If those inside leave, a call that no rule concerns gets in eventually, or gives up."""
        waits = "looks" in self.waiting()
        return waits, not waits

    @leads_to(
        who=tuple(CALLS),
        assuming={"end": "strong", "leave_while_there_are_no_rules": "strong"},
    )
    def who_is_permitted_again_and_again_is_served(self, who: str) -> tuple[bool, bool]:
        """If the rules end again and again, whoever waits gets in eventually, or gives up, or is told."""
        waits = who in self.waiting()
        return waits, not waits
