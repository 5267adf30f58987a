"""The run in which the rules of a machine live, and the choices that are drawn for it."""

from __future__ import annotations

import contextlib
import functools
import inspect
import sys
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import replace
from typing import Any

import trio
from hypothesis import note
from trio.lowlevel import current_task

from structsync.testing._execution.determinism import controlled
from structsync.testing._execution.execution import Ending
from structsync.testing._search import engine_choice
from structsync.testing._search.choosers import UNLIMITED
from structsync.testing._settings import Settings

from . import stepping
from .drawn_steps import DrawnSteps
from .rule_task import MachineFailed, RuleTask, alone, is_cancelled
from .settling import Settling


class MachineRun(DrawnSteps):
    """An execution that begins with the first rule and ends after ``teardown``."""

    def __init__(self, asked: Settings) -> None:
        super().__init__()
        self.ending = False
        """Whether this is ``teardown``."""
        self.closed = False
        """Whether it has been."""
        self._asked = asked
        self._log = stepping.StepLog()
        self._engine: stepping.SteppedEngine | None = None
        self._around = contextlib.ExitStack()
        self._tasks: list[RuleTask] = []
        self._cancels_left = asked.cancels
        self._check: Callable[[], None] = lambda: None
        self._error: BaseException | None = None
        self._failing = False
        self._settling = Settling()
        # What is being handled when the example begins is not a failure of the example.
        self._handled = sys.exception()

    # Rules.

    @property
    def engine(self) -> stepping.SteppedEngine:
        """The execution; it begins with the first question for it."""
        if self._engine is None:
            self._around.enter_context(controlled())
            self._around.enter_context(engine_choice.same_order_in_sets())
            engine_choice.start_over()
            asked = replace(self._asked, cancels=0, max_steps=UNLIMITED)
            self._engine = stepping.kind()(asked, self._log)
            self._engine.start()
        return self._engine

    @property
    def nursery(self) -> trio.Nursery:
        """The nursery of all rules."""
        if self._engine is None:
            raise RuntimeError("the machine has no nursery before its first rule")
        return self._engine.nursery

    def perform(self, call: Callable[[], Any], name: str) -> tuple[RuleTask | None, Any]:
        """Call a rule in the main task; if it is async, start it."""
        task = None

        async def order() -> object:
            nonlocal task
            result = call()
            if inspect.iscoroutine(result):
                task = self.spawn(result, name)
                return None
            return result

        self.engine.order(order)
        if self.engine.answer is None:
            self._look()  # the run has broken down
            raise AssertionError
        result = self.engine.answer.unwrap()
        self._look()
        return task, result

    def spawn(self, body: Coroutine[Any, Any, object], name: str) -> RuleTask:
        """Start a rule as a task."""
        task = RuleTask()
        self.nursery.start_soon(self._run, task, body, name=name)
        task.name = next(reversed(self.engine.names.tasks))
        self._tasks.append(task)
        return task

    async def _run(self, task: RuleTask, body: Coroutine[Any, Any, object]) -> None:
        try:
            with task.scope:
                task.value = await body
        except BaseException as error:
            if is_cancelled(error):
                raise
            # Raised where Hypothesis sees it, as it is and not within a group.
            self._error = self._error or error
        finally:
            task.done = True
            if self._settling.waits and not self._unfinished():
                self._settling.end()

    def finish(self, task: RuleTask) -> bool:
        """Run what can run until a rule has ended; return False if it waits forever."""
        return self._until(lambda: task.done)

    def _unfinished(self) -> list[RuleTask]:
        return [task for task in self._tasks if not task.done]

    def places(self, tasks: Sequence[RuleTask]) -> str:
        """Return where rules stand, in words."""
        return ", ".join(f"{task.name} {self._place(task)}" for task in tasks)

    def _place(self, task: RuleTask) -> str:
        return stepping.whereabouts(self.engine, self.engine.names.tasks[task.name])

    # The schedule.

    def between_rules(self, check: Callable[[], None]) -> bool:
        """Run tasks, as drawn, and check after each step; return whether the program is to end."""
        self._check = check
        if not self.actions.exploring:
            return False
        while True:
            kind, which = self.actions.next()
            if kind == "run":
                self._run_one(which)
            elif kind == "cancel":
                self._cancel_one(which)
            elif kind == "clock":
                for choice in self._options("clock"):
                    self._step(choice)
            else:
                while kind in ("all", "rest") and (runs := self._options("run")):
                    self._step(runs[0])
                if kind != "all":
                    return kind == "end"

    @property
    def is_quiescent(self) -> bool:
        """Whether no task can run."""
        return self._engine is None or not self._options("run")

    def pass_time(self, seconds: float) -> None:
        """Let so much time pass, and run, first in, first out, until no task can run."""
        if not seconds:
            return
        until, _ = self.perform(functools.partial(trio.sleep, seconds), "time passes")
        assert until is not None
        while not until.done:
            self._step((self._options("run") or self._options("clock"))[0])
        self.rest()

    def _cancel_one(self, which: int) -> None:
        # The youngest first, so that a number means the same without an older one.
        tasks = [task for task in reversed(self._unfinished()) if not task.cancelled]
        if self._cancels_left and which < len(tasks):
            task = tasks[which]
            self._cancels_left -= 1
            self._log.lines.append(f"#      cancel {task.name}, which {self._place(task)}")
            self.engine.inside(task.cancel)
            self._look()

    def _look(self) -> None:
        """Raise what has gone wrong in the last step."""
        if self._steps > self._asked.max_steps:
            self._asked = replace(self._asked, max_steps=2 * self._steps)  # for the end
            raise MachineFailed(f"there was no end after {self._steps - 1} steps")
        if self._failing:
            return
        if self.actions.exploring:
            self.print_steps()
        if self._error is not None:
            raise self._error
        engine = self.engine
        if engine.broken and not self.ending:
            self._crash()
        if engine.violation:
            raise MachineFailed(engine.violation)
        if engine.ending is not None and engine.ending.failed:
            raise alone(engine.ending.error) or MachineFailed(engine.ending.message)
        if self.actions.exploring and not self.ending:
            self._check()

    def _crash(self) -> None:
        """Let everything end after an error in the nursery."""
        self._failing = True
        self.actions.exploring = False
        self._until(lambda: self.engine.over)
        self._failing = False
        if self.engine.ending is None or not self.engine.ending.failed:
            raise MachineFailed("the machine's nursery was cancelled; it is needed until the end")

    def print_steps(self) -> None:
        """Print the latest steps, if this is what the user will see of the example."""
        for line in self._log.lines:
            note(line)
        self._log.lines.clear()

    # The end.

    async def settle(self) -> None:
        """Wait until all rules have ended; for ``teardown``, in the main task."""
        if not self.ending or current_task() is not self.engine.main_task:
            raise RuntimeError("settle() belongs into teardown(): it waits for all rules")
        if self._unfinished():
            await self._settling.wait()

    def end(self, teardown: Callable[[], Any]) -> None:
        """Tear down, cancel what is unfinished, and see it end."""
        self.ending = True
        error = sys.exception() if sys.exception() is not self._handled else None
        # Without any rule nothing may be there to tear down, and that is no failure.
        self._failing = error is not None or self._engine is None
        self.actions.exploring &= not self._failing  # nothing can be drawn any more
        try:
            self._tear_down(teardown)
            if not self._failing:
                self._cancel_the_rest()
        except Exception as another:
            if not self._failing:
                raise
            # The first failure is the one to shrink.
            if error is not None and not isinstance(another, MachineFailed):
                error.add_note(f"teardown() has failed too: {another!r}")
        finally:
            self.closed = True
            self._close()

    def _tear_down(self, teardown: Callable[[], Any]) -> None:
        async def order() -> None:
            result = teardown()
            if inspect.isawaitable(result):
                await result

        engine = self.engine
        if engine.broken:
            self._until(lambda: engine.over)
        if engine.over:  # gone with an error in the nursery
            with contextlib.suppress(StopIteration), contextlib.closing(order()) as body:
                body.send(None)
            return
        engine.order(order)
        self._look()
        while not self._until(lambda: engine.answer is not None):
            if not self._settling.waits:
                where = stepping.whereabouts(engine, engine.main_task)
                raise MachineFailed(f"teardown() waits forever: it {where}")
            stuck = MachineFailed(f"waits forever: {self.places(self._unfinished())}")
            engine.inside(functools.partial(self._settling.end, stuck))
        assert engine.answer is not None
        engine.answer.unwrap()

    def _cancel_the_rest(self) -> None:
        engine = self.engine
        engine.order(None)
        self._look()
        if not self._until(lambda: engine.over):
            places = self.places(self._unfinished()) or "a task that is no rule"
            raise MachineFailed(f"cancelled, but does not end: {places}")

    def _close(self) -> None:
        with self._around:
            if (engine := self._engine) is not None:
                if not engine.over:
                    engine.inside(lambda: engine.end(Ending("cut")))
                engine.close()
        self.print_steps()
