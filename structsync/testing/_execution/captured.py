"""Where code under test keeps a function for later: a default, a closure, an attribute, an item.

``def wait(clock=time.monotonic)`` and ``field(default_factory=uuid.uuid4)`` bind the function when they are
executed. Putting something in its place in its module comes too late for them.
"""

from __future__ import annotations

import contextlib
import sys
import types
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, cast

from .captured_in_data import Item, Stands, holds_one, items_in
from .under_test import is_under_test


@dataclass(frozen=True, slots=True)
class _Place:
    """An attribute that holds such a function, or a tuple or dictionary with one."""

    owner: Any
    name: str
    value: Any

    def replaced(self, stands: Stands) -> object:
        """Return what is to be there instead."""
        value = self.value
        if isinstance(value, tuple):
            return tuple([stands.get(id(one), one) for one in value])
        if isinstance(value, dict):
            return {name: stands.get(id(one), one) for name, one in value.items()}
        if isinstance(value, staticmethod):
            return staticmethod(stands[id(value.__func__)])  # type: ignore[arg-type]
        return stands[id(value)]

    def replace(self, stands: Stands) -> None:
        setattr(self.owner, self.name, self.replaced(stands))

    def restore(self) -> None:
        setattr(self.owner, self.name, self.value)


@contextlib.contextmanager
def replaced_where_captured(stands: Stands, *roots: object) -> Iterator[None]:
    """Put others in the place of functions that the code under test has captured."""
    if _active:  # further out, and these stand for what is there already
        yield
        return
    places: list[_Place | Item] = [*_in_functions(roots, stands, of_any_module=True)]
    places += items_in(_closed_over(roots), stands, [])
    for module in [*sys.modules.values()]:
        if is_under_test(getattr(module, "__name__", "")):
            places += _in_module(module, stands)
    _active.append(True)
    try:
        for place in places:
            place.replace(stands)
        yield
    finally:
        for place in reversed(places):
            place.restore()
        _active.clear()


_active: list[bool] = []
#: What was found in a module that has so many names; most programs explore the same ones over and over.
_known: dict[str, tuple[types.ModuleType, int, list[_Place | Item]]] = {}


def _in_module(module: types.ModuleType, stands: Stands) -> list[_Place | Item]:
    namespace = vars(module)
    known = _known.get(module.__name__)
    if known is not None and known[0] is module and known[1] == len(namespace):
        return known[2]
    values = [*namespace.values()]
    kinds = [one for one in values if isinstance(one, type) and one.__module__ == module.__name__]
    members = [(kind, name, one) for kind in kinds for name, one in vars(kind).items()]
    inside = [one for *_, one in members]
    functions: list[object] = []
    places: list[_Place | Item] = [*items_in([*values, *inside], stands, functions)]
    places += _in_functions([*values, *inside, *functions], stands)
    for kind, name, one in members:
        plain = one.__func__ if isinstance(one, staticmethod) else one
        if id(plain) in stands or (
            type(plain) is tuple and holds_one(cast("tuple[object, ...]", plain), stands)
        ):
            places.append(_Place(kind, name, one))
    _known[module.__name__] = module, len(namespace), places
    return places


def _in_functions(
    found: Iterable[object], stands: Stands, *, of_any_module: bool = False
) -> Iterator[_Place]:
    """Yield the places in functions, and in those inside them."""
    todo = [*found]
    seen = set[int]()
    while todo:
        one = todo.pop()
        if isinstance(one, staticmethod | classmethod | types.MethodType):
            one = one.__func__
        elif isinstance(one, property):
            todo += [one.fget, one.fset]
        if not isinstance(one, types.FunctionType) or id(one) in seen:
            continue
        seen.add(id(one))
        if not of_any_module and not is_under_test(one.__module__):
            continue
        yield from _in_function(one, stands)
        todo += one.__defaults__ or ()
        todo.append(getattr(one, "__wrapped__", None))
        todo += [value for _, value in _cells(one)]


def _in_function(function: types.FunctionType, stands: Stands) -> Iterator[_Place]:
    given, named = function.__defaults__ or (), function.__kwdefaults__ or {}
    if any(id(one) in stands for one in given):
        yield _Place(function, "__defaults__", given)
    if any(id(one) in stands for one in named.values()):
        yield _Place(function, "__kwdefaults__", named)
    for cell, value in _cells(function):
        if id(value) in stands:
            yield _Place(cell, "cell_contents", value)


def _closed_over(roots: Iterable[object]) -> Iterator[object]:
    """Yield the data in closures, also of functions in them."""
    todo = [*roots]
    seen = set[int]()
    while todo:
        one = todo.pop()
        if not isinstance(one, types.FunctionType):
            yield one
        elif id(one) not in seen:
            seen.add(id(one))
            todo += [value for _, value in _cells(one)]


def _cells(function: types.FunctionType) -> Iterator[tuple[types.CellType, object]]:
    for cell in function.__closure__ or ():
        with contextlib.suppress(ValueError):  # an empty one
            yield cell, cell.cell_contents
