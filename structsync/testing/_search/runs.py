"""Executions of one test, counted against what the search may cost."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import ceil
from typing import Any, cast

import trio

from structsync.checking._interrupt import InterruptFlag
from structsync.testing._errors import ExploreUsageError, NondeterminismError
from structsync.testing._execution.determinism import controlled, without_collector
from structsync.testing._execution.engine import Engine
from structsync.testing._execution.execution import AsyncTest, Chooser, Recorder
from structsync.testing._execution.handle import ExploredRun
from structsync.testing._settings import Settings
from structsync.testing._state import global_variables

from . import engine_choice
from .alarm import Alarm

# Bound now: the test may not read the clock, and what refuses it stands in its place meanwhile.
_now = time.perf_counter


#: The progress is reported after so many executions.
_TELL = 16


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a search has come, and what it has found already."""

    executions: int
    states: int
    steps: int
    seconds: float
    failure: str = ""
    """What has failed, when a smaller schedule is still looked for."""


class Runs:
    """Runs a test again and again, each time new, and knows when it is enough."""

    def __init__(
        self,
        test: AsyncTest,
        settings: Settings,
        *,
        engine: type[Engine] | None = None,
        progress: Callable[[Progress], None] | None = None,
    ) -> None:
        _refuse_inside()  # before anything runs: to choose an engine is to try both
        self.test = test
        self.settings = settings
        self.kind = engine or engine_choice.chosen()[0]
        self.executions = 0
        self.steps = 0
        self.raced = False
        """Whether deadlines have come in their order, where jitter might have changed it."""
        self.interrupt = InterruptFlag()
        self._alarm = Alarm()
        self._progress = progress
        self._started = _now()
        self._share = 1.0
        self._told = 0

    @contextlib.contextmanager
    def open(self) -> Iterator[None]:
        """Watch and forbid, and note Ctrl-C, while the block runs."""
        if not _one_at_a_time.acquire(blocking=False):
            raise ExploreUsageError(
                "another thread of this process explores at this moment; explore one after the "
                "other, or in processes"
            )
        try:
            global_variables.forget()
            with (
                self.interrupt,
                self._alarm,
                controlled(self.test),
                engine_choice.same_order_in_sets(),
            ):
                yield
        finally:
            _one_at_a_time.release()

    @contextlib.contextmanager
    def leaving(self, share: int | None) -> Iterator[None]:
        """Leave one part in ``share`` of what the search may cost, if that is given, to what follows."""
        self._share = 1.0 if share is None else 1 - 1 / share
        try:
            yield
        finally:
            self._share = 1.0

    @property
    def seconds(self) -> float:
        """The time since the first execution."""
        return _now() - self._started

    @property
    def time_is_over(self) -> bool:
        """Whether the search has had the time that it was given."""
        most = self.settings.seconds
        return most is not None and self.seconds >= self._share * most

    def execute(
        self, chooser: Chooser, recorder: Recorder | None = None, kind: type[Engine] | None = None
    ) -> Engine:
        """Run the test once.

        Raises:
          NondeterminismError: the test reached for what no schedule decides.
          ExploreUsageError: a check of the handle cannot fail.
          Exception: what the chooser raised.
          BaseException: what the handler of an alarm raised.
        """
        engine_choice.start_over()
        engine = (kind or self.kind)(self.settings, chooser, ExploredRun(), recorder)
        try:
            with without_collector():
                ending = engine.run(self.test)
        finally:
            if self._alarm.raised is not None:
                raise self._alarm.raised
        self.executions += 1
        self.steps += len(engine.choices)
        self.raced = self.raced or engine.raced
        problem = engine.problem or engine.handle._misuse
        if problem is not None:
            raise problem
        if ending.error is not None:
            if isinstance(ending.error, KeyboardInterrupt) or self._is_our_interrupt(ending.error):
                raise KeyboardInterrupt
            if (cause := _first(ending.error, NondeterminismError)) is not None:
                raise cause
        return engine

    def _is_our_interrupt(self, error: BaseException) -> bool:
        return bool(self.interrupt) and _first(error, KeyboardInterrupt) is not None

    def count(self, executions: int, steps: int) -> None:
        """Add what other processes have run."""
        self.executions += executions
        self.steps += steps

    @property
    def executions_left(self) -> int | None:
        """How many executions may still be made; None where nothing bounds them."""
        most = self.settings.executions
        return None if most is None else max(0, ceil(self._share * most) - self.executions)

    @property
    def seconds_left(self) -> float | None:
        """How much time there still is; None where nothing bounds it."""
        most = self.settings.seconds
        return None if most is None else max(0.0, self._share * most - self.seconds)

    def found(self, failure: str) -> None:
        """Report a failure before anything else is done about it."""
        if self._progress is not None:
            self._progress(Progress(self.executions, 0, self.steps, self.seconds, failure))

    def stopped(self, states: int) -> str | None:
        """Return why the search is to end now, or None; report the progress."""
        settings = self.settings
        if self._progress is not None and self.executions - self._told >= _TELL:
            self._told = self.executions
            self._progress(Progress(self.executions, states, self.steps, self.seconds))
        if self.interrupt:
            return "stopped by Ctrl-C"
        if settings.executions is not None and self.executions >= self._share * settings.executions:
            return f"stopped after executions={settings.executions:,}"
        if settings.states is not None and states >= settings.states:
            return f"stopped after states={settings.states:,}"
        if self.time_is_over:
            return f"stopped after seconds={settings.seconds:g}"
        return None


#: What is watched and forbidden holds for the whole process.
_one_at_a_time = threading.Lock()


def _refuse_inside() -> None:
    try:
        trio.lowlevel.current_root_task()
    except RuntimeError:
        return
    raise ExploreUsageError(
        "explore() cannot be called inside of a trio run, because it makes runs of its own; call "
        "it from a sync function, or decorate the test with @explore()"
    )


def _first(error: BaseException, kind: type[Any]) -> BaseException | None:
    """Return the first error of a kind in a group, or the error itself."""
    if isinstance(error, kind):
        return cast(BaseException, error)
    if isinstance(error, BaseExceptionGroup):
        for one in error.exceptions:
            if (found := _first(one, kind)) is not None:
                return found
    return None
