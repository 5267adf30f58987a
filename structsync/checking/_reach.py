"""What the functions of a spec can reach and change outside of its state.

A counter in a module, in a class or in a closure is state that the search neither restores nor
tells apart. The names in the code of the functions say where to look.
"""

from __future__ import annotations

import random
import sys
import types
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from ._declaration import declaration_of
from ._image import Image, difference, image_of
from ._language import Field, Spec

#: Where a value is: what it is called, and how it is read now.
Place = tuple[str, Callable[[], Any]]

_GONE = "gone"
_NOT_STATE = (types.ModuleType, types.BuiltinFunctionType, Field)


class Surroundings:
    """The values that the functions of a spec can reach, and what they said at first."""

    def __init__(self, spec: type[Spec], factories: Iterable[Any]) -> None:
        reach = _Reach()
        for owner in spec.__mro__:
            reach.through(owner)
        for factory in factories:
            reach.through(factory)
        self._places = reach.places
        self.at_first = self._image()

    def change(self) -> tuple[str, str, str] | None:
        """Return what has changed since the beginning, or None."""
        return difference(self.at_first, self._image())

    def _image(self) -> Image:
        return image_of({name: read() for name, read in self._places.items()})


class _Reach:
    def __init__(self) -> None:
        self.places: dict[str, Callable[[], Any]] = {}
        self._seen: set[int] = set()

    def through(self, value: Any) -> None:
        """Note what a function or class can reach, and go on from there."""
        if id(value) in self._seen or len(self._seen) > 2_000:
            return
        self._seen.add(id(value))
        if isinstance(value, type):
            if _is_users(value.__module__):
                self._class(value)
        elif isinstance(value, types.FunctionType):
            if _is_users(value.__module__):
                self._function(value)
        else:
            for inner in _functions_in(value):
                self.through(inner)

    def _class(self, kind: type) -> None:
        for owner in kind.__mro__[1:]:
            self.through(owner)
        for name, value in list(vars(kind).items()):
            word = declaration_of(value)
            for one in (value, *([word.when, *word.domains.values()] if word else ())):
                self.through(one)
            if isinstance(value, Field):
                self.through(value.factory)
                for key, given in [*enumerate(value.args), *value.kwargs.items()]:
                    self._value(
                        f"argument {key} of {kind.__qualname__}.{name}", partial(_itself, given)
                    )
            elif not _is_code(value) and not _is_dunder(name):
                self.places[f"{kind.__qualname__}.{name}"] = partial(vars(kind).get, name, _GONE)

    def _function(self, function: types.FunctionType) -> None:
        called = f"{function.__module__}.{function.__qualname__}"
        known = function.__globals__
        for name in _names(function.__code__):
            if name in known:
                self._global(known, name, function.__code__)
        free = function.__code__.co_freevars
        for name, cell in zip(free, function.__closure__ or (), strict=True):
            self._value(f"{name} of {called}", partial(_content, cell))
        for number, value in enumerate(function.__defaults__ or ()):
            self._value(f"default {number} of {called}", partial(_itself, value))
        for name in vars(function):
            if not name.startswith("__"):
                self.places[f"{called}.{name}"] = partial(vars(function).get, name, _GONE)

    def _global(self, known: dict[str, Any], name: str, code: types.CodeType) -> None:
        value = known[name]
        if value is random:
            self.places["the state of random"] = random.getstate
        elif isinstance(value, types.ModuleType):
            if _is_users(value.__name__):
                for inner in _names(code):
                    if inner in vars(value):
                        self._global(vars(value), inner, code)
        else:
            module = known.get("__name__", "?")
            self._value(f"{module}.{name}", partial(known.get, name, _GONE))

    def _value(self, name: str, read: Callable[[], Any]) -> None:
        value = read()
        self.through(value)
        if not isinstance(value, _NOT_STATE):
            self.places[name] = read


def _itself(value: Any) -> Any:
    return value


def _content(cell: types.CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # not assigned yet
        return _GONE


def _is_code(value: object) -> bool:
    return callable(value) or isinstance(value, (property, classmethod, staticmethod))


def _is_dunder(name: str) -> bool:
    return name.startswith("__") or name == "_abc_impl"


def _functions_in(value: Any) -> Iterator[Any]:
    """Yield the functions that something made of functions would call."""
    for name in ("fget", "fset", "func", "__func__", "__wrapped__"):
        inner = getattr(value, name, None) if not isinstance(value, Spec) else None
        if inner is not None and callable(inner):
            yield inner


def _names(code: types.CodeType) -> Iterator[str]:
    yield from code.co_names
    for inner in code.co_consts:
        if isinstance(inner, types.CodeType):
            yield from _names(inner)


def _is_users(module: str | None) -> bool:
    """Return whether a module is a user's: not Python's, not installed, not structsync's own."""
    if module is None:
        return False
    top = module.partition(".")[0]
    if top in sys.stdlib_module_names and top != "__main__":
        return False
    if top == "structsync":
        return module.startswith("structsync.specs")
    file = getattr(sys.modules.get(module), "__file__", None) or ""
    return not {"site-packages", "dist-packages"} & {*Path(file).parts}
