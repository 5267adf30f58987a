"""Where code under test keeps a function for later: a default, a closure, an attribute of a class.

``def wait(clock=time.monotonic)`` and ``field(default_factory=uuid.uuid4)`` bind the function when they are
executed. Putting something in its place in its module comes too late for them.
"""

from __future__ import annotations

import contextlib
import sys
import types
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from .under_test import is_under_test

#: Functions by their addresses: some of what is compared with them cannot be hashed.
Stands = Mapping[int, object]


@contextlib.contextmanager
def replaced_where_captured(stands: Stands, *roots: object) -> Iterator[None]:
    """Put others in the place of functions that the code under test has captured."""
    undo: list[Callable[[], object]] = []
    try:
        for function in _functions(roots):
            undo += _replace_in(function, stands)
        for kind in _classes():
            for name, value in [*vars(kind).items()]:
                plain = value.__func__ if isinstance(value, staticmethod) else value
                if id(plain) in stands:
                    setattr(kind, name, staticmethod(stands[id(plain)]))  # type: ignore[arg-type]
                    undo.append(_later(setattr, kind, name, value))
        yield
    finally:
        for step in reversed(undo):
            step()


def _replace_in(function: types.FunctionType, stands: Stands) -> Iterator[Callable[[], object]]:
    """Replace in the defaults and the closure of a function; yield how to undo it."""
    given, named = function.__defaults__, function.__kwdefaults__
    if given and any(id(one) in stands for one in given):
        function.__defaults__ = tuple([stands.get(id(one), one) for one in given])
        yield _later(setattr, function, "__defaults__", given)
    if named and any(id(one) in stands for one in named.values()):
        function.__kwdefaults__ = {n: stands.get(id(one), one) for n, one in named.items()}
        yield _later(setattr, function, "__kwdefaults__", named)
    for cell in function.__closure__ or ():
        with contextlib.suppress(ValueError):  # an empty one
            value = cell.cell_contents
            if id(value) in stands:
                cell.cell_contents = stands[id(value)]
                yield _later(setattr, cell, "cell_contents", value)


def _later(action: Callable[..., object], *args: Any) -> Callable[[], object]:
    return lambda: action(*args)


def _functions(roots: tuple[object, ...]) -> Iterator[types.FunctionType]:
    """Yield the functions of the modules under test, and of what is explored, and those inside them."""
    todo = [*roots]
    for owner in (*_modules(), *_classes()):
        todo += vars(owner).values()
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
        if one in roots or is_under_test(one.__module__):
            yield one
        todo += one.__defaults__ or ()
        todo.append(getattr(one, "__wrapped__", None))
        for cell in one.__closure__ or ():
            with contextlib.suppress(ValueError):
                todo.append(cell.cell_contents)


def _modules() -> list[types.ModuleType]:
    return [one for one in [*sys.modules.values()] if is_under_test(getattr(one, "__name__", ""))]


def _classes() -> list[type]:
    """Return the classes that the modules under test define."""
    found = dict.fromkeys(
        value
        for module in _modules()
        for value in [*vars(module).values()]
        if isinstance(value, type) and is_under_test(value.__module__)
    )
    return [*found]
