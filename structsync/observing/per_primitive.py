"""What is kept for each primitive, and forgotten with it."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from functools import partial
from typing import Any, Generic, TypeVar
from weakref import ref

T = TypeVar("T")


class PerPrimitive(Generic[T]):
    """A dictionary for each primitive.

    By identity, which a WeakKeyDictionary is not: a monitor may be a dataclass, and have no hash.
    """

    def __init__(self) -> None:
        self._kept: dict[int, tuple[ref[Any], dict[Hashable, T]]] = {}

    def of(self, live: Any) -> dict[Hashable, T]:
        """Return the dictionary of a primitive, to be read; an empty one if there is none."""
        found = self._kept.get(id(live))
        return {} if found is None else found[1]

    def to_write(self, live: Any) -> dict[Hashable, T]:
        """Return the dictionary of a primitive, to be changed."""
        key = id(live)
        found = self._kept.get(key)
        if found is None:
            found = self._kept[key] = (ref(live, partial(_forget, self._kept, key)), {})
        return found[1]

    def __contains__(self, live: Any) -> bool:
        return id(live) in self._kept

    def items(self) -> Iterator[tuple[Any, dict[Hashable, T]]]:
        """Yield the primitives, and the dictionary of each."""
        for reference, found in list(self._kept.values()):
            yield reference(), found  # not dead: it would be forgotten

    def __explore_state__(self) -> object:
        # Without the addresses, which are others in each execution.
        return [*self.items()]


def _forget(kept: dict[int, Any], key: int, _: object) -> None:
    del kept[key]
