"""The steps of a run as they are drawn, or first in, first out where nothing is."""

from __future__ import annotations

import abc
from collections.abc import Callable

from structsync.testing._execution.schedule import Choice, Kind

from . import stepping
from .drawing import DrawnActions


class DrawnSteps(abc.ABC):
    """Makes one step after the other."""

    def __init__(self) -> None:
        self.actions = DrawnActions()
        self._steps = 0

    @property
    @abc.abstractmethod
    def engine(self) -> stepping.SteppedEngine:
        """The execution."""

    @abc.abstractmethod
    def _look(self) -> None:
        """Raise what has gone wrong in the last step."""

    def rest(self) -> None:
        """Run, first in, first out, until no task can run; no time passes."""
        while runs := self._options("run"):
            self._step(runs[0])

    def _options(self, kind: Kind) -> list[Choice]:
        return [one for one in self.engine.options if one.kind == kind]

    def _run_one(self, which: int) -> None:
        runs = self._options("run")
        if which < len(runs):
            self._step(runs[which])

    def _until(self, reached: Callable[[], bool]) -> bool:
        """Run what can run, and let time pass if nothing can; return False if that does not help."""
        kind = "run"
        while not reached():
            options = self._options("run") or self._options("clock")
            if not options:
                return False
            if kind != "rest":
                kind, which = self.actions.next()
                if kind == "run":
                    self._run_one(which)
            else:
                self._step(options[0])
        return True

    def _step(self, choice: Choice) -> None:
        self._steps += 1
        self.engine.step(choice)
        self._look()
