"""Names that can be exchanged: of all states that differ by an exchange, one is searched for all.

A spec says `symmetric = ("a", "b", "c")`, or several groups of such names, each of which can be exchanged
among themselves. All renamings of a state are an *orbit*; its *representative* is the one whose
bytes come first. Renaming goes through tuples, frozensets and frozen dataclasses down to the names;
`canonical` is called afterwards, so that a tuple that a spec keeps in the order of names is put in order.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Hashable, Iterable, Sequence
from itertools import permutations, product
from math import factorial, prod
from typing import Any

from ._errors import SpecError
from ._language import Snapshot, Spec
from ._renaming import Names
from ._values import exact

#: So many renamings are tried for each state, at most.
MOST_RENAMINGS = 720
#: So many states are remembered with their representatives.
REMEMBERED = 200_000


class Symmetry:
    """The renamings of a spec, numbered; 0 changes nothing."""

    def __init__(
        self,
        groups: Sequence[Sequence[Hashable]],
        rename: Callable[[Snapshot, Names], Snapshot],
        canonical: Callable[[Snapshot], Snapshot] | None,
    ) -> None:
        self.groups = groups
        self._rename = rename
        self._canonical = canonical
        names = [name for group in groups for name in group]
        place = {name: number for number, name in enumerate(names)}
        self.names: list[Names] = [
            dict(zip(names, [one for part in parts for one in part], strict=True))
            for parts in product(*map(permutations, groups))
        ]
        moved = [tuple([place[one[name]] for name in names]) for one in self.names]
        number_of = {one: number for number, one in enumerate(moved)}
        self.after = [
            array("H", [number_of[tuple([one[n] for n in other])] for other in moved])
            for one in moved
        ]
        """The number of "first j, then i" is `after[i][j]`."""
        self.inverse = [row.index(0) for row in self.after]
        self.turn = 0
        """The renaming that led to the representative that was asked for last."""
        self._idle = self.exchanges()
        """Those that have made no difference to any state."""
        self._known: dict[bytes, tuple[Snapshot, int]] = {}
        self._orbits: dict[bytes, array[int]] = {}

    def image(self, snapshot: Snapshot, renaming: int) -> Snapshot:
        """Return a state with its names exchanged."""
        found = self._rename(snapshot, self.names[renaming])
        return self._canonical(found) if self._canonical else found

    def reduced(self, snapshot: Snapshot) -> Snapshot:
        """Return the state that stands for one; `turn` says how it is renamed to that."""
        if self._canonical:
            snapshot = self._canonical(snapshot)
        known = self._known.get(exact(snapshot))
        if known is None:
            if len(self._known) > REMEMBERED:
                self._known.clear()
                self._orbits.clear()
            known = self._meet(snapshot)
        found, self.turn = known
        return found

    def _meet(self, snapshot: Snapshot) -> tuple[Snapshot, int]:
        images = [self.image(snapshot, number) for number in range(len(self.names))]
        written = [exact(one) for one in images]
        first = min(range(len(written)), key=written.__getitem__)
        row = self.after[first]
        self._idle = [
            one
            for one in self._idle
            if all(written[self.after[one][n]] == written[n] for n in range(len(written)))
        ]
        for number in reversed(range(len(written))):
            self._known[written[number]] = (images[first], row[self.inverse[number]])
        self._orbits[written[first]] = _numbered(written[one[first]] for one in self.after)
        return self._known[written[0]]

    def orbit(self, snapshot: Snapshot) -> array[int]:
        """Return for each renaming of a state which of its different images it leads to."""
        found = self._orbits.get(exact(snapshot))
        if found is None:
            images = [self.image(snapshot, one) for one in range(len(self.names))]
            found = _numbered(map(exact, images))
        return found

    def check_first(self, first: Snapshot, shown: Callable[[Snapshot], str]) -> None:
        """Raise unless no name makes a difference to the first state."""
        for one in self.exchanges():
            other = self.image(first, one)
            if exact(other) != exact(first):
                raise SpecError(
                    f"symmetric says that {self.pair(one)} can be exchanged, and the first "
                    f"state is {shown(first)} before that and {shown(other)} after it; "
                    "leave out the names that begin otherwise"
                )

    def check_met(self) -> None:
        """Raise if there are names that no state contains, so that exchanging them says nothing."""
        for one in self._idle:
            raise SpecError(
                f"symmetric says that {self.pair(one)} can be exchanged, and no state contains one "
                "of them; name those that are written in the states, or override renamed"
            )

    def exchanges(self) -> list[int]:
        """Return the renamings that exchange two names; all others are made of these."""
        return [
            number
            for number, one in enumerate(self.names)
            if sum(name != other for name, other in one.items()) == 2
        ]

    def pair(self, renaming: int) -> str:
        """Return the two names that such a renaming exchanges."""
        return " and ".join(repr(n) for n, o in self.names[renaming].items() if n != o)


def _numbered(written: Iterable[bytes]) -> array[int]:
    """Return for each image the number of those that are the same, in the order of the first of them."""
    numbers: dict[bytes, int] = {}
    return array("H", [numbers.setdefault(one, len(numbers)) for one in written])


def symmetry_of(
    live: Spec, state: Callable[..., Any], canonical: Callable[[Snapshot], Snapshot] | None
) -> Symmetry | None:
    """Return the symmetry that a spec declares, if it declares one.

    Raises:
        SpecError: what it declares is none.
    """
    groups = _groups(type(live))
    if not groups:
        return None

    def rename(snapshot: Snapshot, names: Names) -> Snapshot:
        try:
            found: Snapshot = tuple(live.renamed(state(*snapshot), names))
        except Exception as error:
            raise SpecError(f"renamed raised {type(error).__name__}: {error}") from error
        return found

    return Symmetry(groups, rename, canonical)


def _groups(spec: type[Spec]) -> list[tuple[Hashable, ...]]:
    given: Any = spec.symmetric
    repair = 'write symmetric = ("a", "b"), or (("a", "b"), ("c", "d")) for two groups'
    if not isinstance(given, (tuple, list)):
        raise SpecError(f"symmetric is a tuple of names, not {given!r}; {repair}")
    apart = [*given] if all(isinstance(one, (tuple, list)) for one in given) else [given]
    groups = [tuple(one) for one in apart]
    names = [name for group in groups for name in group]
    if not all(isinstance(one, str) for one in names) and spec.renamed is Spec.renamed:
        raise SpecError(
            f"the names in symmetric are texts, not {names!r}, of which a number could also stand "
            "for something else; use texts, or override renamed(snapshot, names)"
        )
    if len({*names}) < len(names) or any(len(group) < 2 for group in groups if apart != [()]):
        raise SpecError(
            f"symmetric gives groups of two names or more, each name once, not {given!r}; {repair}"
        )
    if prod(factorial(len(group)) for group in groups) > MOST_RENAMINGS:
        raise SpecError(
            f"the names in symmetric can be exchanged in more than {MOST_RENAMINGS} ways, which "
            "takes longer than it saves; name fewer of them"
        )
    return groups if names else []
