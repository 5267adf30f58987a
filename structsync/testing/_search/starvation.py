"""Starvation: is there a fair way to go on forever in which a task never gets what it wants?

For a test whose tasks loop forever. The search keeps the graph of all states; what is looked for
is a cycle in which one task wants something all the time, although every task that can always run
does run again and again (weak fairness; what is injected is not owed to any task).
"""

from __future__ import annotations

import sys
from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

from structsync.checking._fairness import weakly
from structsync.checking._liveness import CLOSED, TRIGGER, find_lasso
from structsync.report._words import steps_repeat
from structsync.testing._execution.schedule import Choice, Schedule

from .audit import MergeLog
from .choosers import DepthFirst, Replay, memory_of
from .livelock import OVER, OWED, Graph, Livelock, can_end, find_livelock, leading_to

if TYPE_CHECKING:
    from structsync.testing._execution.execution import Execution
    from structsync.testing._state.fingerprint import Fingerprinter


@dataclass(frozen=True, slots=True)
class Starvation:
    """A behaviour in which a task never makes progress.

    Attributes:
      victim: the name of the task.
      way: the choices up to where it starts to repeat.
      cycle: the choices that repeat forever.
    """

    victim: str
    way: tuple[Choice, ...]
    cycle: tuple[Choice, ...]
    kind: ClassVar[Literal["starvation"]] = "starvation"

    @property
    def culprit(self) -> str:
        """The task that it is about."""
        return self.victim

    @property
    def message(self) -> str:
        """What is wrong, in a sentence."""
        return (
            f"{self.victim} can wait forever although every task that can run does: "
            f"the last {steps_repeat(len(self.cycle))}"
        )


class TransitionMap(DepthFirst):
    """Goes depth first through all states, and keeps them and the choices between them."""

    def __init__(self, fingerprinter: Fingerprinter, seed: int = 0) -> None:
        super().__init__(None)  # each state is looked at here, to be numbered
        self._print = fingerprinter
        self.log = MergeLog(seed)
        """Some of the places where an execution was cut."""
        self._numbers: dict[tuple[bytes, int], int] = {}
        self._wanting: list[frozenset[str]] = []
        self._edges: list[dict[Choice, int]] = []
        self._states: list[int] = []
        """The numbers of the states on the path of this execution."""
        self._got_on: set[tuple[int, Choice]] = set()
        """The choices by which a task has got what it wanted."""
        self.marked = False
        """Whether a task has ever said that it wants something."""

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
                self.marked = self.marked or execution.requesting() is not None
        if step:
            before, made = self._states[step - 1], execution.choices[-1]
            self._edges[before][made] = state
            if execution.got_on():
                self._got_on.add((before, made))
        if step >= len(self._path) and not is_new:
            self.log.cut(execution.choices)
            return None
        return super().choose(execution, options)

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
        """Return a behaviour in which a task starves, or None; the search must be complete."""
        graph = Graph(self._edges)
        victims = sorted(frozenset[str]().union(*self._wanting))
        for victim in victims:
            marks = bytearray(
                TRIGGER if victim in self._wanting[state] else CLOSED for state in graph.order
            )
            lasso = find_lasso(graph, marks, weakly(graph.fair), graph.levels)
            if lasso is not None:
                return Starvation(victim, *graph.choices_of(lasso))
        return None

    def can_end(self) -> bool:
        """Return whether the test can end without anything that is injected."""
        return can_end(self._edges, 0)

    def livelock(self) -> Livelock | None:
        """Return a behaviour in which no task makes progress any more; the search must be complete."""
        if self.can_end():
            return find_livelock(self._edges, self._got_on)
        if self.marked:
            return None
        parked = {state for state, wanting in enumerate(self._wanting) if wanting}
        return find_livelock(self._edges, self._got_on, leading_to(self._edges, parked))


class CycleReplay(Replay):
    """Makes the steps of a schedule again, and sees whether the last one closes a cycle."""

    def __init__(self, schedule: Schedule, fingerprinter: Fingerprinter) -> None:
        super().__init__(schedule)
        self._print = fingerprinter
        self._states: list[bytes] = []
        self._wanting: list[frozenset[str]] = []
        self._owed: list[frozenset[Choice]] = []
        self._got_on: list[bool] = []

    def choose(self, execution: Execution, options: tuple[Choice, ...]) -> Choice | None:
        self._states.append(self._print(execution))
        self._wanting.append(_wanting(execution))
        self._owed.append(frozenset(one for one in options if one.kind in OWED))
        self._got_on.append(execution.got_on())
        return super().choose(execution, options)

    def cycle(self, choices: list[Choice]) -> Starvation | Livelock | None:
        """Return what the schedule shows, if it ends where it has been before."""
        last = self._states[-1]
        start = self._states.index(last)
        if start == len(choices):
            return None
        way, cycle = tuple(choices[:start]), tuple(choices[start:])
        victims = frozenset.intersection(*self._wanting[start:])
        for victim in sorted(victims):
            return Starvation(victim, way, cycle)
        is_fair = frozenset.intersection(*self._owed[start:]) <= {*cycle}
        return Livelock(way, cycle) if is_fair and not any(self._got_on[start + 1 :]) else None


def _wanting(execution: Execution) -> frozenset[str]:
    """Return which tasks want something: those that say so, else those that wait for more than children."""
    wanting = execution.requesting()
    if wanting is None:
        wanting = {
            task
            for task in execution.blocked()
            if not any(nursery.child_tasks for nursery in task.child_nurseries)
        }
    return frozenset(map(execution.names.for_report, wanting))
