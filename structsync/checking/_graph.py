"""The states and transitions that a search has found, stored so that a million of them fit.

States are numbered in the order of discovery, which breadth first is the order of their depth.
A state is a tuple whose items are shared between states; everything else about it is a few bytes
in an array.
"""

from __future__ import annotations

from array import array
from collections.abc import Hashable, Iterator
from marshal import dumps
from sys import getsizeof
from zlib import crc32

from ._errors import SpecError
from ._language import Snapshot
from ._values import check_value, exact

#: The parent of the first state, and the target of an action that raised.
NOWHERE = 2**32 - 1


class Graph:
    """All states found so far; with `keep_edges` also every transition, for liveness."""

    def __init__(self, fields: tuple[str, ...], keep_edges: bool) -> None:
        self.fields = fields
        self.index: dict[Snapshot, int] = {}
        self.sums = array("I")
        """A checksum of each state's exact bytes, for what equality does not tell apart."""
        self.states: list[Snapshot] = []
        self.parent = array("I")
        self.via = array("I")
        self.levels = [0]
        """The number of the first state of each depth."""
        self.expanded = 0
        """States below this number have had all their moves taken."""
        self.edges = Edges() if keep_edges else None
        self.plain = True
        """Whether marshal writes all states, so that looking at one costs little."""
        self._shared: list[tuple[dict[Hashable, Hashable], dict[int, dict[Hashable, Hashable]]]] = [
            ({}, {}) for _ in fields
        ]

    def add(self, snapshot: Snapshot, parent: int, label: int) -> int:
        """Store a state that is not yet known and return its number."""
        number = len(self.states)
        try:
            said = dumps(snapshot, 2)
        except ValueError:
            self.plain = False
            said = exact(snapshot)
        self.sums.append(crc32(said))
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
        arrays = [self.parent, self.via, self.sums]
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
        elif known is not value and exact(known) != exact(value):
            raise self.confused(position, known, value)
        return known

    def check_same(self, number: int, found: Snapshot) -> None:
        """Raise if a state is equal to a known one, but not the same."""
        if crc32(exact(found)) != self.sums[number]:
            for position, (known, value) in enumerate(zip(self.states[number], found, strict=True)):
                if exact(known) != exact(value):
                    raise self.confused(position, known, value)
            raise SpecError(  # the state that was stored says something else by now
                f"a value of the state {self.states[number]!r} was changed in place; put a new "
                "object in its place: a frozen dataclass, and dataclasses.replace(...)"
            )

    def confused(self, position: int, known: Hashable, value: Hashable) -> SpecError:
        """Return the error about two values of a field that equality does not tell apart."""
        return SpecError(
            f"field {self.fields[position]!r} is {known!r} in one state and {value!r} in another: "
            f"equal for Python ({_kinds(known, value)}), and not the same; use values of one type, "
            "and one value for each meaning"
        )


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
        _same(by_place.setdefault(place, {}), item) if type(item) in (tuple, frozenset) else item
        for place, item in enumerate(value)
    )


def _same(known: dict[Hashable, Hashable], item: Hashable) -> Hashable:
    first = known.setdefault(item, item)
    return first if first is item or exact(first) == exact(item) else item


def _kinds(one: object, other: object) -> str:
    names = [type(value).__name__ for value in (one, other)]
    return " and ".join(dict.fromkeys(names))
