"""What a search has come to: one result, or all the ways in which a test has ended."""

from __future__ import annotations

from dataclasses import dataclass

from structsync.testing._execution.execution import Execution
from structsync.testing._settings import Way

from .livelock import Livelock
from .starvation import Starvation


@dataclass(frozen=True, slots=True)
class SearchResult:
    """What a search has come to.

    Attributes:
      failed: the execution that failed, or None.
      execution: its number.
      states: how many states were distinguished.
      memory: bytes that are taken by what is remembered of them.
      unfinished: why not everything was seen, or None.
      cycle: a fair behaviour without an end that is wrong, for ``liveness=True``.
      way: how it was searched.
      audited: of how many merges of states it was looked at what follows, and how many whole
          schedules were tried besides.
    """

    failed: Execution | None
    execution: int
    states: int
    memory: int
    unfinished: str | None
    cycle: Starvation | Livelock | None = None
    way: Way = "plain"
    audited: tuple[int, int] = (0, 0)
    notes: tuple[str, ...] = ()
    """What a reader of the verdict is to know besides."""


class Outcomes:
    """All ways in which a test has ended, for comparing one search with another."""

    def __init__(self, keep_traces: bool) -> None:
        self.outcomes: set[str] = set()
        self.traces: set[tuple[str, ...]] | None = set() if keep_traces else None
        self.tokens: dict[str, Execution] = {}
        self.executions = 0
        self.states = 0
        self.complete = False

    def add(self, execution: Execution) -> None:
        """Note how an execution ended."""
        ending = execution.ending
        assert ending is not None
        if ending.kind == "cut":
            return
        if ending.kind == "passed":
            outcome = f"passed: {ending.value!r}"
        else:
            outcome = f"{ending.kind}: {ending.message}"
        self.outcomes.add(outcome)
        self.tokens.setdefault(outcome, execution)
        if self.traces is not None:
            self.traces.add((*map(str, execution.choices), outcome))
