"""Bugs of values that are waited for, planted in ours: each must be found by the named property."""

from __future__ import annotations

from typing import Any

from structsync._core.primitives.value import Awaited, ValueCore
from structsync._core.queue.policy import Fifo
from structsync._core.queue.request import Request
from structsync.checking import fault

from ._planting import grant
from .value import ValueSpec

Ended = list[Request[Any]]


@fault(ValueSpec, "core", refuted_by="nothing_grantable_waits")
class OneIsGranted(ValueCore):
    """The oldest that waits for the value gets it, and no other does."""

    def assign(self, value: Any) -> Ended:
        self.value = value
        fitting = [one for one in self.waiting() if _holds(one.claim, value)]
        return [grant(self, one) for one in fitting[:1]]


@fault(ValueSpec, "core", refuted_by="no_task_waits_for_what_is_there")
class AWaiterForAnotherValueBlocks(ValueCore):
    """First come, first served: a task that waits for another value blocks those behind."""

    def __init__(self, value: Any) -> None:
        super().__init__(value)
        self.policy = Fifo()


@fault(ValueSpec, "core", refuted_by="what_matched_is_what_is_returned")
class TheValueBeforeIsReturned(ValueCore):
    """Waiters are granted the new value, and given the one before."""

    def assign(self, value: Any) -> Ended:
        before, self.value = self.value, value
        ended = self.settle()
        for one in ended:
            one.claim.found = before
        return ended


@fault(ValueSpec, "core", refuted_by="an_error_is_that_of_its_predicate")
class AnErrorMeansNo(ValueCore):
    """A task whose predicate raises waits on."""

    def admits(self, claim: Awaited) -> bool:
        return _holds(claim, self.value)


@fault(ValueSpec, "core", refuted_by="the_value_is_what_was_assigned")
class TheLastIsReset(ValueCore):
    """A task that is granted takes the value away."""

    def admit(self, claim: Awaited) -> None:
        super().admit(claim)
        self.value = 0


@fault(ValueSpec, "core", refuted_by="nothing_can_be_released")
class AValueIsReleased(ValueCore):
    """A value can be released, as a permit."""

    def discharge(self, claim: Awaited) -> None:
        pass


@fault(ValueSpec, "core", refuted_by="every_waiter_is_granted")
class NoTaskIsGranted(ValueCore):
    """Only tasks that come later see the value."""

    def assign(self, value: Any) -> Ended:
        self.value = value
        return []


def _holds(claim: Awaited, value: Any) -> bool:
    try:
        return bool(claim.predicate(value))
    except LookupError:
        return False
