"""The states and transitions that a search has found, stored so that a million of them fit.

States are numbered in the order of discovery, which breadth first is the order of their depth.
A state is a tuple whose items are shared between states; everything else about it is a few bytes
in an array.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Hashable, Iterator
from marshal import dumps
from sys import getsizeof
from typing import Any
from zlib import crc32

from ._language import Snapshot
from ._symmetry import Symmetry
from ._values import check_value, exact, same

_written: Callable[[Any, int], bytes] = dumps

#: The parent of the first state, and the target of an action that raised.
NOWHERE = 2**32 - 1


class Graph:
    """All states found so far; with `keep_edges` also every transition, for liveness."""

    def __init__(
        self, fields: tuple[str, ...], keep_edges: bool, symmetry: Symmetry | None = None
    ) -> None:
        self.fields = fields
        self.index: dict[Snapshot, int] = {}
        self.plain = True
        """True as long as marshal could write every state; then `sums` has a checksum of each."""
        self.sums = array("I")
        self.states: list[Snapshot] = []
        self.parent = array("I")
        self.via = array("I")
        self.turn = array("H")
        """Where states stand for others: the renaming that led from what was found to the state."""
        self.levels = [0]
        """The number of the first state of each depth."""
        self.expanded = 0
        """States below this number have had all their moves taken."""
        self._symmetry = symmetry
        self.edges = Edges(symmetry) if keep_edges else None
        self.variants: dict[bytes, int] = {}
        """States that are equal to another one and not the same, as 1 and True are."""
        self._shared: list[tuple[dict[Hashable, Hashable], dict[int, dict[Hashable, Hashable]]]] = [
            ({}, {}) for _ in fields
        ]

    def find(self, snapshot: Snapshot) -> int | None:
        """Return the number of a state, if it is known: this very one, not one that is equal."""
        number = self.index.get(snapshot)
        if number is None:
            return None
        try:  # what marshal can write, it writes four times as fast as `same` can look
            is_same = self.plain and crc32(_written(snapshot, 2)) == self.sums[number]
        except ValueError:
            is_same = False
        if is_same or same(self.states[number], snapshot):
            return number
        return self.variants.get(exact(snapshot))

    def add(self, snapshot: Snapshot, parent: int, label: int) -> int:
        """Store a state that is not yet known and return its number."""
        number = len(self.states)
        if self.plain:
            try:
                self.sums.append(crc32(_written(snapshot, 2)))
            except ValueError:
                self.plain = False
        snapshot = tuple(map(self._share, range(len(snapshot)), snapshot))
        if self.index.setdefault(snapshot, number) != number:
            self.variants[exact(snapshot)] = number
        self.states.append(snapshot)
        self.parent.append(parent)
        self.via.append(label)
        if self._symmetry:
            self.turn.append(self._symmetry.turn)
        return number

    def snapshot(self, node: int) -> Snapshot:
        """Return a state."""
        return self.states[node]

    def path(self, node: int) -> list[tuple[int, Snapshot]]:
        """Return the shortest way to a state as pairs of a label and the state it leads to."""
        return self.way(node)

    def way(self, state: int) -> list[tuple[int, Snapshot]]:
        """Return the same; another one where `Unfolded` stands for this."""
        found: list[tuple[int, Snapshot]] = []
        while self.parent[state] != NOWHERE:
            found.append((self.via[state], self.states[state]))
            state = self.parent[state]
        return found[::-1]

    def depth(self) -> int:
        """Return the depth of the deepest state."""
        return max(0, len(self.levels) - 1 - (self.levels[-1] == len(self.states)))

    def bytes_per_state(self) -> float:
        """Return what the search's own structures take, divided by the number of states; 0 of none."""
        if not self.states:  # the time was up in the first one
            return 0.0
        arrays = [self.parent, self.via, self.turn, self.sums]
        if self.edges:
            arrays += [self.edges.first, self.edges.label, self.edges.target, self.edges.turn]
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
        """Return the first value at the same place that is the same: a core must get back what it gave."""
        whole, by_place = self._shared[position]
        known = whole.get(value)
        if known is None:
            check_value(value, f"field {self.fields[position]!r}")
            known = _share_items(value, by_place) if type(value) is tuple else value
            whole[known] = known
        elif known is not value and not same(known, value):
            return value
        return known


class Edges:
    """The transitions of expanded states, the moves of one state after the other."""

    def __init__(self, symmetry: Symmetry | None = None) -> None:
        self._symmetry = symmetry
        self.first = array("Q", [0])
        self.label = array("I")
        self.target = array("I")
        self.turn = array("H")
        """Where states stand for others: the renamings that led from what was found to the targets."""

    def add(self, label: int, target: int) -> None:
        """Store one more transition of the state that is expanded."""
        self.label.append(label)
        self.target.append(target)
        if self._symmetry:
            self.turn.append(self._symmetry.turn)


def _share_items(
    value: tuple[Hashable, ...], by_place: dict[int, dict[Hashable, Hashable]]
) -> tuple[Hashable, ...]:
    return tuple(
        _same(by_place.setdefault(place, {}), item) if type(item) in (tuple, frozenset) else item
        for place, item in enumerate(value)
    )


def _same(known: dict[Hashable, Hashable], item: Hashable) -> Hashable:
    first = known.setdefault(item, item)
    return first if first is item or same(first, item) else item
