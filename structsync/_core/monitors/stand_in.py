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
from typing import Any, ClassVar, NamedTuple, TypeAlias, cast

from structsync._core.queue.request import Request
from structsync._core.queue.user_code import UserCodeFailed

from .entry import Call, Invocation
from .monitor import Ended, MonitorCore
from .stages import ProposedCall, Stage, StageLanes
from .synchronizer import rules_of


class Review(NamedTuple):
    """Whose hosts are to be told something, by the tasks of their calls."""

    asked: list[Hashable]  # to reserve the object
    let_go: list[Hashable]  # that it need not be reserved any more


class Readiness:
    """How the hosts of calls stand, at all stand-ins of one process.

    Args:
      changed: called whenever a :meth:`review` may say something new.
    """

    __slots__ = ("calls", "changed", "cores", "stages", "supposing")

    changed: Callable[[], object]
    cores: list[StandInCore]
    stages: dict[Hashable, Stage]  # by the task of the call, which may wait or be about to
    calls: dict[Hashable, ProposedCall]  # those that wait
    supposing: bool

    def __init__(self, changed: Callable[[], object] = lambda: None) -> None:
        self.changed = changed
        self.cores = []
        self.stages = {}
        self.calls = {}
        self.supposing = False  # that each host is ready that was not set aside

    def note(self, task: Hashable, stage: Stage) -> None:
        """Note how the host of a call stands now."""
        self.stages[task] = stage
        call = self.calls.get(task)
        if call is not None:  # else it has ended, and its task is about to see that
            cast(StageLanes, call.queue).move(call, stage)

    def clear(self) -> None:
        """Let no call start any more."""
        self.stages.clear()
        for call in self.calls.values():
            cast(StageLanes, call.queue).move(call, None)

    def allows(self, task: Hashable) -> bool:
        """Return whether the host of a call lets it start."""
        stage = self.stages.get(task)
        return stage is Stage.READY or (self.supposing and stage not in (None, Stage.ASIDE))

    def set_aside(self, task: Hashable) -> None:
        """Take note that a host cannot reserve its object now; the call keeps its position."""
        if self.stages[task] is not Stage.READY:
            self.note(task, Stage.ASIDE)

    def reserved(self, task: Hashable) -> bool:
        """Take note that a host has reserved its object; return whether that may be of use now.

        If so, the stand-in is to be settled. A host that was not asked, or is let go meanwhile, is refused; one that
        could not when it was asked need not be asked again.
        """
        may_start = self.stages[task] in (Stage.ASKED, Stage.ASIDE)
        if may_start:
            self.note(task, Stage.READY)
        return may_start

    def review(self) -> Review:
        """Decide anew which objects are to be reserved; when quiescent: no call is just starting."""
        if any(core.owner is not None for core in self.cores):
            return Review([], [])
        wanted = self._startable()
        review = Review([], [])
        for core in self.cores:
            call = wanted.get(core)
            for other in core.queue.asked():
                if other is not call:
                    self.note(other.claim.task, Stage.PROPOSED)
                    review.let_go.append(other.claim.task)
            if call is not None and self.stages[call.claim.task] is Stage.PROPOSED:
                self.note(call.claim.task, Stage.ASKED)
                review.asked.append(call.claim.task)
        return review

    def _startable(self) -> Starting:
        """Return the calls that would start if all were ready: of each object one at most."""
        starting: Starting = {}
        self.supposing = True
        try:
            # Those first whose hosts were asked: a call that comes and goes must not have them let go each time.
            for core in self.cores:
                self._add(core, core.queue.asked(), starting)
            for core in self.cores:
                self._add(core, core.candidates(), starting)
        finally:
            self.supposing = False
        return starting

    def _add(
        self, core: MonitorCore, candidates: Iterable[Request[Any]], starting: Starting
    ) -> None:
        """Add the first of these calls of an object that would start, and those that start with it."""
        if core not in starting:
            for request in candidates:
                calls = _those_that_start(core, request)
                if calls and starting.keys().isdisjoint(calls):
                    starting.update(calls)
                    return


#: Calls, each by its monitor.
Starting: TypeAlias = dict[MonitorCore, Request[Any]]


def _those_that_start(core: MonitorCore, request: Request[Any]) -> Starting:
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

    request_type: ClassVar[type[Request[Any]]] = ProposedCall

    def __init__(self, readiness: Readiness) -> None:
        super().__init__()
        self.readiness: Readiness = readiness
        self.queue: StageLanes = StageLanes(readiness.stages, readiness.calls)  # pyright: ignore[reportIncompatibleVariableOverride]  # for good
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
