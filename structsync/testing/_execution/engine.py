"""One execution of a test under somebody else's schedule: what both engines have in common.

Between two steps the engine asks its chooser what happens next. What can be chosen, in which order
it is offered and what it is called are decided here, from public names of trio alone; an engine
adds how a task is made to run for one step, and how the time is made to pass.
"""

from __future__ import annotations

import abc
from collections.abc import Coroutine
from contextvars import copy_context
from math import inf
from typing import TYPE_CHECKING, Any, cast

import outcome
import trio
from trio.lowlevel import Task

from .determinism import executing
from .execution import (
    Abandoned,
    AsyncTest,
    Chooser,
    Ending,
    Recorder,
    VirtualClock,
)
from .names import MAIN, Names, Scopes
from .origin import tell
from .schedule import Choice

if TYPE_CHECKING:
    from structsync.testing._settings import Settings

    from .handle import ExploredRun

#: An abandoned execution gets so many steps to unwind before its tasks are broken out of their
#: waits, and as many again before it is dropped.
UNWIND_STEPS = 2_000


class Engine(trio.abc.Instrument, abc.ABC):
    """Runs a test once, under the schedule that a chooser makes."""

    def __init__(
        self,
        settings: Settings,
        chooser: Chooser,
        handle: ExploredRun,
        recorder: Recorder | None = None,
    ) -> None:
        self.settings = settings
        self.chooser = chooser
        self.handle = handle
        self.recorder = recorder
        self.clock = VirtualClock()
        self.names = Names()
        self.scopes = Scopes(self.names)
        self.choices: list[Choice] = []
        self.firsts: list[Choice] = []
        self.cancels_left = settings.cancels
        self.ending: Ending | None = None
        self.branched = False
        """There has been more than one option."""
        self.problem: Exception | None = None
        """What the chooser raised."""
        self.finished = False
        """The test function has ended; what is left runs by itself."""
        self.pool: list[Task] = []
        """The runnable tasks, in the order in which they are offered."""
        self.batch: list[Task] = []
        """For ``order="trio"``: who is still to run before anything newly runnable."""
        self._woken: list[Task] = []
        self._runs: dict[Task, Choice] = {}
        self._guards: dict[Task, trio.CancelScope] = {}
        self._root = trio.CancelScope()
        self._unwound = 0
        self._in_step = False
        self.context = copy_context()
        handle._attach(self)

    def __explore_state__(self) -> object:
        return "engine"

    # What an engine adds.

    @abc.abstractmethod
    def run(self, test: AsyncTest) -> Ending:
        """Run the test once."""

    @abc.abstractmethod
    def pending_of(self, task: Task) -> object:
        """Return what a runnable task will get when it runs."""

    @abc.abstractmethod
    def coroutine_of(self, task: Task) -> Any:
        """Return the coroutine that a task runs."""

    @abc.abstractmethod
    def is_alive(self, task: Task) -> bool:
        """Return whether a task has not ended."""

    @abc.abstractmethod
    def extra_of(self, task: Task) -> object:
        """Return what matters of a task beyond its coroutine."""

    def run_variables(self) -> object:
        """Return the values of the run's :class:`trio.lowlevel.RunVar`, where they can be seen."""
        return None

    def guard_of(self, task: Task) -> trio.CancelScope | None:
        """Return the scope by which a task can be cancelled alone."""
        return self._guards.get(task)

    @abc.abstractmethod
    def _next_deadline(self) -> float: ...

    @abc.abstractmethod
    def _expire(self) -> None:
        """Let the deadlines fire that the clock has reached."""

    # Instrument.

    def task_spawned(self, task: Task) -> None:
        """Name a task, and wrap it so that it can be cancelled alone."""
        if self.finished or _is_internal(task):
            return
        name = self.names.add(task)
        self._runs[task] = Choice("run", name)
        if self._may_be_cancelled_alone(task, name):
            self._guards[task] = guard = trio.CancelScope()
            task.coro = cast(Any, _guarded(task.coro, guard))
        self._adopt(task)

    def _may_be_cancelled_alone(self, task: Task, name: str) -> bool:
        """Return whether ``cancel="tasks"`` is about this task.

        Not about the test function, nor about a task in the system, which nobody can cancel.
        """
        asked = self.settings.cancel == "tasks" and self.settings.cancels > 0
        in_system = name.startswith("system/")
        return asked and name != MAIN and not in_system

    def _adopt(self, task: Task) -> None:
        """Prepare a task of the program before its first step."""

    # The test itself.

    async def main(self, test: AsyncTest) -> None:
        """Run the test function and say how it ended."""
        with executing(self), self._root:
            try:
                value = await test(self.handle)
                problem = None if self.ending else await self.handle._at_end()
            except BaseException as error:
                if self.ending is not None:
                    raise
                told, culprit = tell(error)
                self.end(Ending("error", told, error, culprit=culprit))
            else:
                if self.ending is None:
                    self.end(problem or Ending("passed", value=value))
        self.finished = True

    def end(self, ending: Ending) -> None:
        """Let the execution end like this, unless it has ended already."""
        if self.ending is None:
            self.ending = ending
            self._root.cancel()

    def crashed(self, error: BaseException) -> None:
        """Let the execution end by the error of a task outside of the test's own nurseries.

        As in ``trio.run``: it cancels the test function, and is raised when that has ended.
        """
        before = self.ending
        if before is not None and before.kind == "cut":
            return  # it is being unwound, and nobody looks at what comes of that
        if before is None or not before.failed or isinstance(before.error, trio.Cancelled):
            told, culprit = tell(error)
            self.ending = Ending("error", told, error, culprit=culprit)

    # Between two steps.

    def woken(self, task: Task) -> None:
        """Note that a task of the program has become runnable."""
        self._woken.append(task)

    def decide(self) -> Task | None:
        """Let something happen; return the task that is to run for a step, if that is it."""
        woke = self._settle()
        if self._in_step and self.ending is None:
            self._in_step = False
            if self.recorder is not None:
                self.recorder.after(self, woke)
            if not self.finished and (violation := self.handle._after_step()) is not None:
                self.end(violation)
                return None  # whom that aborts is runnable only after this
        if self.ending is not None or self.finished:
            return self._unwind()
        if self._fire_due():
            return None
        options = self._options()
        if not options:
            self._deadlocked()
            return None
        if len(self.choices) >= self.settings.max_steps:
            self._never_ends()
            return None
        self.branched |= len(options) > 1
        try:
            choice = self.chooser.choose(self, options)
        except Exception as error:  # noqa: BLE001 - raised again when the execution is unwound
            self.problem = error
            choice = None
        if choice is None:
            self.end(Ending("cut"))
            return None
        if self.recorder is not None:
            self.recorder.before(self, choice, options[0])
        self.choices.append(choice)
        self.firsts.append(options[0])
        self._in_step = True
        return self._apply(choice)

    def _deadlocked(self) -> None:
        names = [self.names.of[task] for task in self.blocked()]
        text = f"{_listed(names)} wait{'s' * (len(names) == 1)} for ever"
        if probed := self.handle._probing:
            text = f"{probed} cannot be acquired again at the end: {text}"
        if self.recorder is not None:
            self.recorder.stuck(self)
        self.end(Ending("deadlock", text))

    def _never_ends(self) -> None:
        text = f"the execution was not over after {self.settings.max_steps} steps"
        self.end(Ending("endless", text))

    def _settle(self) -> list[Task]:
        """Put those who became runnable in the last step into their canonical order.

        trio wakes the tasks of a set in any order; who spawned first is offered first.
        """
        woke, self._woken = self._woken, []
        if len(woke) > 1:
            places = {task: place for place, task in enumerate(self.names.of)}
            woke.sort(key=places.__getitem__)
        self.pool += woke
        return woke

    def _fire_due(self) -> bool:
        """Let deadlines fire that are over already, as trio does between two batches."""
        boundary = self.settings.order == "any" or not self.batch
        if boundary and self._next_deadline() <= self.clock.now:
            self._expire()
            return True
        return False

    def _options(self) -> tuple[Choice, ...]:
        runnable = self.pool
        if self.settings.order == "trio":
            if not self.batch:
                self.batch = list(self.pool)
            runnable = self.batch
        runs = self._runs
        options = [runs[task] for task in runnable]
        boundary = self.settings.order == "any" or len(self.batch) == len(self.pool)
        early = boundary and self.settings.clock == "explore"
        if (not runnable or early) and self._next_deadline() != inf:
            options.append(Choice("clock", ""))
        if self.cancels_left and options:
            options += self._cancellations(runnable)
        return tuple(options)

    def _cancellations(self, runnable: list[Task]) -> list[Choice]:
        if self.settings.cancel == "scopes":
            return [Choice("scope", name) for name in self.scopes.cancellable()]
        names = self.names.of
        return [
            Choice("cancel", names[task])
            for task, guard in self._guards.items()
            if not guard.cancel_called
            and task.eventual_parent_nursery is None  # nursery.start waits for it
            and self.is_alive(task)
            and (task in runnable or task not in self.pool)
        ]

    def _apply(self, choice: Choice) -> Task | None:
        kind, name = choice
        if kind != "run" and len(self.batch) == len(self.pool):
            self.batch = []  # between two batches: who wakes by it is in the next one
        if kind == "clock":
            self.clock.now = max(self.clock.now, self._next_deadline())
            self._expire()
            return None
        if kind == "scope":
            self.cancels_left -= 1
            self.scopes.cancellable()[name].cancel()
            return None
        task = self.names.tasks[name]
        if kind == "cancel":
            self.cancels_left -= 1
            was_runnable = task in self.pool
            self._guards[task].cancel()
            if not was_runnable:
                return None
        return self._take(task)

    def _take(self, task: Task) -> Task:
        self.pool.remove(task)
        if task in self.batch:
            self.batch.remove(task)
        return task

    # The end of an execution.

    def _unwind(self) -> Task | None:
        """Run what is left, first in, first out, until nothing is left."""
        self._unwound += 1
        if self.pool and self._unwound <= 2 * UNWIND_STEPS:
            return self._take(self.pool[0])
        if self._next_deadline() != inf and self._unwound <= UNWIND_STEPS:
            self.clock.now = max(self.clock.now, self._next_deadline())
            self._expire()
            return None
        if self._unwound > 2 * UNWIND_STEPS:
            self._drop()
            return None
        for task in self.blocked():
            # A parent that waits for its children is not to be told before they are gone.
            if not any(nursery.child_tasks for nursery in task.child_nurseries):
                trio.lowlevel.reschedule(task, outcome.Error(Abandoned()))
        return None

    def blocked(self) -> list[Task]:
        """Return the tasks that wait for others."""
        return [
            task
            for task in self.names.of
            if self.is_alive(task) and task not in self.pool and task not in self._woken
        ]

    @abc.abstractmethod
    def _drop(self) -> None:
        """Give up on tasks that do not end."""


def _is_internal(task: Task) -> bool:
    """Return whether this is a task of trio's own."""
    return task.parent_nursery is None or task.name == "<TrioToken.run_sync_soon task>"


async def _guarded(coro: Coroutine[Any, Any, Any], scope: trio.CancelScope) -> Any:
    with scope:
        return await coro


def _listed(names: list[str]) -> str:
    if len(names) < 2:
        return "".join(names)
    return f"{', '.join(names[:-1])} and {names[-1]}"
