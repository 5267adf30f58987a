"""All states, from the representatives of those that differ by an exchange of names.

What a behaviour owes to one name it does not pay to another, so behaviours are looked for among all
states. No code of the spec is run for it: the moves of a renamed state are the renamed moves of its
representative. The states are numbered as those are, one after the other with all its images, so by depth.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Sequence
from functools import cached_property
from itertools import accumulate

from ._errors import SpecError
from ._graph import NOWHERE, Edges, Graph
from ._language import Snapshot
from ._model import Model, Property
from ._renaming import renamed_arguments
from ._symmetry import Symmetry


class Unfolded:
    """The whole graph of which a search knows the representatives."""

    def __init__(self, graph: Graph, model: Model, symmetry: Symmetry) -> None:
        self._graph, self._model, self._symmetry = graph, model, symmetry
        self._labels: dict[tuple[int, int], int] = {}

    @cached_property
    def _images(self) -> list[array[int]]:
        # Only once it is asked for: it takes as long as the search, and a way to a representative
        # needs no numbers.
        found: list[array[int]] = []
        for state in self._graph.states:
            self._model.pulse.beat()
            found.append(self._symmetry.orbit(state))
        return found

    @cached_property
    def _begin(self) -> array[int]:
        sizes = [max(images) + 1 for images in self._images]
        return array("Q", accumulate(sizes, initial=0))

    @property
    def size(self) -> int:
        """The number of states."""
        return self._begin[-1]

    def snapshot(self, node: int) -> Snapshot:
        """Return a state."""
        state, renaming = self._found(node)
        return self._symmetry.image(self._graph.states[state], renaming)

    def path(self, node: int) -> list[tuple[int, Snapshot]]:
        """Return the shortest way to a state as pairs of a label and the state it leads to."""
        return self.way(*self._found(node))

    def way(self, state: int, renaming: int = 0) -> list[tuple[int, Snapshot]]:
        """Return the same for a representative, or for what a renaming makes of it."""
        graph, symmetry = self._graph, self._symmetry
        found: list[tuple[int, Snapshot]] = []
        while graph.parent[state] != NOWHERE:
            here = symmetry.image(graph.states[state], renaming)
            renaming = symmetry.after[renaming][graph.turn[state]]
            found.append((self._label(graph.via[state], renaming), here))
            state = graph.parent[state]
        return found[::-1]

    def levels(self) -> list[int]:
        """Return the number of the first state of each depth that is known completely."""
        graph = self._graph
        return [self._begin[first] for first in graph.levels if first < graph.expanded]

    @cached_property
    def edges(self) -> Edges:
        """All transitions of the states whose moves were taken."""
        assert self._graph.edges is not None
        edges, known, symmetry = Edges(), self._graph.edges, self._symmetry
        for state in range(self._graph.expanded):
            self._model.pulse.beat()
            here = range(known.first[state], known.first[state + 1])
            for renaming in self._firsts(state):
                row = symmetry.after[renaming]
                for n in here:
                    target = known.target[n]
                    edges.label.append(self._label(known.label[n], renaming))
                    if target != NOWHERE:
                        image = self._images[target][row[symmetry.inverse[known.turn[n]]]]
                        target = self._begin[target] + image
                    edges.target.append(target)
                edges.first.append(len(edges.label))
        return edges

    def marks(self, marks: Sequence[bytearray], alike: Sequence[int]) -> bytearray:
        """Return how a property of behaviours stands in each state.

        Args:
            marks: how each of them stands in the representatives.
            alike: the property, and what it becomes by each renaming.
        """
        symmetry = self._symmetry
        found = bytearray()
        for state in range(self._graph.expanded):
            for renaming in self._firsts(state):
                found.append(marks[alike[symmetry.inverse[renaming]]][state])
        return found

    def _firsts(self, state: int) -> list[int]:
        """Return for each image of a representative a renaming that leads to it."""
        images = self._images[state]
        return [images.index(one) for one in range(max(images) + 1)]

    def _found(self, node: int) -> tuple[int, int]:
        state = bisect_right(self._begin, node) - 1
        return state, self._images[state].index(node - self._begin[state])

    def _label(self, label: int, renaming: int) -> int:
        """Return the label of a move with its names exchanged."""
        known = self._labels.get((label, renaming))
        if known is None:
            move = self._model.moves[label]
            arguments = renamed_arguments(move.arguments, self._symmetry.names[renaming])
            known = self._labels[label, renaming] = self._model.move(move.action, arguments).label
        return known


def orbit_of(symmetry: Symmetry, properties: Sequence[Property], number: int) -> list[int]:
    """Return for each renaming which of the properties it makes of one; they are declared for all names.

    Args:
        symmetry: the renamings.
        properties: the properties of behaviours, each at one value of its parameters.
        number: that of the property.
    """
    one = properties[number]
    numbers = {(each.name, each.arguments): n for n, each in enumerate(properties)}
    found: list[int] = []
    for names in symmetry.names:
        arguments = renamed_arguments(one.arguments, names)
        if (one.name, arguments) not in numbers:
            raise SpecError(
                f"@{one.kind} {one.name} is declared for {one.arguments!r} and not for "
                f"{arguments!r}, and symmetric says that these can be exchanged; give it all of them"
            )
        found.append(numbers[one.name, arguments])
    return found
