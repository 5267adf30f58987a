"""Bugs that monitors of others had, planted in ours: each must be found by the named property."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from typing import Any

from structsync import Status
from structsync._core.monitors.entry import EntryCore, Guard, Invocation
from structsync._core.monitors.lanes import Lanes
from structsync._core.queue.request import Request
from structsync.checking import fault

from ._box import BoxCore
from ._planting import break_only
from .monitor import MonitorSpec

Ended = list[Request[Any]]


@fault(MonitorSpec, "core", refuted_by="one_inside_at_a_time")
class TwoInside(BoxCore):
    """A newcomer that is permitted does not look whether a task is inside."""

    def admissible(self, claim: Invocation, priority: int = 0) -> bool:
        return self.cause is None and claim.entry.cause is None and claim.entry.permits(claim)


@fault(MonitorSpec, "core", refuted_by="a_call_permitted_again_and_again_is_served")
class TheNewestPermittedGetsIn(BoxCore):
    """Of the tasks that are permitted the newest gets in; the oldest sees the others take turns."""

    def candidates(self) -> Iterator[Request[Invocation]]:
        return iter([*super().candidates()][::-1])


@fault(MonitorSpec, "core", refuted_by="nothing_grantable_waits")
class LeavingEvaluatesNoGuard(BoxCore):
    """A task leaves and none is let in, although what it changed permits one (no signal on exit)."""

    def release(self, claim: Invocation) -> Ended:
        self.discharge(claim)
        return []


@fault(MonitorSpec, "core", refuted_by="nothing_grantable_waits")
class ReplacingAGuardEvaluatesNone(BoxCore):
    """A guard is removed, and the tasks that it held up sleep on."""

    def constrain(self, entry: EntryCore, guard: Guard | None) -> Ended:
        entry.guard = guard
        return []


@fault(MonitorSpec, "core", refuted_by="nothing_grantable_waits")
class OnlyTheOldestOfAnEntryIsEvaluated(BoxCore):
    """Only the guard of the oldest call of an entry is evaluated, although it depends on the call."""

    def candidates(self) -> Iterator[Request[Invocation]]:
        heads = [lane.head for lane in self.queue.by_entry.values() if lane.head is not None]
        return iter(sorted(heads, key=lambda request: request.ticket))


@fault(MonitorSpec, "core", refuted_by="guards_hold_at_the_grant")
class TheGuardIsNotEvaluatedAgain(BoxCore):
    """The head of the queue gets in when the monitor becomes free, permitted or not."""

    def admits(self, claim: Invocation) -> bool:
        waits = claim.entry in self.queue.by_entry
        return self.owner is None and (waits or claim.entry.permits(claim))


@fault(MonitorSpec, "core", refuted_by="no_permitted_call_is_passed")
class TheEntriesAreConsideredInTurn(BoxCore):
    """An entry with a call that is permitted is served before the next entry, however old the others' calls are."""

    def candidates(self) -> Iterator[Request[Invocation]]:
        lanes = self.queue.by_entry.values()
        return iter([request for lane in lanes for request in reversed(list(lane))])


@fault(MonitorSpec, "core", refuted_by="an_error_ends_its_own_call_only")
class AnErrorReachesTheWholeQueue(BoxCore):
    """A guard raises, and all calls that wait are ended."""

    def settle(self, candidates: Iterable[Request[Invocation]] | None = None) -> Ended:
        ended = super().settle(candidates)
        for request in ended:
            if isinstance(getattr(request, "cause", None), Exception):
                return ended + break_all(self, request.cause)
        return ended


@fault(MonitorSpec, "core", refuted_by="no_call_waits_where_a_guard_raises")
class AnErrorMeansNo(BoxCore):
    """The error of a guard is swallowed, and its call waits forever."""

    def admits(self, claim: Invocation) -> bool:
        try:
            return super().admits(claim)
        except Exception:  # noqa: BLE001 - the fault
            return False


@fault(MonitorSpec, "core", refuted_by="no_call_waits_for_what_was_taken_out")
class TakenOutTellsNoTask(BoxCore):
    """An entry is taken out, and the tasks that wait for it hang (C2: CPython gh-117531)."""

    def remove(self, entry: EntryCore, cause: Hashable) -> Ended:
        entry.cause = cause
        return []


@fault(MonitorSpec, "core", refuted_by="a_task_inside_cannot_enter")
class WaitsForItself(BoxCore):
    """A task inside calls the monitor again, and waits until it has left itself."""

    def refuse_impossible(self, claim: Invocation) -> None:
        pass


@fault(MonitorSpec, "core", refuted_by="only_the_task_inside_leaves")
class AnyTaskLeaves(BoxCore):
    """Any task that releases the monitor frees it, inside or not."""

    def discharge(self, claim: Invocation) -> None:
        self.owner = None


class KeepsEmptyLanes(Lanes):
    __slots__ = ()

    def remove(self, request: Request[Any]) -> None:
        self.by_entry[request.claim.entry].remove(request)
        self.length -= 1


@fault(MonitorSpec, "core", refuted_by="the_queues_of_the_entries_are_the_queue")
class TheIndexKeepsTheWithdrawn(BoxCore):
    """An entry for which no task waits any more counts as one for which a task does."""

    def __init__(self) -> None:
        super().__init__()
        self.queue = KeepsEmptyLanes()

    def restore(self, snapshot: Any) -> None:
        self.queue = KeepsEmptyLanes()  # or it would be remembered what never happened
        super().restore(snapshot)


@fault(MonitorSpec, "core", refuted_by="an_unguarded_call_is_served")
class TheYoungestIsNext(BoxCore):
    """Of the tasks that are permitted the youngest gets in."""

    def candidates(self) -> Iterator[Request[Invocation]]:
        return iter(list(self.queue)[::-1])


@fault(MonitorSpec, "core", refuted_by="nothing_waits_when_closed_or_broken")
class ClosingTellsOne(BoxCore):
    """Closing tells one of the tasks in the queue; the others hang (C2: CPython gh-117531)."""

    def end(self, cause: Hashable) -> Ended:
        ended: Ended = break_only(self, self.waiting()[:1], str(cause))
        return ended


def break_all(core: BoxCore, cause: Any) -> Ended:
    return [core.end_with(request, Status.BROKEN, cause) for request in core.waiting()]
