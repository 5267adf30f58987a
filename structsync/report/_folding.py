"""Which steps of a schedule have a row of their own, and which are told together.

The rule is one for all renderings: a step is folded if it neither deviates nor changes, wakes or ends
anything, is not where a blocked task stands forever, and no cycle is in it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ._model import Counterexample
from ._words import counted, listed

#: A row that stands for fewer steps would save nothing.
LEAST = 3
#: So many tasks are named in it.
MOST_NAMES = 3


@dataclass(frozen=True, slots=True)
class Fold:
    """Steps in a row that are told together, by their indexes: the first, and the one behind them."""

    first: int
    end: int
    actors: tuple[str, ...]

    @property
    def steps(self) -> str:
        """Their numbers: ``4-9``."""
        return f"{self.first + 1}-{self.end}"

    @property
    def who(self) -> str:
        """The tasks that ran."""
        return listed(self.actors, MOST_NAMES)

    @property
    def text(self) -> str:
        """What is to say about them."""
        return f"{counted(self.end - self.first, 'step')} that change nothing shown here"


def rows(shown: Counterexample) -> Iterator[int | Fold]:
    """Yield the indexes of the steps that have a row, and the folds between them."""
    run: list[int] = []
    for index in range(len(shown.steps) + 1):
        if index < len(shown.steps) and not is_told(shown, index):
            run.append(index)
            continue
        if len(run) < LEAST:
            yield from run
        else:
            names = dict.fromkeys(shown.steps[n].actor for n in run)
            yield Fold(run[0], run[-1] + 1, tuple(names))
        run = []
        if index < len(shown.steps):
            yield index


def is_told(shown: Counterexample, index: int) -> bool:
    """Return whether something is to be seen in a step."""
    step = shown.steps[index]
    if step.deviation or step.injected or step.note or step.woke or step.parked == "exits":
        return True
    if index in (0, len(shown.steps) - 1) or shown.changes(index):
        return True
    if shown.cycle_start is not None and index >= shown.cycle_start:
        return True
    # A blocked task stands where it came to in its last step.
    blocked = {one.task for one in shown.blocked}
    return step.actor in blocked and shown.next_turn(step.actor, index) is None
