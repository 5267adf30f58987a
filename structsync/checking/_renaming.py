"""Exchanging names in a value."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import lru_cache, partial
from typing import Any

#: What each name becomes.
Names = Mapping[Hashable, Hashable]


def renamed_arguments(arguments: tuple[Any, ...], names: Names) -> tuple[Any, ...]:
    """Return the arguments of an action or a property with the names in them exchanged."""
    return tuple([names[one] if one in names else renamed(one, names) for one in arguments])


def renamed(value: Any, names: Names) -> Any:
    """Return a value with the names in it exchanged."""
    kind: Any = type(value)
    if kind is str:
        return names.get(value, value)
    if kind is tuple:
        return tuple([renamed(one, names) for one in value])
    rebuilt = _how_rebuilt(kind)
    return value if rebuilt is None else rebuilt(value, names)


@lru_cache(maxsize=1024)
def _how_rebuilt(kind: Any) -> Callable[[Any, Names], Any] | None:
    """Return how a value of some type is made anew; None if there are no names in it."""
    if kind is frozenset:
        return lambda value, names: frozenset([renamed(one, names) for one in value])
    if issubclass(kind, tuple) and hasattr(kind, "_make"):
        return lambda value, names: kind(*[renamed(one, names) for one in value])
    if dataclasses.is_dataclass(kind):
        parts = tuple([one.name for one in dataclasses.fields(kind) if one.init])
        return partial(_rebuilt, parts)
    return None


def _rebuilt(parts: Sequence[str], value: Any, names: Names) -> Any:
    kind: Any = type(value)
    return kind(**{name: renamed(getattr(value, name), names) for name in parts})
