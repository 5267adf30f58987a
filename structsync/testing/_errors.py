"""What exploring a test raises."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from rich.console import Console

from structsync.report import to_text

if TYPE_CHECKING:
    from ._result import Exploration

#: Inside a traceback there is no terminal to ask for its width.
WIDTH = 120


class ExplorationFailed(AssertionError):
    """A schedule breaks the test; the text shows it. ``exploration`` is the whole result."""

    def __init__(self, exploration: Exploration) -> None:
        self.exploration = exploration
        super().__init__(exploration)

    def __str__(self) -> str:
        failure = self.exploration.failure
        assert failure is not None
        plain = Console(file=io.StringIO(), width=WIDTH, no_color=True, highlight=False)
        with plain.capture() as captured:
            plain.print(to_text(failure.counterexample))
        return captured.get().rstrip()


class NotExhaustive(AssertionError):
    """The search ended before everything was seen, and ``exhaustive=True`` was asked for."""


class NotExhaustiveWarning(UserWarning):
    """The search ended before everything was seen; nothing is proven beyond what it says."""


class ExploreUsageError(ValueError):
    """A test that cannot be explored, with the reason and the repair."""


class NondeterminismError(RuntimeError):
    """The test does not do the same in the same schedule: something outside decides too."""


class ReplayError(RuntimeError):
    """A token does not fit the test any more."""
