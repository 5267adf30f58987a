"""The properties of a specification, evaluated at each state and each step of a trace that it follows.

A search evaluates them at every state within its bounds only, and not every specification that
follows a trace was searched.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from ._compiled import compile_forgetting
from ._events import TraceEvent
from ._finding import Finding
from ._judging import Judge
from ._language import Snapshot
from ._model import Model, Move

#: Of so many steps it is remembered what came of them.
MOST_ASKED = 10_000


class Taken(NamedTuple):
    """A step of a way: what was taken, where from, and the event that told it (None if unseen)."""

    move: Move
    before: Snapshot
    after: Snapshot
    event: TraceEvent | None


Way = tuple[Taken, ...]


class Broken(Exception):
    """A property is not true of the last state of a way, or of its last step."""

    def __init__(self, finding: Finding, way: Way) -> None:
        super().__init__(finding.property)
        self.finding = finding
        self.way = way


class Witness:
    """Evaluates invariants and step properties; what becomes of behaviours no trace that goes on can tell."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._judge = Judge(model, built_in=())
        self._asked: dict[tuple[Snapshot, int], Finding | None] = {}
        """What came of the moves that were judged: in the same state the same move is the same step."""
        self.remembered: Callable[[Snapshot], Snapshot] = (
            compile_forgetting(model.live, model.fields) or tuple
        )
        """From a state to the same as the next step finds it, without what it is declared to forget."""

    def begin(self) -> None:
        """Judge the first state, in which the live spec is.

        Raises:
            Broken: a property is not true of it.
        """
        self._judge.begin()
        self._judge.state(0)
        self._tell(self._found(), ())

    def step(self, way: Way) -> None:
        """Judge the last step of a way.

        Raises:
            Broken: a property is not true of it, or of the state after it.
        """
        model, judge, last = self._model, self._judge, way[-1]
        before = self.remembered(last.before)
        key = (before, last.move.label)
        if len(self._asked) >= MOST_ASKED:
            self._asked.clear()
        if key in self._asked:
            return self._tell(self._asked[key], way)
        model.restore(model.before, before)
        judge.enter(model.before)
        model.restore(model.live, last.after)
        if not judge.all_hold(model.live, model.before):
            judge.step(0, last.move)
        judge.state(0)
        self._asked[key] = self._found()
        return self._tell(self._asked[key], way)

    def _found(self) -> Finding | None:
        found = next(iter(self._judge.findings.values()), None)
        if found:
            self._judge.reopen()  # another way is judged from the beginning
        return found

    def _tell(self, found: Finding | None, way: Way) -> None:
        if found:
            raise Broken(found, way)
