"""Monitors whose calls run in other processes: the decisions of :class:`structsync.distributed.SharedSynchronizer`.

Rules over objects of several processes are evaluated in one of them. There each object has a *stand-in*, a
monitor in which its calls wait; to the rules it is a monitor like any other. What is free in the stand-in may be
occupied where the object is, so a call starts only once its host has *reserved* the object for it. To reserve an
object bars all its other calls, so hosts are asked for it as late as possible: when the call would start if
all hosts were ready. One that would not start any more is let go.

The readiness of a host is one more condition of the monitor, the last that is looked at. So guards, partners and
triggers stay one step (:mod:`.synchronizer`), across processes too.

Rejected: that a host reserves its object before it proposes a call. A call that is disabled for long would bar those
that no rule concerns. Rejected: that it proposes without reserving at all. A trigger would have run for a call
that cannot start, and of two that start together one would.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from enum import Enum
from typing import Any, NamedTuple, cast

from structsync._core.queue.request import Request
from structsync._core.queue.user_code import UserCodeFailed

from .entry import Call, Guard, Invocation
from .monitor import Ended, MonitorCore
from .synchronizer import rules_of


class Stage(Enum):
    """How the host of a call that waits stands to it."""

    PROPOSED = "proposed"  # it has passed the call on, and reserves nothing
    ASKED = "asked"  # it is to reserve the object now
    ASIDE = "aside"  # it could not, when it was asked
    READY = "ready"  # it has reserved the object


ASKED = (Stage.ASKED, Stage.READY)
WAITING = (*Stage,)


class Review(NamedTuple):
    """Whose hosts are to be told something, by the tasks of their calls."""

    asked: list[Hashable]  # to reserve the object
    let_go: list[Hashable]  # that it need not be reserved any more


class Readiness:
    """How the hosts of calls stand, at all stand-ins of one process.

    Args:
      changed: called whenever a :meth:`review` may say something new.
    """

    __slots__ = ("changed", "cores", "stages", "supposing")

    changed: Callable[[], object]
    cores: list[StandInCore]
    stages: dict[Hashable, Stage]  # by the task of the call
    supposing: bool

    def __init__(self, changed: Callable[[], object] = lambda: None) -> None:
        self.changed = changed
        self.cores = []
        self.stages = {}
        self.supposing = False  # that each host is ready that was not set aside

    def allows(self, task: Hashable) -> bool:
        """Return whether the host of a call lets it start."""
        stage = self.stages.get(task)
        return stage is Stage.READY or (self.supposing and stage not in (None, Stage.ASIDE))

    def set_aside(self, task: Hashable) -> None:
        """Take note that a host cannot reserve its object now; the call keeps its position."""
        if self.stages[task] is not Stage.READY:
            self.stages[task] = Stage.ASIDE

    def reserved(self, task: Hashable) -> bool:
        """Take note that a host has reserved its object; return whether that may be of use now.

        If so, the stand-in is to be settled. A host that was not asked, or is let go meanwhile, is refused; one that
        could not when it was asked need not be asked again.
        """
        may_start = self.stages[task] in (Stage.ASKED, Stage.ASIDE)
        if may_start:
            self.stages[task] = Stage.READY
        return may_start

    def review(self) -> Review:
        """Decide anew which objects are to be reserved; at rest, when no call is just starting."""
        if any(core.owner is not None for core in self.cores):
            return Review([], [])
        wanted = self._startable()
        review = Review([], [])
        for task in [one.claim.task for core in self.cores for one in core.queue]:
            stage = self.stages[task]
            if task in wanted and stage is Stage.PROPOSED:
                self.stages[task] = Stage.ASKED
                review.asked.append(task)
            elif task not in wanted and stage in (Stage.ASKED, Stage.READY):
                self.stages[task] = Stage.PROPOSED
                review.let_go.append(task)
        return review

    def _startable(self) -> set[Hashable]:
        """Return the tasks of the calls that would start if all were ready: of each object one at most."""
        tasks: set[Hashable] = set()
        taken: set[MonitorCore] = set()
        self.supposing = True
        try:
            # Those first whose hosts were asked: who comes and goes must not have them let go each time.
            for stages in (ASKED, WAITING):
                for core in self.cores:
                    for request in [] if core in taken else core.candidates():
                        if self.stages[request.claim.task] not in stages:
                            continue
                        calls = _those_who_start(core, request)
                        if calls and taken.isdisjoint(calls):
                            taken.update(calls)
                            tasks.update([one.claim.task for one in calls.values()])
                            break
        finally:
            self.supposing = False
        return tasks


def _those_who_start(core: MonitorCore, request: Request[Any]) -> dict[MonitorCore, Request[Any]]:
    """Return a call that may start, and all that start with it; none if it may not."""
    try:
        if not core.admits(request.claim):
            return {}
        if request.group is None:
            return {core: request}
        if not request.group.consents(request):
            return {}
    except UserCodeFailed:  # harmless: the caller gets it when the monitor is settled
        return {}
    return {rules_of(one).arbiter: one for one in cast(Call, request).partners}


class StandInCore(MonitorCore):
    """The monitor of an object in another process: a call enters once its host is ready, and leaves at once."""

    def __init__(self, readiness: Readiness) -> None:
        super().__init__()
        self.readiness: Readiness = readiness
        readiness.cores.append(self)

    def admits(self, claim: Invocation) -> bool:
        if not super().admits(claim):
            return False
        # Last, so that the error of a rule ends a call whether or not its host is ready.
        is_ready = self.readiness.allows(claim.task)
        if not is_ready and not self.readiness.supposing:
            self.readiness.changed()  # a call of another monitor, which is no stand-in, may wait for it
        return is_ready

    def refuse_impossible(self, claim: Invocation) -> None:
        super().refuse_impossible(claim)
        if claim.task not in self.readiness.stages:
            raise RuntimeError(
                f"{claim.entry.name} stands in for an entry in another process, to state rules over it; call "
                "the object that Session.connect returns"
            )

    def join(self, request: Request[Invocation], priority: int = 0) -> None:
        super().join(request, priority)
        self.readiness.changed()

    def settle(self, candidates: Iterable[Request[Invocation]] | None = None) -> Ended:
        self.readiness.changed()
        return super().settle(candidates)

    def discharge(self, claim: Invocation) -> None:
        super().discharge(claim)
        self.readiness.changed()

    def leave(self, request: Request[Invocation]) -> bool:
        self.readiness.changed()
        return super().leave(request)


#: What the entries of a stand-in have for a guard: their hosts differ from call to call.
ANY_CALL = Guard(lambda _: True, reads_request=True)
