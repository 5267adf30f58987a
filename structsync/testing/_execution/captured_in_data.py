"""Functions that the data of the program holds: items of its lists and dictionaries, attributes of its objects."""

from __future__ import annotations

import contextlib
import functools
import types
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from .under_test import is_under_test

#: Functions by their addresses: some of what is compared with them cannot be hashed.
Stands: TypeAlias = Mapping[int, object]
#: What is larger is data, in which nothing is looked for.
_LARGEST = 1_000


@dataclass(frozen=True, slots=True)
class Item:
    """A place in data that holds such a function, or a tuple with one."""

    value: Any
    get: Callable[[], object]
    put: Callable[[Any], object]

    def replace(self, stands: Stands) -> None:
        """Put others in the place of what is there."""
        value = self.value
        if isinstance(value, tuple):
            self.put(tuple([stands.get(id(one), one) for one in value]))
        else:
            self.put(stands[id(value)])

    def restore(self) -> None:
        """Undo that, if nothing else is there by now."""
        with contextlib.suppress(LookupError):
            found = self.get()
            if _plainly(found) == _plainly(self.value):
                self.put(self.value)


def _plainly(value: Any) -> object:
    """Return a function without what was put round it, and so in a tuple."""
    if isinstance(value, tuple):
        return tuple(map(_plainly, value))
    return getattr(value, "__wrapped__", value)


def holds_one(values: Iterable[object], stands: Stands) -> bool:
    """Return whether one of these is to be replaced."""
    return any(id(one) in stands for one in values)


def items_in(found: Iterable[object], stands: Stands, functions: list[object]) -> Iterator[Item]:
    """Yield the places in data, and in the data inside it; add the functions that are in it."""
    todo = [*found]
    seen = set[int]()
    while todo:
        one = todo.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        if type(one) is weakref.ProxyType:  # it answers for what it refers to, which may be gone
            continue
        if isinstance(one, functools.partial):
            if holds_one((one.func, *one.args), stands):
                yield _in_partial(one)
            continue
        if isinstance(one, types.FunctionType):
            functions.append(one)
        owner = _container(one)
        for key, value in _pairs(owner):
            if id(value) in stands or (type(value) is tuple and holds_one(value, stands)):
                get = functools.partial(owner.__getitem__, key)
                yield Item(value, get, functools.partial(owner.__setitem__, key))
            else:
                todo.append(value)


def _in_partial(one: functools.partial[Any]) -> Item:
    def put(call: tuple[Any, ...]) -> None:
        function, *args = call
        one.__setstate__((function, (*args,), one.keywords, vars(one)))  # type: ignore[attr-defined]

    return Item((one.func, *one.args), lambda: (one.func, *one.args), put)


def _container(thing: object) -> Any:
    """Return a list or dictionary, or the attributes of an object of the program; else nothing."""
    if isinstance(thing, list | dict):
        return thing
    kind = type(thing)
    if kind is types.SimpleNamespace or (
        is_under_test(kind.__module__)
        and not isinstance(thing, type | types.ModuleType | types.FunctionType)
    ):
        with contextlib.suppress(Exception):  # a proxy may raise whatever it likes
            return vars(thing)
    return ()


def _pairs(container: Any) -> list[tuple[Any, Any]]:
    if len(container) > _LARGEST:
        return []
    return [*(container.items() if isinstance(container, dict) else enumerate(container))]
