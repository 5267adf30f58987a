"""The audit of a search for starvation: it keeps the whole graph, so each step of a sample must be in it."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from .audit import FEWEST_MERGES, REPAIR, SHARE, TAKEN_FOR_EQUAL, Audit, has_failed
from .choosers import differing
from .livelock import OVER
from .starvation import TransitionMap

if TYPE_CHECKING:
    from structsync.testing._execution.execution import Execution
    from structsync.testing._execution.schedule import Choice

    from .runs import Runs

#: An execution is carried on over so many steps, in each of which a state is looked at.
FARTHEST = 16


def audit(runs: Runs, graph: TransitionMap) -> Audit:
    """Carry executions on that were cut, along choices at random, and compare each step with the graph."""
    log = graph.log
    wanted = max(FEWEST_MERGES, log.count // SHARE)
    chosen = random.Random(runs.settings.seed).sample(log.merges, min(wanted, len(log.merges)))
    for number, prefix in enumerate(chosen):
        if reason := runs.stopped(0):
            return Audit(number, 0, unfinished=f"{reason}, in the audit")
        walk = _Walk(prefix, graph, random.Random(number))
        execution = runs.execute(walk)
        if has_failed(execution):
            return Audit(number + 1, 0, failed=execution)
        if walk.is_wrong(execution):
            after = execution.choices[-1]
            text = f"'{after}' at step {len(execution.choices)} leads where it never led before"
            return Audit(number + 1, 0, unfinished=f"{TAKEN_FOR_EQUAL}: {text}; {REPAIR}")
    return Audit(len(chosen), 0)


class _Walk:
    """Goes to where an execution was cut, and on from there at random."""

    def __init__(self, prefix: list[Choice], graph: TransitionMap, chance: random.Random) -> None:
        self._prefix = prefix
        self._graph = graph
        self._random = chance
        self._before: int | None = None
        self._wrong = False

    def choose(self, execution: Execution, options: tuple[Choice, ...]) -> Choice | None:
        step = len(execution.choices)
        if step < len(self._prefix):
            if self._prefix[step] not in options:
                raise differing(step, (self._prefix[step],), options)
            return self._prefix[step]
        state = self._graph.number(execution)
        if state is None or not self._leads_to(state, execution):
            self._wrong = True
            return None
        self._before = state
        over = step - len(self._prefix) >= FARTHEST
        return None if over else self._random.choice(options)

    def _leads_to(self, state: int, execution: Execution) -> bool:
        if self._before is None:
            return True
        return state in self._graph.targets(self._before, execution.choices[-1])

    def is_wrong(self, execution: Execution) -> bool:
        """Return whether a step was none that the graph has."""
        ending = execution.ending
        assert ending is not None
        return self._wrong or (ending.kind == "passed" and not self._leads_to(OVER, execution))
