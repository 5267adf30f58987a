"""What every kind of lane does: search below prefixes, one after the other, as far as it may."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from structsync.testing._errors import NondeterminismError
from structsync.testing._execution.execution import Ending, Execution
from structsync.testing._execution.schedule import Choice
from structsync.testing._search.audit import has_failed
from structsync.testing._search.choosers import Prefix
from structsync.testing._search.result import SearchResult
from structsync.testing._search.runs import Runs

from .jobs import Meter
from .subtree import Subtree

Part = TypeVar("Part")


@dataclass(frozen=True, slots=True)
class FailedElsewhere:
    """A schedule that fails, and how; without what belongs to the process in which it did."""

    choices: tuple[Choice, ...]
    signature: tuple[str, str]
    message: str

    @classmethod
    def of(cls, execution: Execution) -> FailedElsewhere:
        """Return what another process needs of an execution that has failed."""
        ending = execution.ending
        assert ending is not None
        return cls(tuple(execution.choices), ending.signature, ending.message)

    def repeated(self, runs: Runs) -> Execution:
        """Make the schedule again, in this process.

        Raises:
          NondeterminismError: it does not fail here as it did there.
        """
        execution = runs.execute(Prefix(self.choices))
        if execution.ending is None or execution.ending.signature != self.signature:
            raise NondeterminismError(
                f"a schedule ended in a worker process with {self.signature[0]} {self.message}, and here with "
                f"{_shown(execution.ending)}: the test depends on what only one of them has, such as a "
                "change that was made after the import, or the order of a set (PYTHONHASHSEED)"
            )
        return execution

    def result(self, runs: Runs, states: int = 0, memory: int = 0) -> SearchResult:
        """Return the result of a search that ends with it."""
        number = runs.executions
        reason = "stopped at the first failure"
        return SearchResult(self.repeated(runs), number, states, memory, reason)


def _shown(ending: Ending | None) -> str:
    return "nothing" if ending is None else f"{ending.kind} {ending.message}".rstrip()


def failed_in(execution: Execution, *, at_random: bool = False) -> FailedElsewhere | None:
    """Return what is to be told of an execution, if it failed."""
    ending = execution.ending
    failed = has_failed(execution) if at_random else ending is not None and ending.failed
    return FailedElsewhere.of(execution) if failed else None


def search_below(
    parts: list[Part],
    meter: Meter,
    begin: Callable[[Part], Subtree],
    left_of: Callable[[Subtree], list[Part]],
) -> tuple[list[Part], FailedElsewhere | None]:
    """Search below one part after the other; return what is left, and what failed."""
    failed: FailedElsewhere | None = None
    left = [*parts]
    while left and failed is None and not meter.is_over:
        chooser = begin(left.pop(0))
        more = True
        while more and failed is None and not meter.is_over:
            chooser.begin()
            execution = meter.runs.execute(chooser)
            chooser.ended(execution)
            failed = failed_in(execution)
            more = chooser.advance()
        if more:
            left = [*left_of(chooser), *left]
    return left, failed
