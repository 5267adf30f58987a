"""What an object says to the bottom, flat, so that two looks at it can be compared by name."""

from __future__ import annotations

import functools
import itertools
import random
import types
from collections import deque
from typing import Any

from ._values import contents, exact

#: Of larger objects no more than this many parts are looked at.
MOST_PARTS = 4_000

Image = dict[str, object]

_OPAQUE = (type, types.ModuleType, types.BuiltinFunctionType, types.CodeType, property)
_ITERATORS = (itertools.count, itertools.cycle, itertools.repeat)
_PLAIN = (type(None), bool, int, float, complex, str, bytes)


def parts_of(name: str, thing: object) -> dict[str, Any]:
    """Return the parts of an object by path, without what it only remembers from having computed it."""
    return {
        f"{name}.{part}": value
        for part, value in contents(thing)
        if not isinstance(getattr(type(thing), part, None), functools.cached_property)
    }


def image_of(roots: dict[str, Any]) -> Image:
    """Return every part of some objects, by the path that leads to it."""
    walk = _Walk()
    for name, value in roots.items():
        walk.into(name, value)
    return walk.image


def shared_parts(some: dict[str, Any], others: dict[str, Any]) -> dict[str, Any]:
    """Return what two groups of objects both hold, by its path in the first."""
    mine, theirs = _Walk(), _Walk()
    for walk, roots in ((mine, some), (theirs, others)):
        for name, value in roots.items():
            walk.into(name, value)
    return {mine.paths[id(one)]: one for one in mine.kept if id(one) in theirs.paths}


def difference(one: Image, other: Image) -> tuple[str, str, str] | None:
    """Return where two images differ, with what each has there, or None."""
    for path in [*one, *(path for path in other if path not in one)]:
        a, b = one.get(path, "nothing"), other.get(path, "nothing")
        if a != b:
            return path, _shown(a), _shown(b)
    return None


def _shown(leaf: object) -> str:
    return str(leaf[-1]) if isinstance(leaf, tuple) else str(leaf)


class _Walk:
    def __init__(self) -> None:
        self.image: Image = {}
        self.paths: dict[int, str] = {}
        self.kept: list[object] = []  # so that no id is given twice

    def into(self, path: str, value: Any) -> None:
        if len(self.image) >= MOST_PARTS:
            return
        kind = type(value)
        if kind in _PLAIN:
            self.image[path] = (exact(value), repr(value))
        elif isinstance(value, _OPAQUE):
            self.image[path] = (id(value), f"{value!r}")
        elif id(value) in self.paths:
            self.image[path] = f"the same as {self.paths[id(value)]}"
        else:
            self.paths[id(value)] = path
            self.kept.append(value)
            self.image[path] = kind.__qualname__
            self._inside(path, value)

    def _inside(self, path: str, value: Any) -> None:
        if isinstance(value, dict):
            for number, (key, item) in enumerate(value.items()):
                plain = isinstance(key, _PLAIN)
                if not plain:
                    self.into(f"{path}.key {number}", key)
                self.into(f"{path}[{key!r}]" if plain else f"{path}[key {number}]", item)
        elif isinstance(value, (list, tuple, deque)):
            self.image[path] = (len(value), f"{type(value).__qualname__} of {len(value)}")
            for number, item in enumerate(value):
                self.into(f"{path}[{number}]", item)
        elif isinstance(value, (set, frozenset)):
            said = exact(frozenset(value))
            self.image[path] = (said, f"{type(value).__qualname__} of {len(value)}")
        elif isinstance(value, _ITERATORS):
            self.image[path] = repr(value)
        elif isinstance(value, random.Random):
            self.image[path] = (value.getstate(), "a random state")
        elif isinstance(value, types.MethodType):
            self.into(f"{path}.__func__", value.__func__)
            self.into(f"{path}.__self__", value.__self__)
        elif isinstance(value, types.FunctionType):
            self.image[path] = (value.__code__, value.__qualname__)
            self._attributes(path, value, vars(value).items())
        else:
            self._attributes(path, value, _held(value))

    def _attributes(self, path: str, value: Any, held: Any) -> None:
        for name, item in held:
            if not isinstance(getattr(type(value), name, None), functools.cached_property):
                self.into(f"{path}.{name}", item)


def _held(value: Any) -> list[tuple[str, Any]]:
    module = type(value).__module__
    ours = module.partition(".")[0] == "structsync" and not module.startswith("structsync.specs")
    if ours or module in _NOT_LOOKED_INTO:
        return []
    return [
        one if type(one) is tuple and len(one) == 2 and type(one[0]) is str else ("()", one)
        for one in contents(value)
    ]


# What they hold belongs to the interpreter, or to the machine; our own classes have their own tests.
_NOT_LOOKED_INTO = frozenset(
    {"builtins", "_io", "logging", "threading", "_thread", "re", "weakref"}
)
