"""Do all executions begin alike? One that leaves something behind in memory is not the first one again.

Looked at is the moment at which there is something to choose for the first time. Until then each execution does the
same, so a test may bring about there, by itself or by its fixtures, what it is to begin with.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

from structsync.testing._execution.under_test import is_under_test
from structsync.testing._state import starts

from .audit import branches

if TYPE_CHECKING:
    from structsync.testing._execution.execution import AsyncTest, Chooser, Execution
    from structsync.testing._execution.schedule import Choice

    from .runs import Runs


class Starts:
    """How the executions of a test began that were looked at."""

    def __init__(self, test: AsyncTest) -> None:
        self._test = test
        self._first: list[starts.Part] | None = None
        self._modules: set[str] = set()
        self.difference: str | None = None
        """In what one of them began otherwise than the first one."""

    def looking(self, chooser: Chooser) -> Chooser:
        """Return what chooses as this one does, and looks at the beginning."""
        return _AtTheStart(chooser, self._look)

    def look_again(self, runs: Runs, chooser: Chooser) -> None:
        """Look at how an execution begins now; it does not count."""
        executions, steps = runs.executions, runs.steps
        runs.execute(self.looking(chooser))
        runs.executions, runs.steps = executions, steps

    def _look(self, execution: Execution) -> None:
        ghosts, before = execution.ghosts(), self._modules
        self._modules = {name for name in sys.modules if is_under_test(name)}
        if self._first is None or self._modules != before:
            # One that imports something begins as no other one does: it is compared from the next one on.
            self._first = starts.start_of(self._test, ghosts)
        elif self.difference is None:
            self.difference = starts.difference(self._first, self._test, ghosts)


class _AtTheStart:
    """Looks at the state before the first choice."""

    def __init__(self, chooser: Chooser, look: Callable[[Execution], None]) -> None:
        self._chooser = chooser
        self._look: Callable[[Execution], None] | None = look

    def choose(self, execution: Execution, options: tuple[Choice, ...]) -> Choice | None:
        if self._look is not None and branches(options):
            self._look(execution)
            self._look = None
        return self._chooser.choose(execution, options)
