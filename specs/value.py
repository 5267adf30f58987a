"""A task that waits for a value gets it when it is assigned, however soon the next one follows.

Each task has values that it waits for, and perhaps one at which its predicate raises. Any value may be
assigned at any moment (eventually those that tasks wait for: that is *fair*); a task that waits may withdraw, and a
task may close the value. The state is the core, and which value was assigned last.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from structsync import Status
from structsync._core.primitives.value import Awaited, ValueCore
from structsync.checking import action, invariant, invariants, leads_to, start, step

from .common import QueueSpec

# ==== Bounds ====

AT_FIRST = 0  # for which no task waits
VALUES = (0, 1, 2)  # two that are waited for, and that one
# Two wait for the same value, one for either; the predicate of one raises at the value that others wait for.
WANTED = {"a": (1,), "b": (1, 2), "c": (2,), "d": (2,)}
UNJUDGED = {"d": 1}


def wanting(who: str) -> Callable[[int], bool]:
    """Return the predicate of a task."""

    def is_wanted(value: int) -> bool:
        if UNJUDGED.get(who) == value:
            raise LookupError(who)
        return value in WANTED[who]

    return is_wanted


AWAITED = {who: Awaited(wanting(who)) for who in WANTED}


class ValueSpec(QueueSpec):
    """A value, and what was assigned last."""

    newcomers = ((AWAITED["a"], 0), (AWAITED["b"], 0))
    core: ValueCore = start(ValueCore, AT_FIRST)
    assigned: int = start(lambda: AT_FIRST)

    def may_wait(self) -> list[str]:
        able = [who for who in WANTED if UNJUDGED.get(who) != self.assigned]
        return [who for who in able if who not in self.in_queue()]

    # ==== Actions ====

    @action(who=may_wait, when=lambda spec, who: spec.core.cause is None)
    def wait(self, who: str) -> None:
        self.submitted(self.core.submit(AWAITED[who], waiter=who))

    @action(who=lambda spec: spec.in_queue())
    def withdraw(self, who: str) -> None:
        self.note(self.withdrawn(who))

    @action(value=VALUES)
    def assign(self, value: int) -> None:
        self.assigned = value
        self.note(self.core.assign(value))

    @action(fair=True)
    def assign_one(self) -> None:
        self.assign(1)

    @action(fair=True)
    def assign_two(self) -> None:
        self.assign(2)

    @action(when=lambda spec: spec.core.cause is None)
    def close(self) -> None:
        self.note(self.core.end("closed"))

    # ==== Invariants ====

    @invariant
    def the_value_is_what_was_assigned(self) -> bool:
        """The value is what was assigned last: waiting for it and seeing it change nothing."""
        return bool(self.core.value == self.assigned)

    @invariant
    def no_task_waits_for_what_is_there(self) -> bool:
        """No task waits for the value that is there."""
        return all(self.assigned not in WANTED[who] for who in self.in_queue())

    @invariant
    def nothing_can_be_released(self) -> bool:
        """A task that has seen a value holds nothing: a release is refused, and leaves no trace."""
        return invariants.refuses(self.core, lambda core: core.release(AWAITED["a"]))

    # ==== Step properties ====

    @step
    def what_matched_is_what_is_returned(self, before: Any) -> bool:
        """Each is given the value for which its predicate was true."""
        granted = [one for one in self.ended if one.status is Status.GRANTED]
        return all(
            one.claim.found == self.assigned and self.assigned in WANTED[one.waiter]
            for one in granted
        )

    @step
    def an_error_is_that_of_its_predicate(self, before: Any) -> bool:
        """Those whose predicate raises are told what it raised, and no others are."""
        broken = [one for one in self.ended if one.status is Status.BROKEN]
        told = [one.waiter for one in broken if isinstance(one.cause, LookupError)]
        raising = [who for who in before.in_queue() if UNJUDGED.get(who) == self.assigned]
        return told == [who for who in raising if who not in self.granted()]

    # ==== Temporal properties ====

    @leads_to(who=tuple(WANTED))
    def every_waiter_is_granted(self, who: str) -> tuple[bool, bool]:
        """If its values are assigned, every task that waits is granted eventually, or withdraws, or is ended."""
        waits = who in self.in_queue()
        return waits, not waits
