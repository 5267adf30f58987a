"""Depth first below a prefix, and what is left of that for others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from structsync.testing._execution.execution import Execution
from structsync.testing._execution.schedule import Choice
from structsync.testing._search.choosers import DepthFirst, differing


class Subtree(DepthFirst):
    """Makes given choices first, and tries all that can follow them."""

    prefix: Sequence[Choice] = ()

    def choose(self, execution: Execution, options: tuple[Choice, ...]) -> Choice | None:
        step = len(execution.choices)
        if step >= len(self.prefix):
            return super().choose(execution, options)
        if self.prefix[step] not in options:
            raise differing(step, (self.prefix[step],), options)
        return self.prefix[step]

    def left(self) -> Iterator[tuple[int, tuple[Choice, ...]]]:
        """Yield prefixes of all that was not tried, the deepest first, each with its last step.

        The last step is counted from the end of this one's own prefix. To be called where
        :meth:`advance` has found that something is left.
        """
        made = [*self.prefix, *(node.options[node.index] for node in self._path)]
        last = len(self._path) - 1
        for depth in range(last, -1, -1):
            node = self._path[depth]
            start = tuple(made[: len(self.prefix) + depth])
            for option in node.options[node.index + (depth != last) :]:
                yield depth, (*start, option)
