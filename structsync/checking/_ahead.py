"""Other processes that take the moves of states ahead of one large search.

The search gives them the states that it has found, a slice at a time, and enters what they answer in the order of
the states, as if it had taken the moves itself. So numbers, verdicts and counterexamples are those of one
process. A state in which anything is out of the ordinary (a property that does not hold, an error, a value that
cannot be sent) they leave to the search, which then finds and tells it.
"""

from __future__ import annotations

import marshal
import pickle
import queue
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

from structsync._processes import Inbox, Process, program

from . import _implies
from ._errors import SpecError
from ._graph import Graph
from ._judging import Judge
from ._language import Snapshot
from ._model import Model
from ._values import exact, has_identity

#: A search that is over after so many seconds is not helped: to start a process takes most of one.
PATIENCE = 2.0
#: How many states a process is given at a time.
SLICE = 64
#: So many slices each process has before it, so that it need not wait.
IN_HAND = 3
#: Seconds between two looks at whether the time is up.
POLL = 0.05


class Searching(Protocol):
    """What is asked of the search that is helped."""

    graph: Graph
    judge: Judge
    model: Model
    transitions: int

    def seconds(self) -> float: ...
    def add(self, snapshot: Snapshot, parent: int, label: int, *, judged: bool = False) -> int: ...


class Step(NamedTuple):
    """A move that was taken, by its number in the other process, and what it led to."""

    label: int
    after: Snapshot
    judged: bool
    """True if the invariants hold of it."""


class Taken(NamedTuple):
    """What came of a state in which nothing is out of the ordinary."""

    marks: Sequence[int]
    steps: Sequence[Step]


class Answer(NamedTuple):
    """What came of a slice."""

    states: Sequence[Taken | None]
    moves: Sequence[tuple[int, tuple[Any, ...]]]
    """The moves that were met for the first time: the number of the action, and the arguments."""
    can_fail: bool
    moved: Sequence[str]
    implied: _implies.Record


def packed(value: Any) -> bytes | None:
    """Return bytes from which another process makes the same value; None if there are none."""
    try:
        return b"m" + marshal.dumps(value)
    except ValueError:
        pass
    try:
        data = pickle.dumps(value)
        if has_identity(value) or exact(pickle.loads(data)) != exact(value):
            return None
    except Exception:  # noqa: BLE001 - whatever a value of the user's says to that
        return None
    return b"p" + data


def unpacked(data: bytes) -> Any:
    """Return what was packed."""
    return (marshal if data[:1] == b"m" else pickle).loads(data[1:])


class Helpers:
    """The processes that help one search, from when it has turned out to be large.

    Args:
        allowed: tells how many there may be now.
        begin: what tells a process of which search it is: what `_helper` reads first.
    """

    def __init__(self, allowed: Callable[[], int], begin: object) -> None:
        self._allowed = allowed
        self._begin = begin
        self._inbox: Inbox = queue.SimpleQueue()
        self._helpers: list[_Helper] = []
        self._given = 0
        self._answers: dict[int, tuple[_Helper, Answer]] = {}  # by the first state of a slice
        self._slice: tuple[int, _Helper, Answer] | None = None
        self._refused = False

    def end(self) -> None:
        """End the processes."""
        for one in self._helpers:
            one.process.end(at_once=True)
        self._helpers.clear()

    def taken(self, search: Searching, number: int) -> Taken | None:
        """Return what came of the next state; None if the search has to take its moves itself."""
        if self._refused or not (self._helpers or self._start(search, number)):
            return None
        self._give(search, number)
        if number >= self._given:
            return None
        while number not in self._answers and not self._is_now(number):
            self._receive(search)
            if self._refused:
                return None
        if number in self._answers:
            helper, answer = self._answers.pop(number)
            self._slice = number, helper, answer
            search.judge.learn(answer.can_fail, answer.moved)
            _implies.learn(answer.implied)
        assert self._slice is not None
        first, helper, answer = self._slice
        found = answer.states[number - first]
        return found and helper.translated(search, found)

    def _is_now(self, number: int) -> bool:
        return self._slice is not None and number < self._slice[0] + len(self._slice[2].states)

    def _start(self, search: Searching, number: int) -> bool:
        """Begin, if it is worth it; True if there are helpers."""
        found = search.graph.states
        many = len(found) - number >= 2 * SLICE
        if not many or search.seconds() < PATIENCE or not self._allowed():
            return False
        if packed(found[number]) is None:
            self._refused = True
            return False
        for worker in range(self._allowed()):
            process = Process(worker, self._inbox, program("structsync.checking._helper"))
            self._helpers.append(_Helper(process))
            process.send(pickle.dumps(self._begin))
        self._given = number
        return True

    def _give(self, search: Searching, number: int) -> None:
        """Give helpers that have little left the next slices, from what no other has."""
        states = search.graph.states
        self._given = max(self._given, number)
        for helper in sorted(self._helpers, key=lambda one: len(one.in_hand)):
            while len(helper.in_hand) < IN_HAND and len(states) - self._given >= SLICE:
                first, self._given = self._given, self._given + SLICE
                helper.in_hand.append(first)
                slice_ = packed(states[first : self._given])
                order = (SLICE, slice_, [*search.judge.findings])
                helper.process.send(pickle.dumps(order))

    def _receive(self, search: Searching) -> None:
        """Wait a moment for what comes next."""
        search.model.pulse.beat()
        try:
            worker, data = self._inbox.get(timeout=POLL)
        except queue.Empty:
            return
        helper = self._helpers[worker]
        if data is None:
            raise SpecError(
                f"{helper.process.how_it_ended()}, while it helped, so nothing is confirmed; "
                "a search that needs more memory than there is ends so: give it smaller bounds, or -j 1"
            )
        answer = unpacked(data)
        if answer is None:  # it does not find the specs
            self._refused = True
            return
        answer = Answer(*answer)
        helper.moves += answer.moves
        self._answers[helper.in_hand.popleft()] = helper, answer


class _Helper:
    """A process, what it has before it, and its moves."""

    def __init__(self, process: Process) -> None:
        self.process = process
        self.in_hand: deque[int] = deque()
        self.moves: list[tuple[int, tuple[Any, ...]]] = []
        self._labels: dict[int, int] = {}

    def translated(self, search: Searching, found: Taken) -> Taken:
        """Return the same with the moves as the search numbers them, which it does when it meets them."""
        steps = [(self._label(search, label), after, judged) for label, after, judged in found[1]]
        return Taken(found[0], [Step(*one) for one in steps])

    def _label(self, search: Searching, label: int) -> int:
        known = self._labels.get(label)
        if known is None:
            action, arguments = self.moves[label]
            model = search.model
            known = self._labels[label] = model.move(model.actions[action], arguments).label
        return known


def enter(search: Searching, taken: Taken) -> None:
    """Enter what came of the next state, as the search would have, had it taken its moves."""
    graph, judge, model = search.graph, search.judge, search.model
    for marks, mark in zip(judge.marks, taken.marks, strict=True):
        marks.append(mark)
    number, edges = graph.expanded, graph.edges
    for label, after, judged in taken.steps:
        state = model.symmetry.reduced(after) if model.symmetry else after
        target = graph.find(state)
        search.transitions += 1
        if target is None:
            target = search.add(state, number, label, judged=judged)
        if edges:
            edges.add(label, target)
    if edges:
        edges.first.append(len(edges.label))
    graph.expanded += 1
