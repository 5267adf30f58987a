"""Rules hold over objects of several processes: a call starts only where its object is reserved for it, and so do its partners.

Of two switches, each in a process of its own, at most one is on: turning on is disabled while one is, and triggers keep
count. Two other calls, one of each object, start together. The rules are evaluated in a third process, in which each
object has a stand-in. Visitors are calls that no rule concerns: they enter an object that is free, without being asked about.
Each task makes one call; a call that waits may withdraw, and a host may die, with all its calls.

A host answers when it is asked to reserve its object, and offers the object as soon as it can if it could not then;
those inside leave (*fair* actions). Messages between the processes are those of calls (`calls.py`): they arrive once.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from structsync._core.monitors.stages import Stage
from structsync.checking import Spec, action, invariant, leads_to, start, step

from ._stand_ins import CALLS, VISITOR, StandIns

# ==== Bounds ====

# The calls are in `_stand_ins.py`: one that is disabled at times at each object, and one that ends that; or one at each
# that needs the other, and one that needs none. Two of them are of one object, and cannot have it reserved at a time.
# Two of one entry are evaluated as one while their hosts stand alike; the others are there so that the older of them
# can be set aside after the younger: it was let go in between, because of a call of the other object.
OBJECTS = (0, 1)
SWITCHES = ("on, here", "on, there", "off")
PARTNERS = ("joins here", "joins there", "off")
ALIKE = ("on, here", "on, here too", "on, there", "off")


def object_of(who: str) -> int:
    return CALLS[who][0]


def idle(spec: StandInsSpec) -> list[str]:
    busy = {*spec.core.inside, *spec.core.waiting()}
    return [who for who in spec.core.calls if who not in busy]


class StandInsSpec(Spec):
    """Two stand-ins under a synchronizer, and two objects."""

    abstract = True
    core: StandIns

    # ==== Words that actions and properties use ====

    def describe(self) -> Mapping[str, object]:
        stages = [f"{who} {self.core.stage(who).value}" for who in self.core.waiting()]
        return {"waiting": ", ".join(stages), "reserved": self.core.held, "lit": self.core.lit}

    def in_stage(self, *stages: Stage) -> list[str]:
        return [who for who in self.core.waiting() if self.core.stage(who) in stages]

    def offering(self) -> list[str]:
        """Return the calls at the head of the queue of an object that is free."""
        return [
            who
            for at in OBJECTS
            for who in self.core.head_of_queue(at)
            if self.core.held[at] is None
        ]

    def may_start(self, who: str) -> bool:
        """Return whether a task that waits could start if all hosts were ready, by a naive reading of the rules."""
        entry = CALLS[who][1]
        if entry == "on":
            return self.core.lit == 0
        if entry == "join":
            aside = self.in_stage(Stage.ASIDE)
            partners = self.partners_of(who)
            return partners <= {*self.core.waiting()} and partners.isdisjoint(aside)
        return True

    # ==== Actions ====

    @action(who=idle)
    def propose(self, who: str) -> None:
        self.core.propose(who)

    @action(who=lambda spec: sorted(spec.core.asked), fair=True)
    def answer(self, who: str) -> None:
        self.core.answer(who)

    @action(who=lambda spec: spec.offering(), fair=True)
    def offer(self, who: str) -> None:
        self.core.reserve(who)

    @action(who=lambda spec: spec.core.waiting())
    def withdraw(self, who: str) -> None:
        self.core.withdraw(who)

    @action(who=lambda spec: sorted(spec.core.inside), fair=True)
    def finish(self, who: str) -> None:
        self.core.finish(who)

    @action(at=OBJECTS, when=lambda spec, at: spec.core.is_free(at))
    def visit(self, at: int) -> None:
        self.core.begin()
        self.core.held[at] = VISITOR

    @action(at=OBJECTS, when=lambda spec, at: spec.core.held[at] == VISITOR, fair=True)
    def leave(self, at: int) -> None:
        self.core.begin()
        self.core.held[at] = None

    @action(at=OBJECTS)
    def die(self, at: int) -> None:
        self.core.die(at)

    # ==== Invariants ====

    @invariant
    def at_most_one_is_on(self) -> bool:
        """The two switches are never on together, because turning on is disabled while one is."""
        return self.core.lit <= 1

    @invariant
    def one_inside_each_object(self) -> bool:
        """A call that has started has its object, and no other does."""
        return all(self.core.held[object_of(who)] == who for who in self.core.inside)

    @invariant
    def an_object_is_reserved_for_its_call(self) -> bool:
        """An object is reserved for a call that has started, or would if all that start with it were ready."""
        ready = self.in_stage(Stage.READY)
        holders = {who for who in self.core.held if who not in (None, VISITOR)}
        return holders == {*ready, *self.core.inside} and all(map(self.may_start, ready))

    @invariant
    def one_is_asked_of_each_object(self) -> bool:
        """No two calls of one object are to have it reserved."""
        asked = [object_of(who) for who in self.in_stage(Stage.ASKED, Stage.READY)]
        return len(asked) == len({*asked})

    @invariant
    def nothing_that_may_start_is_forgotten(self) -> bool:
        """If a call could start, its host has been asked, or that of a call which wants one of the same objects (I3)."""
        asked = {object_of(who) for who in self.in_stage(Stage.ASKED, Stage.READY)}
        return all(
            not self.may_start(who) or bool(asked & self.objects_of(who))
            for who in self.in_stage(Stage.PROPOSED)
        )

    def objects_of(self, who: str) -> set[int]:
        return {*OBJECTS} if CALLS[who][1] == "join" else {object_of(who)}

    @invariant
    def nothing_that_is_ready_waits(self) -> bool:
        """No call waits that could start, once its object is reserved and those of all that start with it (I3)."""
        ready = self.in_stage(Stage.READY)
        return not any(self.may_start(who) and self.partners_of(who) <= {*ready} for who in ready)

    def partners_of(self, who: str) -> set[str]:
        return {"joins here", "joins there"} if CALLS[who][1] == "join" else {who}

    @invariant
    def all_that_are_asked_are_told(self) -> bool:
        """Of each call that is to have its object reserved, its host knows that."""
        return {*self.in_stage(Stage.ASKED)} <= self.core.asked

    # ==== Step properties ====

    @step
    def calls_of_a_group_start_together(self, before: Any) -> bool:
        """Of those that start together both start in one step or neither, whatever their hosts say."""
        joined = [who for who in self.core.started if CALLS[who][1] == "join"]
        return len(joined) in (0, 2)

    @step
    def triggers_run_for_calls_that_start(self, before: Any) -> bool:
        """Triggers run once for each call that starts, and for no others."""
        return sorted(self.core.ran) == sorted(self.core.started)

    @step
    def a_start_is_no_surprise(self, before: Any) -> bool:
        """A call starts where its object is reserved for it: no host hears of a start that it cannot carry out."""
        return all(self.core.held[object_of(who)] == who for who in self.core.started)

    # ==== Temporal properties ====

    @leads_to(at=OBJECTS)
    def a_reservation_ends(self, at: int) -> tuple[bool, bool]:
        """If hosts answer and calls end, an object that is reserved becomes free: nothing waits for it forever."""
        is_reserved = self.core.held[at] is not None
        return is_reserved, not is_reserved

    @leads_to
    def what_no_rule_disables_starts(self) -> tuple[bool, bool]:
        """However many visitors come, a call that needs no other starts eventually, or withdraws."""
        waits = "off" in self.core.waiting()
        return waits, not waits


def questions_are_answered(calls: tuple[str, ...]) -> Any:
    """Return the property that each of these calls is answered; each specification has calls of its own."""

    @leads_to(who=calls)
    def every_question_is_answered(self: StandInsSpec, who: str) -> tuple[bool, bool]:
        """Every call that is asked starts eventually, or is set aside, or need not be ready any more."""
        is_asked = who in self.in_stage(Stage.ASKED, Stage.READY)
        return is_asked, not is_asked

    return every_question_is_answered


class SwitchesSpec(StandInsSpec):
    """Two switches, of which at most one is on."""

    core: StandIns = start(StandIns, SWITCHES)
    every_question_is_answered = questions_are_answered(SWITCHES)


class PartnersSpec(StandInsSpec):
    """Two calls that start together, and one that wants an object of theirs."""

    core: StandIns = start(StandIns, PARTNERS)
    every_question_is_answered = questions_are_answered(PARTNERS)


class AlikeSpec(StandInsSpec):
    """Two calls of one entry of one object, and two calls that disable them and end that."""

    symmetric = ("on, here", "on, here too")
    core: StandIns = start(StandIns, ALIKE)
    every_question_is_answered = questions_are_answered(ALIKE)
