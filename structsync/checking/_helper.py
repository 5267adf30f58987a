"""What a process does that helps with one search: take the moves of the states that it is given (see `_ahead`)."""

from __future__ import annotations

import contextlib
import pickle
import queue
from collections.abc import Hashable
from typing import IO, Any, ClassVar

from structsync._processes import orders, write

from . import _implies
from ._ahead import packed, unpacked
from ._budget import Budget, Stopped
from ._errors import ANY_ERROR
from ._finding import Finding
from ._graph import Edges, Graph
from ._jobs import search_of
from ._judging import Judge
from ._language import Snapshot
from ._search import Search
from ._worker import load_all, names_of

#: What a state is left to the search for.
UNUSUAL: tuple[type[BaseException], ...] = (Stopped, *ANY_ERROR)


class OutOfTheOrdinary(Stopped):
    """The search itself has to take the moves of this state."""


class _Strict(Judge):
    """Finds nothing: it leaves that to the search."""

    def refute(self, finding: Finding) -> None:
        raise OutOfTheOrdinary

    def close(self, names: list[str]) -> None:
        """Judge no more what is refuted."""
        for name in names:
            if name in self.open:
                super().refute(Finding(name, 0, ""))


class _Sheet(Graph):
    """In place of a graph: one state, and what its moves lead to."""

    def __init__(self, fields: tuple[str, ...], symmetric: bool) -> None:
        super().__init__(fields, keep_edges=False)
        self._symmetric = symmetric
        self._met: set[int] = set()
        self.taken = Edges()
        self.after: list[tuple[Snapshot, bool]] = []

    def begin(self, snapshot: Snapshot) -> None:
        """Put a state at 1: 0 is the first of the search."""
        self.states = [snapshot, snapshot]
        self.after = []
        self.edges = self.taken = Edges()

    def find(self, snapshot: Snapshot) -> int | None:
        """Note what a move has led to; None where the invariants have to be judged of it."""
        # A name is exchanged by the search, so that it judges what stands for others.
        value: Hashable = snapshot
        is_new = not self._symmetric and hash(value) not in self._met
        self.after.append((snapshot, is_new))
        if is_new:
            self._met.add(hash(value))
        return None if is_new else 0

    def add(self, snapshot: Snapshot, parent: int, label: int) -> int:
        self.states[2:] = [snapshot]
        return 2


class _Ahead(Search):
    """A search of one state after the other, as they are given."""

    judge_type: ClassVar[type[Judge]] = _Strict


class Helper:
    """Takes the moves of states for the search of a job."""

    def __init__(self, search: Search) -> None:
        self._search = search
        self._model = model = search.model
        model.pulse.most, search.budget = search.budget.max_states, Budget()
        self._sheet = search.graph = _Sheet(model.fields, model.symmetry is not None)
        if model.symmetry:
            model.reduced = None
        self._moves: list[tuple[int, tuple[Any, ...]] | None] = []
        self._told = 0

    def answer(self, states: list[Snapshot] | None, size: int, refuted: list[str]) -> bytes:
        """Return what comes of a slice of states, packed."""
        judge = self._search.judge
        assert isinstance(judge, _Strict)
        judge.close(refuted)
        taken = [self._taken(one) for one in states] if states else [None] * size
        moves = self._moves[self._told :]
        self._told = len(self._moves)
        rest = (tuple(moves), judge.dead_ends.can_fail, judge.moved(), _implies.record())
        data = packed((tuple(taken), *rest))
        if data is None:  # one of them cannot be sent
            data = packed((tuple([one if packed(one) else None for one in taken]), *rest))
        assert data is not None
        return data

    def _taken(self, snapshot: Snapshot) -> tuple[Any, ...] | None:
        """Return what comes of a state, as `_ahead.Taken` has it; None if that is out of the ordinary."""
        search, sheet = self._search, self._sheet
        for marks in search.judge.marks:
            marks.clear()
        sheet.begin(snapshot)
        try:
            search.expand(1)
        except UNUSUAL:
            return None
        finally:
            self._note_moves()
        labels = sheet.taken.label
        if any(self._moves[label] is None for label in labels):
            return None
        return (
            tuple([marks[0] for marks in search.judge.marks]),
            tuple([(label, *one) for label, one in zip(labels, sheet.after, strict=True)]),
        )

    def _note_moves(self) -> None:
        """Take note of how new moves are told; None of one that cannot be sent."""
        actions = self._model.actions
        for move in self._model.moves[len(self._moves) :]:
            told = (actions.index(move.action), move.arguments)
            self._moves.append(told if packed(told) else None)


def main() -> None:
    """Serve the search that has started this process, until the pipe is closed."""
    with contextlib.suppress(KeyboardInterrupt):
        serve(*orders())


def serve(inbox: queue.SimpleQueue[bytes | None], answers: IO[bytes]) -> None:
    """Load the spec, and help until there is nothing more to do."""
    try:
        paths, names, job, bounds = pickle.loads(inbox.get() or b"")
        loaded = load_all(paths)
        if names_of(loaded) != names:
            raise LookupError("other names")
        helper = Helper(search_of(job, loaded, bounds, kind=_Ahead))
    except ANY_ERROR:  # it was possible elsewhere
        write(answers, packed(None) or b"")
        return
    while (data := inbox.get()) is not None:
        size, slice_, refuted = pickle.loads(data)
        write(answers, helper.answer(unpacked(slice_) if slice_ else None, size, refuted))
