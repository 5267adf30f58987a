"""From which states is there no way to an end? A program that comes there loops forever.

Where states are distinguished an execution is cut at one that is known, so none of them is without
an end. The graph of the states shows it, once it is complete. A cancellation is no edge of it: nothing
owes one to the program.
"""

from __future__ import annotations

import sys
from array import array
from collections import Counter, defaultdict
from typing import TYPE_CHECKING

from .audit import MergeLog, branches
from .choosers import UNLIMITED, DepthFirst, Prefix

if TYPE_CHECKING:
    from structsync.testing._execution.execution import Execution
    from structsync.testing._execution.schedule import Choice
    from structsync.testing._state.fingerprint import Fingerprinter

    from .runs import Runs

#: Where tasks can loop, others may be kept waiting forever, or they themselves.
GOES_ROUND = "executions can loop, and starvation was not looked for: liveness=True does"
#: A way with so few deviations is looked for before any other.
FEW = 6


class ReachabilityMap(DepthFirst):
    """Goes depth first through all states, and keeps which one can follow which."""

    def __init__(self, fingerprinter: Fingerprinter, log: MergeLog) -> None:
        super().__init__(fingerprinter)
        self._log = log
        self._numbers = {b"": 0}
        self._sources, self._targets = array("I"), array("I")
        self._at: list[int] = []
        """For each step of the path, the state that was looked at last."""
        self._ended = {0}
        self._cut = False

    def choose(self, execution: Execution, options: tuple[Choice, ...]) -> Choice | None:
        depth, is_new = self._depth, self._depth >= len(self._path)
        choice = super().choose(execution, options)
        self._cut = choice is None
        if is_new:
            state = self._source(depth)
            if self.key is not None:
                self._sources.append(state)
                state = self._numbers.setdefault(self.key, len(self._numbers))
                self._targets.append(state)
            self._at[depth:] = [state]
            made = execution.choices[len(execution.choices) - depth :]
            self._log.arrive(made, self.key, branches(options))
            if choice is None:
                self._log.cut(execution.choices)
        return choice

    def _source(self, depth: int) -> int:
        """Return the state from which a step has led here of itself."""
        if not depth:
            return 0
        node = self._path[depth - 1]
        was_cancelled = node.options[node.index].kind in ("cancel", "scope")
        return 0 if was_cancelled else self._at[depth - 1]

    def ended(self, execution: Execution) -> None:
        if not self._cut and execution.ending is not None:
            self._log.ended(self._depth, execution.ending)

    def advance(self) -> bool:
        if not self._cut:
            self._ended.add(self._source(self._depth))
        return super().advance()

    @property
    def memory(self) -> int:
        arrays = sys.getsizeof(self._sources) + sys.getsizeof(self._targets)
        return super().memory + arrays + sys.getsizeof(self._numbers) + self._log.memory

    def endless(self) -> frozenset[bytes]:
        """Return the states from which no end can be reached; the search must be complete."""
        before = defaultdict[int, list[int]](list)
        for source, target in zip(self._sources, self._targets, strict=True):
            before[target].append(source)
        ending = set(self._ended)
        queue = [*ending]
        while queue:
            new = [one for one in before[queue.pop()] if one not in ending]
            ending.update(new)
            queue += new
        return frozenset(key for key, state in self._numbers.items() if state not in ending)

    def goes_round(self) -> bool:
        """Return whether a way through the states leads back to where it was."""
        after = defaultdict[int, set[int]](set)
        for source, target in zip(self._sources, self._targets, strict=True):
            after[source].add(target)
        ways_in = Counter(target for targets in after.values() for target in targets)
        queue = [state for state in self._numbers.values() if not ways_in[state]]
        for state in queue:
            for target in after[state]:
                ways_in[target] -= 1
                if not ways_in[target]:
                    queue.append(target)
        return len(queue) < len(self._numbers)


class StateSeeker(DepthFirst):
    """Goes depth first until it is in one of some states."""

    def __init__(
        self, states: frozenset[bytes], fingerprinter: Fingerprinter, max_deviations: int
    ) -> None:
        super().__init__(fingerprinter, max_deviations=max_deviations)
        self._sought = states
        self.there = False

    def choose(self, execution: Execution, options: tuple[Choice, ...]) -> Choice | None:
        choice = super().choose(execution, options)
        self.there = self.key in self._sought
        return None if self.there else choice


def execution_without_end(
    runs: Runs, states: frozenset[bytes], fingerprinter: Fingerprinter
) -> Execution:
    """Return an execution that comes into one of these states, with few deviations."""
    for bound in (*range(FEW), UNLIMITED):
        chooser = StateSeeker(states, fingerprinter, bound)
        more = True
        while more:
            chooser.begin()
            execution = runs.execute(chooser)
            if chooser.there:
                return runs.execute(Prefix(execution.choices, go_on=True))
            more = chooser.advance()
    raise AssertionError
