"""Bugs in the policies "eligible" and "priority": each must be found by the named property."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from structsync._core.primitives.semaphore import SemaphoreCore
from structsync._core.queue.policy import Eligible, Priority, levels_of
from structsync._core.queue.request import Queue, Request
from structsync.checking import fault

from ._planting import NewestFirst, grant, withdraw_only
from .eligible import EligibleSpec
from .priority import AGEING, LEVELS, PrioritySpec
from .priority_ageing import DefaultAgeingSpec, StrictLevelsSpec


class _Core(SemaphoreCore):
    """A semaphore whose policy can be swapped for a wrong one."""

    def __init__(self, initial_value: int, *, wrong: Any = None, **options: Any) -> None:
        super().__init__(initial_value, **options)
        if wrong is not None:
            self.policy = wrong


# ==== Eligible ====


class _NewestEligible(NewestFirst):
    """Of those that fit, the newest is next."""

    __slots__ = ()
    head_blocks = False

    def may_pass(self, queue: Queue[Any], ticket: int, priority: int) -> bool:
        return True


class _NoTaskPasses(Eligible):
    """A newcomer never passes waiters, whether or not they fit."""

    __slots__ = ()

    def may_pass(self, queue: Queue[Any], ticket: int, priority: int) -> bool:
        return False


@fault(EligibleSpec, "core", refuted_by="no_request_that_fits_is_passed")
def the_newest_that_fits(initial_value: int, **options: Any) -> SemaphoreCore:
    """Of those that fit, the youngest is served."""
    return _Core(initial_value, **options, wrong=_NewestEligible())


@fault(EligibleSpec, "core", refuted_by="nothing_grantable_waits")
def newcomers_queue_behind_those_that_do_not_fit(value: int, **options: Any) -> SemaphoreCore:
    """A newcomer that fits is put behind those that do not, and is not looked at again."""
    return _Core(value, **options, wrong=_NoTaskPasses())


@fault(EligibleSpec, "core", refuted_by="nothing_grantable_waits")
class OnlyTheHeadIsWoken(SemaphoreCore):
    """A release looks at the oldest alone, as if the queue were first come first served."""

    def release(self, claim: int) -> list[Request[int]]:
        self.discharge(claim)
        return [grant(self, one) for one in self.waiting()[:1] if self.admits(one.claim)]


@fault(EligibleSpec, "core", refuted_by="small_claims_are_served")
class ReleaseNeverLooksAtTheQueue(SemaphoreCore):
    """A release wakes no task: those in the queue see newcomers go in, and starve."""

    def release(self, claim: int) -> list[Request[int]]:
        self.discharge(claim)
        return []


# ==== Priority ====


class _NewestAmongEquals(Priority):
    """Of those on one level the newest is next."""

    __slots__ = ()

    def candidates(self, queue: Queue[Any]) -> Iterator[Request[Any]]:
        while queue:
            level = LEVELS[next(super().candidates(queue)).waiter]
            yield max(queue, key=lambda one: (LEVELS[one.waiter] == level, one.ticket))


class _TiesGoToTheNewest(Priority):
    """A newcomer passes those of its own rank."""

    __slots__ = ()

    def may_pass(self, queue: Queue[Any], ticket: int, priority: int) -> bool:
        levels = levels_of(queue)
        return levels.top()[0] >= levels.rank(ticket, self.level(priority))


class _AgesTooSlowly(Priority):
    """A level weighs as much as one arrival more."""

    __slots__ = ()

    def level(self, priority: int) -> int:
        return (AGEING + 1) * priority


class _NoTaskPassesTheQueue(Priority):
    """A newcomer never passes waiters, however important it is."""

    __slots__ = ()

    def may_pass(self, queue: Queue[Any], ticket: int, priority: int) -> bool:
        return False


@fault(PrioritySpec, "core", refuted_by="bypass_is_bounded")
def levels_without_ageing(value: int, **options: Any) -> SemaphoreCore:
    """Important requests pass, however long the unimportant one has been waiting."""
    return SemaphoreCore(value, **options | {"ageing": None})


@fault(PrioritySpec, "core", refuted_by="a_queued_request_is_served")
def the_unimportant_starves(value: int, **options: Any) -> SemaphoreCore:
    """Without ageing, the important ones can take turns forever."""
    return SemaphoreCore(value, **options | {"ageing": None})


@fault(PrioritySpec, "core", refuted_by="bypass_is_bounded")
def one_too_many_may_pass(value: int, **options: Any) -> SemaphoreCore:
    """Ageing is one arrival per level too slow."""
    return _Core(value, **options, wrong=_AgesTooSlowly(AGEING))


@fault(PrioritySpec, "core", refuted_by="bypass_is_bounded")
def ties_go_to_the_newest(value: int, **options: Any) -> SemaphoreCore:
    """A newcomer passes the requests of the same rank."""
    return _Core(value, **options, wrong=_TiesGoToTheNewest(AGEING))


@fault(PrioritySpec, "core", refuted_by="equals_are_served_in_queue")
def the_newest_among_equals(value: int, **options: Any) -> SemaphoreCore:
    """On one level the last to come is the first to be served."""
    return _Core(value, **options, wrong=_NewestAmongEquals(AGEING))


@fault(PrioritySpec, "core", refuted_by="nothing_grantable_waits")
def the_important_newcomer_is_queued(value: int, **options: Any) -> SemaphoreCore:
    """A newcomer that is next, and fits, is put into the queue all the same."""
    return _Core(value, **options, wrong=_NoTaskPassesTheQueue(AGEING))


@fault(PrioritySpec, "core", refuted_by="nothing_grantable_waits")
class WithdrawalOfTheNextWakesNoTask(SemaphoreCore):
    """The important and large request is withdrawn; those behind it sleep on (H1: golang/go#37852)."""

    def withdraw(self, request: Request[int]) -> list[Request[int]] | None:
        return withdraw_only(self, request)


# ==== Strict levels, and the default ageing ====


@fault(StrictLevelsSpec, "core", refuted_by="the_most_important_is_granted")
class EvenStrictLevelsAge(SemaphoreCore):
    """Strict levels are taken for a small ageing."""

    def __init__(self, initial_value: int, **options: Any) -> None:
        super().__init__(initial_value, **(options | {"ageing": 1}))


@fault(StrictLevelsSpec, "core", refuted_by="the_most_important_are_served")
class OneOfTheMostImportantStarves(SemaphoreCore):
    """Of those on one level the newest is served."""

    def __init__(self, initial_value: int, **options: Any) -> None:
        super().__init__(initial_value, **options)
        self.policy = NewestFirst()


@fault(DefaultAgeingSpec, "core", refuted_by="a_queued_request_is_served", max_trace=300)
@fault(DefaultAgeingSpec, "core", refuted_by="fewer_than_a_hundred_pass", max_trace=300)
class NothingAges(SemaphoreCore):
    """By default a less important request waits forever."""

    def __init__(self, initial_value: int, **options: Any) -> None:
        super().__init__(initial_value, ageing=None, **options)
