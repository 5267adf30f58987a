"""Livelock: is there a fair way to go on forever in a test that is to end, and in which no task makes progress?

The tasks of it need not ever park: they poll (``while not flag: await trio.sleep(0)``), or give way to one
another without end. The graph of all states shows it as a cycle. In a test that has no end under any
schedule tasks may loop because they are meant to; there it is one if no task says that it wants
something, and from some state on none ever parks again.
"""

from __future__ import annotations

from array import array
from collections import defaultdict, deque
from collections.abc import Sequence, Set
from dataclasses import dataclass
from typing import ClassVar, Literal

from structsync.checking._fairness import weakly
from structsync.checking._liveness import CLOSED, TRIGGER, Lasso, find_lasso
from structsync.report._words import steps_repeat
from structsync.testing._execution.schedule import Choice

#: The target of a choice after which the test is over.
OVER = 2**32 - 1
#: A task that can run must run at last, and time must pass where nothing else can happen.
OWED = ("run", "clock")

Edges = Sequence[dict[Choice, int]]


@dataclass(frozen=True, slots=True)
class Livelock:
    """A behaviour in which tasks loop, and none makes progress.

    Attributes:
      way: the choices up to where it starts to repeat.
      cycle: the choices that repeat forever.
    """

    way: tuple[Choice, ...]
    cycle: tuple[Choice, ...]
    kind: ClassVar[Literal["livelock"]] = "livelock"

    @property
    def tasks(self) -> list[str]:
        """The tasks that loop."""
        return sorted({name for kind, name in self.cycle if kind == "run"})

    @property
    def culprit(self) -> str:
        """The tasks that it is about."""
        return " and ".join(self.tasks)

    @property
    def message(self) -> str:
        """What is wrong, in a sentence."""
        verb = "loops" if len(self.tasks) == 1 else "loop"
        return (
            f"{self.culprit} {verb} forever and no task makes progress, although every task that can "
            f"run does: the last {steps_repeat(len(self.cycle))}"
        )


def can_end(edges: Edges, state: int) -> bool:
    """Return whether the test can end from a state on without anything that is injected."""
    seen, queue = {state}, [state]
    while queue:
        for choice, target in edges[queue.pop()].items():
            if choice.kind in OWED and target == OVER:
                return True
            if choice.kind in OWED and target not in seen:
                seen.add(target)
                queue.append(target)
    return False


def leading_to(edges: Edges, states: Set[int]) -> set[int]:
    """Return these states, and those from which one of them can be reached."""
    before = defaultdict[int, list[int]](list)
    for state, choices in enumerate(edges):
        for target in choices.values():
            before[target].append(state)
    found, queue = {*states}, [*states]
    while queue:
        new = [one for one in before[queue.pop()] if one not in found]
        found.update(new)
        queue += new
    return found


def find_livelock(
    edges: Edges, got_on: Set[tuple[int, Choice]], outside: Set[int] = frozenset()
) -> Livelock | None:
    """Return a fair cycle without a choice by which a task makes progress, and not in these states."""
    graph = Graph(edges, got_on)
    marks = bytearray(CLOSED if state in outside else TRIGGER for state in graph.order)
    lasso = find_lasso(graph, marks, weakly(graph.fair), graph.levels)
    return None if lasso is None else Livelock(*graph.choices_of(lasso))


class Graph:
    """The states numbered in the order of their distance, as the search for cycles wants them.

    A choice that is in ``without`` is possible, but leads nowhere.
    """

    def __init__(self, edges: Edges, without: Set[tuple[int, Choice]] = frozenset()) -> None:
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
                self.target.append(OVER if (state, choice) in without else places.get(target, OVER))
            self.first.append(len(self.label))
        self.labels = [*numbers]
        self._numbers = numbers
        self.fair = frozenset(n for choice, n in numbers.items() if choice.kind in OWED)

    def way_to(self, place: int) -> list[int]:
        """Return the labels on the shortest way to a state."""
        way = []
        while place:
            place, choice = self.parent[place]
            way.append(self._numbers[choice])
        return way[::-1]

    def choices_of(self, lasso: Lasso) -> tuple[tuple[Choice, ...], tuple[Choice, ...]]:
        """Return the choices up to the cycle, and those of the cycle."""
        way = self.way_to(lasso.trigger) + [label for label, _ in lasso.stem]
        cycle = [label for label, _ in lasso.cycle]
        return tuple(self.labels[one] for one in way), tuple(self.labels[one] for one in cycle)
