"""A deadlock is an error where it comes about, with the cycle in words."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from threading import get_ident
from typing import Any, Literal, TypeAlias, cast

from trio.lowlevel import Task, enable_ki_protection

from structsync._core.primitives.semaphore import SemaphoreCore
from structsync._core.queue.group import Claims
from structsync._core.queue.request import GRANTED, PENDING, Request
from structsync._core.queue.waits_for import (
    Alternative,
    Need,
    cycle_through,
    knot_around,
    stuck,
)
from structsync._runtime.arguments import check_sync
from structsync._runtime.events import PrimitiveEvent, observe
from structsync._runtime.job_wait import JobsWait
from structsync._runtime.live import Live
from structsync._runtime.watching import Wait, after_this_step, end_wait, watchers

from .deadlock_error import DeadlockError, DeadlockWarning, edges_of, message_of
from .depended_on import Dependents
from .needs import Units, alternatives_of
from .per_primitive import PerPrimitive
from .places import names_of
from .trace import trace_waits
from .wait_graph import WaitGraph

OnDeadlock: TypeAlias = "Literal['raise', 'warn'] | Callable[[DeadlockError], object]"


#: A look may take so many steps, and with each wait that begins so many more: those that were not needed are
#: kept. So looks hold up no program in which thousands of groups stand in each other's queues, and a cycle over
#: many tasks is found all the same: each of them has begun a wait. A step is about a third of a microsecond.
STEPS, STEPS_FOR_EACH = 10_000, 1_000


def deadlock_guard(on_deadlock: OnDeadlock = "raise") -> AbstractContextManager[None]:
    """Find deadlocks as they come about, while the block runs.

    Whenever a task is about to wait, the guard finds the tasks that would have to act first. If all of them
    wait, too, for each other, in primitives of structsync and without a deadline, then none of them can
    ever continue: :exc:`DeadlockError` is raised in that task, where it acquires, and names the cycle. The
    others continue as the blocks of that task end.

    There is no false alarm. A task that sleeps, waits for its nursery, or is inside another library or a
    thread may continue, and so may one in a cancel scope that has a deadline at that moment. The tasks that could release
    something must be known: the owner of a :class:`Lock` (one of a :class:`LockMap`, too), :class:`RWLock`
    or :class:`Monitor`; the task that borrowed from a :class:`CapacityLimiter`; the blocks that hold the
    permits of a bounded :class:`Semaphore`, or the items of a :class:`ResourcePool`, each to be left by the
    task that entered it; the workers of a pool in whose queue there is no room, and those that work on a
    job that is waited for, by ``run()``, :meth:`Job.wait` or a loop over ``map()``; for calls that start
    together (:meth:`Synchronizer.atomic`) the task inside each of their monitors, and the one that entered
    the block of the synchronizer, whose end lets each start alone; the blocks of :meth:`Buffer.item`, while
    they have all that there is room for in hand. A permit that was taken by :meth:`Semaphore.acquire` may
    be released by any task, any task may notify a condition, set a :class:`Value`, put into another
    :class:`Buffer` and get from it, make the other call of those that start together, or change what a
    guard or a rule reads: these have no owner, so waits for them are never reported. Whatever could break
    the cycle from outside is not taken into account: a cancellation, :meth:`Request.withdraw`, ``close()``,
    ``resize()``.

    The error of a wait for a job by ``run()`` cancels the job; that of a loop over ``map()`` ends the loop.

    Cycles of any length are found, unless earlier searches were long as well: a wait may cost no more than
    a thousand steps from task to task on average. Use the guard in the thread whose runs it watches, around
    :func:`trio.run` or inside. What was acquired before the block began is known for locks and limiters,
    but not for semaphores. Each request costs some microseconds more while a guard is open, and nothing
    otherwise.

    Args:
      on_deadlock: ``"raise"``; ``"warn"`` (:exc:`DeadlockWarning`, and the tasks keep waiting); or
          a sync function, called with the :exc:`DeadlockError` right after the step that closed the
          cycle. What it raises is raised in that task.

    Raises:
      TypeError: if ``on_deadlock`` is neither of the names nor a sync function.

    Source: Holt 1972 on general resource graphs; Java's ``jstack``.
    """
    if on_deadlock not in ("raise", "warn"):
        if isinstance(on_deadlock, str):
            raise TypeError(
                f"on_deadlock must be 'raise', 'warn' or a function, not {on_deadlock!r}"
            )
        check_sync(on_deadlock, "on_deadlock")
    return _guarding(_Guard(on_deadlock))


@contextmanager
@enable_ki_protection
def _guarding(guard: _Guard) -> Iterator[None]:
    guard.thread = get_ident()
    with trace_waits(), observe(guard.note):
        watchers.append(guard)
        try:
            yield
        finally:
            if guard in watchers:
                watchers.remove(guard)


class _Guard:
    """Knows which task is parked for what, and which blocks hold permits."""

    def __init__(self, on_deadlock: Any) -> None:
        self.thread = 0  # until its block is entered
        self._on_deadlock = on_deadlock
        self._parked: dict[Hashable, Wait] = {}
        self._purge_at = 64
        self._entering: dict[Hashable, Sequence[Live[Any]]] = {}
        self._groups = 0  # how many groups were among them at most, since it was zero
        self._permits: PerPrimitive[int] = PerPrimitive()
        self._dependents = Dependents()
        # Semaphores of which a task wanted several permits.
        self._weighted: PerPrimitive[None] = PerPrimitive()
        self._spare = 0  # steps beyond those of a single look
        self._steps = 0  # that are left to the look that is under way

    def __explore_state__(self) -> object:
        # Not what a look may cost, which only grows; nor the tasks that were granted what they had parked for.
        parked = {one for one in self._parked.values() if one.status is not GRANTED}
        known = self._entering, self._permits, self._dependents, self._weighted
        return [self._on_deadlock, parked, *known]

    # What happens.

    def parks(self, request: Wait) -> None:
        """Take note of a task that is about to park, and look at once whether that closes a cycle."""
        if get_ident() != self.thread:
            return
        task = request.waiter
        if len(self._parked) >= self._purge_at:
            for one in tuple(self._parked):
                self.request_of(one)  # which forgets those that go on
            self._purge_at = 2 * len(self._parked) + 64
            self._groups = sum(isinstance(one.group, Claims) for one in self._parked.values())
        self._parked[task] = request
        self._spare += STEPS_FOR_EACH
        self._groups += isinstance(request.group, Claims)
        if not isinstance(request, JobsWait) and _counts(request.primitive) and request.claim > 1:
            self._weighted.to_write(request.primitive)
        self._dependents.parks(request)
        if deadline_of(task) == math.inf and self._dependents.may_have(task, request):
            self._look(task)

    def enters(self, task: Task, lives: Sequence[Live[Any]]) -> None:
        """Take note that what is granted to a task from now on is for a block."""
        self._entering.pop(task, None)
        if lives and get_ident() == self.thread:
            self._entering[task] = lives

    def note(self, event: PrimitiveEvent) -> None:
        """Take in what was released, and what was granted to a task that waits elsewhere: an observer."""
        if get_ident() != self.thread:
            return
        kind, task = event.kind, event.task
        if kind == "released":
            held = self._permits.of(event.primitive)
            if task in held:
                released = min(held[task], event.claim)
                self._dependents.holds(task, -released)
                held[task] -= released
                if not held[task]:
                    del held[task]
        elif kind == "granted" and task is not None:
            if task in self._entering:
                self._takes_for_block(task, event.primitive, event.claim)
            if task in self._parked and self.request_of(task) is not None:
                self._look(task)  # it had a request, and is parked elsewhere

    def _takes_for_block(self, task: Task, live: Live[Any], claim: Any) -> None:
        if any(live is one for one in self._entering[task]) and _counts(live):
            held = self._permits.to_write(live)
            held[task] = held.get(task, 0) + claim
            self._dependents.holds(task, claim)

    # What is known, for needs.py.

    def request_of(self, who: Hashable) -> Wait | None:
        """Return what a task is parked for without a deadline; None if it may go on."""
        request = self._parked.get(who)
        # Of now, because it may be set at any time. Cancelled (-inf) and parked still, it cannot be cancelled.
        if request is None or math.isfinite(deadline_of(request.waiter)):
            return None
        if request.parked and request.status is PENDING:
            return request
        if request.status is not GRANTED:
            # Cancelled in a condition, it sleeps on in the queue of the lock, by another request.
            for again in request.primitive._core.waiting():
                if again.waiter is who and again.parked:
                    again.primitive = request.primitive
                    self._parked[who] = again
                    return cast("Request[Any]", again)
        del self._parked[who]
        return None

    def waits_without_end(self, request: Request[Any]) -> bool:
        found = self.request_of(request.waiter)
        if found is None:
            return False
        return found is request or (
            isinstance(request.group, Claims) and found.group is request.group
        )

    def has_groups(self) -> bool:
        return self._groups > 0

    def is_weighted(self, live: Any) -> bool:
        return live in self._weighted

    def may_block(self, holders: Iterable[Hashable]) -> bool:
        return self._groups > 0 or any(self.request_of(one) is not None for one in holders)

    def spend(self, steps: int) -> None:
        self._steps -= steps

    def permits(self, live: Any) -> Units:
        return self._permits.of(live)

    # The decision.

    def _look(self, task: Task) -> None:
        waits = self._waits_from(task)
        blocked = stuck(waits)
        if task not in blocked:
            return
        cycle = cycle_through(waits, task, blocked)
        if cycle:
            request = self._parked[task]
            tasks = knot_around(waits, task, blocked)
            after_this_step(partial(self._tell, request, cycle, tasks, waits, blocked))

    def _waits_from(self, task: Task) -> dict[Hashable, list[Alternative]]:
        """Return what the task waits for, and all tasks that have to do something first."""
        waits: dict[Hashable, list[Alternative]] = {}
        seen: set[Hashable] = {task}
        left: list[Hashable] = [task]
        self._steps = STEPS + self._spare
        while left and self._steps > 0:
            who = left.pop()
            alternatives = self._unmet_by_runners(who)
            if alternatives is not None:
                waits[who] = alternatives
                needs = [need for each in alternatives for need in each]
                fresh = {one for need in needs for one, _ in need.holders} - seen
                seen |= fresh
                left += fresh
            elif who is task:
                break
        self._spare = min(self._spare, max(0, self._steps))
        return {} if self._steps <= 0 else waits

    def _unmet_by_runners(self, who: Hashable) -> list[Alternative] | None:
        """Return what a task waits for; None if that is not known, or may come from a task that waits for nothing."""
        request = self.request_of(who)
        alternatives = None if request is None else alternatives_of(request, self)
        if alternatives is None:
            return None
        self.spend(1)
        met = any(all(map(self._is_met_by_runners, needs)) for needs in alternatives)
        return None if met else alternatives

    def _is_met_by_runners(self, need: Need) -> bool:
        missing = need.units
        parked: list[Hashable] = []
        for who, units in need.holders:
            if self.request_of(who) is not None:
                parked.append(who)
            else:
                missing -= units
                if missing <= 0:
                    break
        self.spend(len(parked) + 1)
        return missing <= 0 or (need.unless is not None and need.unless(parked))

    def _tell(self, request: Wait, cycle: Any, tasks: Any, waits: Any, blocked: Any) -> None:
        if request.status is not PENDING:  # something else that came after the step has ended it
            return
        names = names_of(tasks)
        graph = WaitGraph(tuple(edges_of(waits, names, blocked)))
        error = DeadlockError(message_of(cycle, names), tasks, graph)
        raised: BaseException | None = error
        if self._on_deadlock != "raise":
            raised = None
            try:
                if self._on_deadlock == "warn":
                    warnings.warn(str(error), DeadlockWarning, stacklevel=2)
                else:
                    self._on_deadlock(error)
            except BaseException as own:  # noqa: BLE001 - raised in the task that is about to park
                raised = own
        if raised is not None:
            end_wait(request, raised)


def deadline_of(task: Task) -> float:
    """Return the effective deadline of a task, which trio tells for the current one only."""
    status = cast("Any", task)._cancel_status
    return math.inf if status is None else float(status.effective_deadline())  # None: it has ended


def _counts(live: Live[Any]) -> bool:
    return isinstance(live._core, SemaphoreCore)
