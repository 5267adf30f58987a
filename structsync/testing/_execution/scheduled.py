"""What can happen next in an execution, and what happens when that is chosen.

Which options there are, in which order and by which names, is decided here, from public names of
trio alone, so it is the same for both engines.
"""

from __future__ import annotations

import abc
import functools
from collections.abc import Collection, Coroutine, Iterator, Sized
from contextvars import copy_context
from math import inf
from typing import Any, cast

import trio
from trio.lowlevel import Task

from structsync.testing._settings import Settings

from .aborts import Aborts
from .addresses import address_of
from .execution import Ending, Execution, VirtualClock
from .names import MAIN, Names, Scopes
from .oracles import WatchedPrimitives
from .own import is_started_in
from .schedule import Choice, Kind

_CLOCK = Choice("clock", "")


@functools.lru_cache(maxsize=1024)
def _choice(kind: Kind, name: str) -> Choice:
    """Return a choice: the one of this name, because it is on offer in most steps of most executions."""
    return Choice(kind, name)


class ScheduledExecution(Execution, trio.abc.Instrument):
    """An execution that goes on by one option at a time."""

    # More attributes than Python keeps in an object without a dictionary of its own.
    __slots__ = (
        "_aborts",
        "_any_order",
        "_cancels_scopes",
        "_cancels_tasks",
        "_early_clock",
        "_guards",
        "_is_plain",
        "_places",
        "_runs",
        "_timers",
        "_woken",
        "batch",
        "branched",
        "cancels_left",
        "choices",
        "clock",
        "context",
        "ending",
        "finished",
        "firsts",
        "names",
        "own_file",
        "pool",
        "raced",
        "roused",
        "scopes",
        "settings",
        "watched",
        "whole",
    )

    def __init__(self, settings: Settings, watched: WatchedPrimitives) -> None:
        self.settings = settings
        self.own_file: str | None = None
        self.watched = watched
        self.clock = VirtualClock()
        self.context = copy_context()
        self.names = Names()
        self.scopes = Scopes(self.names)
        self.whole = trio.CancelScope()
        self.choices: list[Choice] = []
        self.firsts: list[Choice] = []
        self.cancels_left = settings.cancels
        self.pool: list[Task] = []
        self.batch: list[Task] = []
        self.roused: set[Task] = set()
        self.branched = False
        self.raced = False
        self.ending: Ending | None = None
        self.finished = False
        """The test function has ended; what is left runs by itself."""
        self._woken: list[Task] = []
        self._aborts = Aborts()
        # By the address of a task, which is kept: a hash of its own takes longer than all the rest.
        self._runs: dict[int, Choice] = {}
        self._places: dict[int, int] = {}
        self._guards: dict[Task, trio.CancelScope] = {}
        # What cannot change from one step to the next.
        self._any_order = settings.order == "any"
        self._early_clock = settings.clock == "explore"
        self._cancels_scopes = settings.cancel != "tasks"
        self._cancels_tasks = bool(settings.cancels) and settings.cancel != "scopes"
        self._is_plain = not (self._early_clock or settings.cancels)
        """Whether nothing but runnable tasks is on offer while there are any."""
        self._timers: Sized = (None,)
        """What may be due: empty only if an engine knows that nothing is."""

    # What an engine adds.

    @abc.abstractmethod
    def _next_deadline(self) -> float: ...

    @abc.abstractmethod
    def _expire(self) -> None:
        """Let the deadlines fire that the clock has reached."""

    @abc.abstractmethod
    def _is_in_a_cancelled_scope(self, task: Task) -> bool:
        """Return whether a wait of this task would be aborted now, or True if that cannot be known."""

    @abc.abstractmethod
    def exempt(self) -> Collection[Task]:
        """Return the tasks that are not to be cancelled at this moment."""

    def _adopt(self, task: Task) -> None:
        """Prepare a task of the program before its first step."""

    # Tasks.

    def task_spawned(self, task: Task) -> None:
        """Name a task, and wrap it so that it can be cancelled alone."""
        if self.finished or _is_internal(task):
            return
        name = self.names.add(task)
        address = address_of(task)
        self._places[address] = len(self._places)
        self._runs[address] = _choice("run", name)
        if self._cancels_tasks and self._may_be_cancelled_alone(task, name):
            self._guards[task] = guard = trio.CancelScope()
            task.coro = cast(Any, guarded(task.coro, guard))
        self._adopt(task)

    def _may_be_cancelled_alone(self, task: Task, name: str) -> bool:
        """Return whether ``cancel="tasks"``, or ``"own"``, is about this task.

        Not about the test function, nor about a task in the system, which no program can cancel.
        """
        if name == MAIN or name.startswith("system/"):
            return False
        return self.settings.cancel == "tasks" or is_started_in(self.own_file, task)

    def guard_of(self, task: Task) -> trio.CancelScope | None:
        return self._guards.get(task)

    def woken(self, task: Task) -> None:
        """Note that a task of the program has become runnable."""
        self._woken.append(task)

    def blocked(self) -> list[Task]:
        return [
            task
            for task in self.names.of
            if self.is_alive(task) and task not in self.pool and task not in self._woken
        ]

    # Options.

    def _settle(self) -> list[Task]:
        """Put the tasks that became runnable in the last step into their canonical order.

        trio wakes the tasks of a set in any order; the one spawned first is offered first.
        """
        woke, self._woken = self._woken, []
        if len(woke) > 1:
            places = self._places
            woke.sort(key=lambda task: places[address_of(task)])
        self.pool += woke
        return woke

    def _fire_due(self) -> bool:
        """Let deadlines fire that are over already, as trio does between two batches."""
        if self._any_order or not self.batch:
            self._expire()
            return True
        return False

    def _options(self) -> tuple[Choice, ...]:
        runnable = self.pool
        if not self._any_order:
            if not self.batch:
                self.batch = list(self.pool)
            runnable = self.batch
        runs = self._runs
        options = [runs[address_of(task)] for task in runnable]
        if self._is_plain and runnable:
            return tuple(options)
        if not runnable or self._early_clock:
            boundary = self._any_order or len(self.batch) == len(self.pool)
            may_pass = self.clock.passes and (not runnable or boundary) and not self.roused
            if may_pass and self._next_deadline() != inf:
                options.append(_CLOCK)
        # trio wakes a task that waits for quiet when nothing else can run and no deadline is over, and runs it at once:
        # no task outside can come between.
        if self.cancels_left and options and not self.roused:
            options += self._cancellations(runnable)
        return tuple(options)

    def _cancellations(self, runnable: list[Task]) -> list[Choice]:
        found: list[Choice] = []
        if self._cancels_scopes:
            open_ones = self.scopes.cancellable(self.exempt(), self.whole)
            found = [_choice("scope", name) for name in open_ones]
        return found + self._cancellations_of_tasks(runnable) if self._guards else found

    def _cancellations_of_tasks(self, runnable: list[Task]) -> list[Choice]:
        runs, is_cancelled, exempt = self._runs, self.scopes.is_cancelled, self.exempt()
        spared = {one for task in exempt for one in _with_parents(task)} if exempt else ()
        return [
            _choice("cancel", runs[address_of(task)].name)
            for task, guard in self._guards.items()
            if not is_cancelled(guard)
            and task.eventual_parent_nursery is None  # nursery.start waits for it
            and task not in spared
            and self.is_alive(task)
            and (self._any_order or task in runnable or task not in self.pool)
        ]

    def _apply(self, choice: Choice) -> Task | None:
        """Let happen what is not a step of a task; return the task that is to run for it, if one is."""
        kind, name = choice
        if len(self.batch) == len(self.pool):
            self.batch = []  # between two batches: a task that it wakes is in the next one
        if kind == "clock":
            self.raced = self.raced or len(self.scopes.deadlines()) > 1
            self.clock.now = max(self.clock.now, self._next_deadline())
            self._expire()
            return None
        if kind == "scope":
            self.cancels_left -= 1
            self.scopes.cancellable((), self.whole)[name].cancel()
            return None
        task = self.names.tasks[name]
        self.cancels_left -= 1
        was_runnable = task in self.pool
        self._guards[task].cancel()
        return self._take(task) if was_runnable else None

    def _take(self, task: Task) -> Task:
        self.pool.remove(task)
        if self.roused:
            self.roused.discard(task)
        if self.batch and task in self.batch:
            self.batch.remove(task)
        return task


def _with_parents(task: Task) -> Iterator[Task]:
    """Yield a task, and those whose cancellation reaches it."""
    yield task
    while task.parent_nursery is not None:
        task = task.parent_nursery.parent_task
        yield task


def _is_internal(task: Task) -> bool:
    """Return whether this is a task of trio's own."""
    return task.parent_nursery is None or task.name == "<TrioToken.run_sync_soon task>"


async def guarded(coro: Coroutine[Any, Any, Any], scope: trio.CancelScope) -> Any:
    """Run a task in a scope of its own."""
    with scope:
        return await coro
