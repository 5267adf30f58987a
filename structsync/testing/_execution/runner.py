"""What the fast engine has from trio: a ``Runner`` without sockets, and what becomes of a trap.

Also sets of tasks that iterate alike in each execution, and what of all that is no part of a state.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator, Sequence
from contextvars import copy_context
from math import inf
from operator import attrgetter
from types import CodeType, MemberDescriptorType
from typing import Any, cast

import attrs
import trio
from trio._core import _run, _traps
from trio._core._entry_queue import EntryQueue
from trio._core._instrumentation import Instruments
from trio.lowlevel import Task

from . import hash_order
from .aborts import AbortFunction
from .replacing import replaced
from .stand_ins import NoSockets, Wakeup

CHECKPOINT: object = _traps.CancelShieldedCheckpoint


class _Nothing:
    """What a task gets that goes on after a checkpoint: ``outcome.Value(None)``, for more than one to use."""

    __slots__ = ()

    def unwrap(self) -> None:
        """Return None, which is the value."""


NOTHING: Any = _Nothing()


def goes_on(task: Task) -> None:
    """Let a task go on that made a checkpoint, as ``Runner.reschedule`` does where no instrument looks on."""
    task._schedule_points += 1
    task._next_send_fn = task.coro.send
    task._next_send = NOTHING
    task._abort_func = task.custom_sleep_data = None


def handle_trap(
    runner: _run.Runner,
    task: Task,
    trap: object,
    heard: Callable[[AbortFunction], AbortFunction],
) -> None:
    """Do what a task wants that has stopped, as trio's ``unrolled_run`` does; ``heard`` hears of aborts."""
    task._schedule_points += 1
    if trap is CHECKPOINT:
        runner.reschedule(task)
    elif type(trap) is _traps.WaitTaskRescheduled:
        task._cancel_points += 1
        task._abort_func = heard(trap.abort_func)
        task._attempt_delivery_of_any_pending_cancel()
    elif type(trap) is _traps.PermanentlyDetachCoroutineObject:
        runner.task_exited(task, trap.final_outcome)
    else:
        error = TypeError(f"trio received {trap!r}: awaited something of another async library?")
        runner.reschedule(task, error)  # type: ignore[arg-type]  # as trio does it
        task._next_send_fn = task.coro.throw


def new_runner(
    engine: trio.abc.Instrument, clock: trio.abc.Clock, start_entry_task: Callable[[], bool]
) -> _run.Runner:
    """Return a runner that tells the engine of each task."""
    instruments = _OneInstrument(engine)
    runner = _run.Runner(
        clock=clock,
        instruments=cast("Any", instruments),
        io_manager=cast("Any", NoSockets()),
        ki_manager=cast("Any", None),
        system_context=copy_context(),
        strict_exception_groups=True,
        entry_queue=EntryQueue(wakeup=cast("Any", Wakeup(start_entry_task))),
        # A task that waits for quiet is taken out by its key; sorting would take longer than a task.
        waiting_for_idle=cast("Any", {}),
    )
    instruments.runner = runner
    return runner


def is_cancelled(scope: trio.CancelScope) -> bool:
    """Return ``scope.cancel_called``; without a deadline, without a look at the clock."""
    return scope._cancel_called or (scope._deadline != inf and scope.cancel_called)


def let_go(runner: _run.Runner) -> None:
    """Break the reference cycles through a runner whose run is over: the collector need not look for them."""
    runner.instruments = Instruments(())
    runner.init_task = runner.main_task = runner.system_nursery = None
    runner.entry_queue.wakeup = cast("Any", None)


class _OneInstrument(dict[str, None]):
    """The instruments of a run that are the engine alone, until the program adds one.

    trio's own collection of them is asked several times in each step, which is most of what it costs.
    """

    __slots__ = ("_engine", "runner")
    runner: _run.Runner

    def __init__(self, engine: trio.abc.Instrument) -> None:
        super().__init__(task_spawned=None)
        self._engine = engine

    def call(self, _: str, task: Task) -> None:
        """Tell the engine of a task that was spawned."""
        self._engine.task_spawned(task)

    def add_instrument(self, instrument: trio.abc.Instrument) -> None:
        """Leave the place to trio's own collection."""
        self.runner.instruments = instruments = Instruments(())
        # By hand, because adding one looks at all names that it has.
        instruments["task_spawned"] = {self._engine: None}
        instruments.add_instrument(instrument)

    def remove_instrument(self, instrument: trio.abc.Instrument) -> None:
        """Refuse it as trio does: none has been added."""
        raise KeyError(instrument)


# trio counts its tasks anyway, over all runs; this is where the present execution started.
_next_count: Callable[[], int] = cast(Any, attrs.fields(Task)._counter.default).factory
_base = 0


def _task_hash(task: Task) -> int:
    return task._counter - _base


def start_over() -> None:
    """Forget the objects of the last execution."""
    global _base
    _base = _next_count()
    hash_order.start_over()


