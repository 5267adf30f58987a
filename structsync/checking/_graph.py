"""The states and transitions that a search has found, stored so that a million of them fit.

States are numbered in the order of discovery, which breadth first is the order of their depth.
A state is a tuple whose items are shared between states; everything else about it is a few bytes
in an array.
"""

from __future__ import annotations

from array import array
from collections.abc import Hashable, Iterator
from sys import getsizeof

from ._language import Snapshot
from ._model import check_value

#: The parent of the first state, and the target of an action that raised.
NOWHERE = 2**32 - 1


class Graph:
    """All states found so far; with `keep_edges` also every transition, for liveness."""

    def __init__(self, fields: tuple[str, ...], keep_edges: bool) -> None:
        self.fields = fields
        self.index: dict[Snapshot, int] = {}
        self.states: list[Snapshot] = []
        self.parent = array("I")
        self.via = array("I")
        self.levels = [0]
        """The number of the first state of each depth."""
        self.expanded = 0
        """States below this number have had all their moves taken."""
        self.edges = Edges() if keep_edges else None
        self._shared: list[tuple[dict[Hashable, Hashable], dict[int, dict[Hashable, Hashable]]]] = [
            ({}, {}) for _ in fields
        ]

    def add(self, snapshot: Snapshot, parent: int, label: int) -> int:
        """Store a state that is not yet known and return its number."""
        number = len(self.states)
        snapshot = tuple(map(self._share, range(len(snapshot)), snapshot))
        self.index[snapshot] = number
        self.states.append(snapshot)
        self.parent.append(parent)
        self.via.append(label)
        return number

    def path(self, state: int) -> list[tuple[int, int]]:
        """Return the shortest way to a state as pairs of a label and the state it leads to."""
        found = []
        while self.parent[state] != NOWHERE:
            found.append((self.via[state], state))
            state = self.parent[state]
        return found[::-1]

    def depth(self) -> int:
        """Return the depth of the deepest state."""
        return len(self.levels) - 1 - (self.levels[-1] == len(self.states))

    def bytes_per_state(self) -> float:
        """Return what the search's own structures take, divided by the number of states."""
        arrays = [self.parent, self.via]
        if self.edges:
            arrays += [self.edges.first, self.edges.label, self.edges.target]
        one = getsizeof(self.states[0]) + getsizeof(NOWHERE)
        total = getsizeof(self.index) + getsizeof(self.states) + one * len(self.states)
        total += sum(getsizeof(each) for each in arrays)
        total += sum(getsizeof(pool) + sum(map(getsizeof, pool)) for pool in self._pools())
        return total / len(self.states)

    def _pools(self) -> Iterator[dict[Hashable, Hashable]]:
        for whole, items in self._shared:
            yield whole
            yield from items.values()

    def _share(self, position: int, value: Hashable) -> Hashable:
        """Return the first value equal to this one at the same place.

        Only at the same place: True equals 1, and a core must get back what it gave.
        """
        whole, by_place = self._shared[position]
        known = whole.get(value)
        if known is None:
            check_value(value, f"field {self.fields[position]!r}")
            known = _share_items(value, by_place) if type(value) is tuple else value
            whole[known] = known
        return known


class Edges:
    """The transitions of expanded states, the moves of one state after the other."""

    def __init__(self) -> None:
        self.first = array("Q", [0])
        self.label = array("I")
        self.target = array("I")


def _share_items(
    value: tuple[Hashable, ...], by_place: dict[int, dict[Hashable, Hashable]]
) -> tuple[Hashable, ...]:
    return tuple(
        by_place.setdefault(place, {}).setdefault(item, item)
        if isinstance(item, (tuple, frozenset))
        else item
        for place, item in enumerate(value)
    )
