"""Exchanging names in a value."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Hashable, Mapping
from typing import Any

#: What each name becomes.
Names = Mapping[Hashable, Hashable]


def renamed_arguments(arguments: tuple[Any, ...], names: Names) -> tuple[Any, ...]:
    """Return the arguments of an action or a property with the names in them exchanged."""
    return tuple([names[one] if one in names else renamed(one, names) for one in arguments])


def renamed(value: Any, names: Names) -> Any:
    """Return a value with the names in it exchanged."""
    kind: Callable[..., Any] = type(value)
    if kind is str:
        return names.get(value, value)
    if kind is tuple:
        return tuple([renamed(one, names) for one in value])
    if kind is frozenset:
        return frozenset([renamed(one, names) for one in value])
    if isinstance(value, tuple) and hasattr(kind, "_make"):
        return kind(*[renamed(one, names) for one in value])
    if dataclasses.is_dataclass(kind) and not isinstance(value, type):
        parts = {one.name: getattr(value, one.name) for one in dataclasses.fields(kind) if one.init}
        return kind(**{name: renamed(one, names) for name, one in parts.items()})
    return value