@contextlib.contextmanager
def same_order_in_sets() -> Iterator[None]:
    """Make trio's sets of tasks and cancel statuses iterate alike in each execution.

    By default they hash by address, so which of several tasks an Event wakes first, or a scope
    aborts first, differs from one execution to the next. Which task a scope aborts first is to follow
    from which of its tasks is the oldest, and from nothing else: not from how many there were before.
    """
    hashes = {Task: _task_hash, _run.CancelStatus: hash_order.number_of}
    name = "__attrs_post_init__"
    try:
        with (
            hash_order.hashed_by(hashes),
            replaced(_run.CancelStatus, name, _in_order_of_age(vars(_run.CancelStatus)[name])),
        ):
            yield
    finally:
        start_over()


def _in_order_of_age(
    init: Callable[[_run.CancelStatus], None],
) -> Callable[[_run.CancelStatus], None]:
    @functools.wraps(init)
    def init_with_order(status: _run.CancelStatus) -> None:
        status._tasks, status._children = _Tasks(), _Statuses()
        init(status)

    return init_with_order


class _Tasks(set[Task]):
    """Tasks, the oldest of which comes first."""

    def __iter__(self) -> Iterator[Task]:
        found = super().__iter__()
        return found if len(self) < 2 else iter(sorted(found, key=_age))


class _Statuses(set[_run.CancelStatus]):
    """Cancel statuses; that with the oldest task in it comes first."""

    def __iter__(self) -> Iterator[_run.CancelStatus]:
        found = super().__iter__()
        return found if len(self) < 2 else iter(sorted(found, key=age_of_oldest))


_age: Callable[[Task], int] = attrgetter("_counter")


def age_of_oldest(status: _run.CancelStatus) -> float:
    """Return a number that is the smaller, the older the oldest task is in a scope, or further inside."""
    ages, todo = list[int](), [status]
    for one in todo:
        ages.extend(map(_age, set.__iter__(one._tasks)))
        todo.extend(set.__iter__(one._children))
    return min(ages, default=inf)


#: What a fingerprint leaves out, because it sees the same facts in whatever points here.
DERIVED: dict[type, frozenset[str]] = {
    _run.CancelStatus: frozenset({"_tasks", "_children"}),
    _run.Nursery: frozenset({"_children"}),
    # text for people, with an address in it; not before trio 0.31
    getattr(_run, "CancelReason", type(None)): frozenset({"source_task"}),
}
#: Of these an execution has one; between two steps nothing is in them that tasks do not show.
ONE_EACH: tuple[type, ...] = (_run.Runner, EntryQueue)


def _inner(code: CodeType) -> dict[CodeType, tuple[str, ...]]:
    """Return that nothing is taken from the functions that are made in this code."""
    return {one: () for one in code.co_consts if isinstance(one, CodeType)}


#: A task that waits for quiet is kept by its address, which is in its frame and in its abort function. What
#: a trap yields is in the frame of the trap, and the abort function of a nursery has that alone.
_waits_for_quiet = _run.Runner.wait_all_tasks_blocked.__code__
KEPT: dict[CodeType, tuple[str, ...]] = {
    _waits_for_quiet: ("cushion",),
    **_inner(_waits_for_quiet),
    _traps.cancel_shielded_checkpoint.__code__: (),
    _traps.wait_task_rescheduled.__code__: ("abort_func",),
    **_inner(_run.Nursery._nested_child_finished.__code__),
}


def _fields(kind: type) -> list[str]:
    """Return the attributes of a class of trio that has slots for them."""
    return [name for name, slot in vars(kind).items() if type(slot) is MemberDescriptorType]


_of_scope = attrgetter(*[one for one in _fields(trio.CancelScope) if one != "_cancel_status"])
_STATUS = {"_scope", "_parent"} | DERIVED[_run.CancelStatus]
_of_status = attrgetter(*[one for one in _fields(_run.CancelStatus) if one not in _STATUS])


def _scope(scope: Any) -> tuple[Any, tuple[Any, ...]]:
    """Look into a scope, and into what trio keeps of it while it is open."""
    status = scope._cancel_status
    if status is None:
        return "scope", _of_scope(scope)
    parent = status._parent
    outer = None if parent is None else _known_by(parent)
    return "scope", (*_of_scope(scope), *_of_status(status), outer)


def _status(status: Any) -> tuple[Any, tuple[Any, ...]]:
    known = _known_by(status)
    if known is not status:
        return "status of", (known,)
    return "status", (status._scope, *_of_status(status), status._parent)


def _known_by(status: Any) -> Any:
    """Return the scope that stands for a status; itself, if the scope is closed."""
    scope = status._scope
    return scope if scope._cancel_status is status else status


#: What looks into objects of trio's of which there are many.
EXPANDERS: dict[type, Callable[[Any], tuple[Any, Sequence[Any]]]] = {
    trio.CancelScope: _scope,
    _run.CancelStatus: _status,
}
