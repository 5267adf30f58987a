"""What can happen between two rules, and how it is drawn."""

from __future__ import annotations

from random import Random

#: What can happen after a rule, the simplest first, and each as often as it is to be drawn. It is
#: drawn again and again, until "rest" (all run, first in, first out, until nothing can run; "all" does
#: the same and is not the last), "leave" (all stay where they are) or "end" (of the program). One small
#: number for each: so Hypothesis, which shrinks an example by leaving out up to five of its numbers in
#: a row, can leave out an action, or a whole rule.
ACTIONS = (
    *[("rest", 0)] * 8,
    *[("run", 0)] * 12,
    *[("all", 0)] * 4,
    *[("run", 1)] * 4,
    *[("run", 2)] * 2,
    ("run", 3),
    *[("leave", 0)] * 3,
    *[("cancel", which) for which in range(3)] * 3,
    *[("cancel", which) for which in range(3, 6)],
    *[("clock", 0)] * 3,
    # Hypothesis itself ends a program at a bound, and cannot shrink it then: without one rule it would
    # go on to another one. What fails in teardown would stay as long as it was found.
    ("end", 0),
)


class DrawnActions:
    """The actions of one example, one after the other."""

    def __init__(self) -> None:
        self.source: Random | None = None
        self.exploring = False
        """Whether choices are drawn, which they are from the first rule on."""

    def next(self) -> tuple[str, int]:
        """Return the next action; the simplest one where nothing is drawn."""
        if not self.exploring or self.source is None:
            return ACTIONS[0]
        return ACTIONS[self.source.randrange(len(ACTIONS))]
