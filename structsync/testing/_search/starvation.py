"""Starvation: is there a fair way to go on for ever in which somebody never gets what it wants?

For a test whose tasks loop for ever. The search keeps the graph of all states; what is looked for
is a cycle in which one task wants something all the time, although every task that can always run
does run again and again (weak fairness; what is injected is not owed to anybody).
"""

from __future__ import annotations

import sys
from array import array
from collections import deque
from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING

from structsync.checking._liveness import CLOSED, TRIGGER, find_lasso
from structsync.testing._execution.schedule import Choice, Schedule

from .audit import MergeLog
from .choosers import DepthFirst, Replay, memory_of

if TYPE_CHECKING:
    from structsync.testing._execution.execution import Execution
    from structsync.testing._state.fingerprint import Fingerprinter

#: The target of a choice after which the test is over.
OVER = 2**32 - 1


@dataclass(frozen=True, slots=True)
class Starvation:
    """A behaviour in which a task never gets on.

    Attributes:
      victim: the name of the task.
      way: the choices up to where it starts to repeat.
      cycle: the choices that repeat for ever.
    """

    victim: str
    way: tuple[Choice, ...]
    cycle: tuple[Choice, ...]


class TransitionMap(DepthFirst):
    """Goes depth first through all states, and keeps them and the choices between them."""

    def __init__(self, fingerprinter: Fingerprinter, seed: int = 0) -> None:
        super().__init__(fingerprinter)
        self._print = fingerprinter
        self.log = MergeLog(seed)
        """Some of the places where an execution was cut."""
        self._numbers: dict[tuple[bytes, int], int] = {}
        self._wanting: list[frozenset[str]] = []
        self._edges: list[dict[Choice, int]] = []
        self._states: list[int] = []
        """The numbers of the states on the path of this execution."""

    def begin(self) -> None:
        super().begin()
        self._here: list[int] = []

    def choose(self, execution: Execution, options: tuple[Choice, ...]) -> Choice | None:
        step = len(execution.choices)
        if step < len(self._path):
            state, is_new = self._states[step], False
        else:
            key = self._print(execution), execution.cancels_left
            is_new = key not in self._numbers
            state = self._numbers.setdefault(key, len(self._numbers))
            del self._states[step:]
            self._states.append(state)
            if is_new:
                self._wanting.append(_wanting(execution))
                self._edges.append(dict.fromkeys(options, OVER))
        if step:
            self._edges[self._states[step - 1]][execution.choices[-1]] = state
        if step >= len(self._path) and not is_new:
            self.log.cut(execution.choices)
            return None
        return self._go(options, step)

    def number(self, execution: Execution) -> int | None:
        """Return the number of the state in which an execution is, if it is known."""
        return self._numbers.get((self._print(execution), execution.cancels_left))

    def targets(self, state: int, choice: Choice) -> Collection[int]:
        """Return to which states a choice may lead from a state; :data:`OVER` is none.

        The names of scopes count how many were opened, which is no part of a state.
        """
        edges = self._edges[state]
        if choice.kind == "scope":
            return {one for other, one in edges.items() if other.kind == "scope"}
        return (edges[choice],) if choice in edges else ()

    @property
    def states(self) -> int:
        return len(self._numbers)

    @property
    def memory(self) -> int:
        edges = sum(map(sys.getsizeof, self._edges))
        return memory_of(self._numbers) + edges + sum(map(sys.getsizeof, self._wanting))

    def starved(self) -> Starvation | None:
        """Return a behaviour in which somebody starves, or None; the search must be complete."""
        graph = _Graph(self._edges)
        victims = sorted(frozenset[str]().union(*self._wanting))
        for victim in victims:
            marks = bytearray(
                TRIGGER if victim in self._wanting[state] else CLOSED for state in graph.order
            )
            lasso = find_lasso(graph, marks, graph.fair, graph.levels)
            if lasso is not None:
                labels = graph.labels
                way = graph.way_to(lasso.trigger) + [label for label, _ in lasso.stem]
                cycle = tuple(labels[label] for label, _ in lasso.cycle)
                return Starvation(victim, tuple(labels[label] for label in way), cycle)
        return None


class CycleReplay(Replay):
    """Makes the steps of a schedule again, and sees whether the last one closes a cycle."""

    def __init__(self, schedule: Schedule, fingerprinter: Fingerprinter) -> None:
        super().__init__(schedule)
        self._print = fingerprinter
        self._states: list[bytes] = []
        self._wanting: list[frozenset[str]] = []

    def choose(self, execution: Execution, options: tuple[Choice, ...]) -> Choice | None:
        self._states.append(self._print(execution))
        self._wanting.append(_wanting(execution))
        return super().choose(execution, options)

    def starvation(self, choices: list[Choice]) -> Starvation | None:
        """Return whose starvation the schedule shows, if it ends where it has been before."""
        last = self._states[-1]
        start = self._states.index(last)
        if start == len(choices):
            return None
        victims = frozenset.intersection(*self._wanting[start:])
        for victim in sorted(victims):
            return Starvation(victim, tuple(choices[:start]), tuple(choices[start:]))
        return None


class _Graph:
    """The states numbered in the order of their distance, as the search for cycles wants them."""

    def __init__(self, edges: list[dict[Choice, int]]) -> None:
        self.order = [0]
        self.levels = [0]
        places = {0: 0}
        self.parent: dict[int, tuple[int, Choice]] = {}
        queue = deque([(0, 0)])
        while queue:
            state, depth = queue.popleft()
            for choice, target in edges[state].items():
                if target != OVER and target not in places:
                    if depth + 1 == len(self.levels):
                        self.levels.append(len(self.order))
                    places[target] = len(self.order)
                    self.parent[places[target]] = (places[state], choice)
                    self.order.append(target)
                    queue.append((target, depth + 1))
        numbers: dict[Choice, int] = {}
        self.first = array("Q", [0])
        self.label = array("I")
        self.target = array("I")
        for state in self.order:
            for choice, target in edges[state].items():
                self.label.append(numbers.setdefault(choice, len(numbers)))
                self.target.append(places.get(target, OVER))
            self.first.append(len(self.label))
        self.labels = [*numbers]
        self._numbers = numbers
        # A task that can run must run at last, and time must pass where nothing else can happen.
        owed = ("run", "clock")
        self.fair = frozenset(n for choice, n in numbers.items() if choice.kind in owed)

    def way_to(self, place: int) -> list[int]:
        """Return the labels on the shortest way to a state."""
        way = []
        while place:
            place, choice = self.parent[place]
            way.append(self._numbers[choice])
        return way[::-1]


def _wanting(execution: Execution) -> frozenset[str]:
    """Return who wants something: those who say so, else those who wait for more than children."""
    wanting = execution.requesting()
    if wanting is None:
        wanting = {
            task
            for task in execution.blocked()
            if not any(nursery.child_tasks for nursery in task.child_nurseries)
        }
    return frozenset(map(execution.names.for_report, wanting))
