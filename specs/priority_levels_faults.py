"""Bugs in the levels of a queue with priorities: each must be found by the named property."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from structsync._core.primitives.semaphore import SemaphoreCore
from structsync._core.queue.levels import SPARE, AgeingLevels, Levels, Top
from structsync._core.queue.policy import Priority, levels_of
from structsync._core.queue.request import Queue, Request
from structsync.checking import fault

from .priority import PrioritySpec
from .priority_levels import (
    CrowdedLevelsSpec,
    FewLevelsSpec,
    LevelsCore,
    RememberedLevelsSpec,
    crowded,
)


class _LevelsStay(AgeingLevels[Any]):
    """Keeps the levels, and what the heap has of them, when all waiters are taken out."""

    __slots__ = ()

    def clear(self) -> None:
        for request in self:
            self.remove(request)


class _LevelsStayCore(SemaphoreCore):
    def __init__(self, initial_value: int, **options: Any) -> None:
        super().__init__(initial_value, **options)
        self.queue = _LevelsStay()


@fault(PrioritySpec, "core", refuted_by="equals_are_served_in_queue")
def a_restore_keeps_the_ranks_of_before(value: int, **options: Any) -> SemaphoreCore:
    """The heap has of a level the request that was its first when tickets were counted from another number."""
    return _LevelsStayCore(value, **options)


class _EmptyBlocks(Priority):
    """Grants none as long as no request is on the level at the top of the heap."""

    __slots__ = ()

    def candidates(self, queue: Queue[Any]) -> Iterator[Request[Any]]:
        top = levels_of(queue).tops[0][2]
        return iter(()) if top.behind is top else super().candidates(queue)


class _EmptyIsPassed(Priority):
    """Compares a newcomer with the top of the heap, even if that has left."""

    __slots__ = ()

    def may_pass(self, queue: Queue[Any], ticket: int, priority: int) -> bool:
        levels = levels_of(queue)
        return levels.rank(ticket, self.level(priority)) < levels.tops[0][0]


def _with(kind: type[Levels[Any]], ageing: int | None = None) -> Priority:
    """Return a policy with priorities whose queue is of another kind."""

    class _OfAnotherKind(Priority):
        __slots__ = ()

        def new_queue(self) -> Queue[Any]:
            return kind()

    return _OfAnotherKind(ageing)


class _NotBroughtUpToDate(AgeingLevels[Any]):
    """Ranks a level by the request that was its first once, as long as a request is on it."""

    __slots__ = ()

    def top(self) -> Top:
        _, _, level = self.tops[0]
        return super().top() if level.behind is level else self.tops[0]


class _NewLevelIsEmpty(Levels[Any]):
    """Forgets the empty levels when the new one is known, and no request is on it yet."""

    __slots__ = ()

    def append(self, request: Request[Any], number: int = 0) -> None:
        is_too_many = number not in self.by_number and len(self.tops) > 2 * self.length + SPARE
        super().append(request, number)
        if is_too_many:
            level = self.by_number.pop(number)
            self.tops.remove((number, request.ticket, level))


class _NeverForgets(Levels[Any]):
    """Forgets an empty level at the top of the heap only."""

    __slots__ = ()

    def _drop_empty(self) -> None:
        pass


class _ForgetsInDisorder(Levels[Any]):
    """Leaves the empty levels out without restoring the order of the heap."""

    __slots__ = ()

    def _drop_empty(self) -> None:
        left = [top for top in self.tops if top[2].behind is not top[2]]
        super()._drop_empty()
        self.tops = left


@fault(FewLevelsSpec, "core", refuted_by="nothing_grantable_waits")
def an_empty_level_blocks_the_others(ageing: int | None) -> SemaphoreCore:
    """No task is served while an empty level is at the top of the heap (H1)."""
    return LevelsCore(ageing, _EmptyBlocks(ageing))


@fault(FewLevelsSpec, "core", refuted_by="nowait_agrees_with_the_queue")
def newcomers_are_compared_with_the_withdrawn(ageing: int | None) -> SemaphoreCore:
    """A newcomer that would be next waits for a task that has withdrawn."""
    return LevelsCore(ageing, _EmptyIsPassed(ageing))


@fault(FewLevelsSpec, "core", refuted_by="the_most_important_is_granted")
def a_level_keeps_the_rank_of_a_request_that_has_left(ageing: int | None) -> SemaphoreCore:
    """A later request stands as far ahead as the one that was first on the level."""
    return LevelsCore(ageing, _with(_NotBroughtUpToDate, ageing))


@fault(CrowdedLevelsSpec, "core", refuted_by="every_waiter_is_on_a_level_in_the_heap")
def the_new_level_is_forgotten_with_the_empty_ones(ageing: int | None) -> SemaphoreCore:
    """The level of the task that is about to join is taken for an empty one."""
    return LevelsCore(ageing, _with(_NewLevelIsEmpty))


@fault(CrowdedLevelsSpec, "core", refuted_by="the_levels_stay_few")
def the_empty_levels_pile_up(ageing: int | None) -> SemaphoreCore:
    """Empty levels are forgotten at the top of the heap only."""
    return LevelsCore(ageing, _with(_NeverForgets))


@fault(CrowdedLevelsSpec, "core", refuted_by="the_most_important_is_granted")
@fault(CrowdedLevelsSpec, "core", refuted_by="no_level_is_before_its_entry")
def what_is_left_is_no_heap(ageing: int | None) -> SemaphoreCore:
    """Without the empty levels the others are in no order, and the wrong one is next."""
    return LevelsCore(ageing, _with(_ForgetsInDisorder))


class _ForgetsInDisorderCore(SemaphoreCore):
    def __init__(self, initial_value: int, **options: Any) -> None:
        super().__init__(initial_value, **options)
        self.queue = _ForgetsInDisorder()


@fault(RememberedLevelsSpec, "core", refuted_by="no_hidden_history")
def levels_are_forgotten_without_heapify() -> SemaphoreCore:
    """The same in the core as it ships: no snapshot has the heap, and a restore makes it one."""
    return crowded(_ForgetsInDisorderCore)
