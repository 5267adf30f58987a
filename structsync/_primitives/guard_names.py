"""Which attributes of its monitor a guard reads that the class of the monitor does not have.

A lambda in ``@entry(when=...)`` stands before the method whose class it is of, so no type checker knows
what its ``self`` is. A slip in a name would be found by the first call only: here it is when the class is made.
"""

from __future__ import annotations

import dis
import inspect
from collections.abc import Iterator
from difflib import get_close_matches
from types import CodeType
from typing import Any

#: Code that uses one of these may give objects any attributes, or ask whether they have them.
_ANY = {"__dict__", "delattr", "getattr", "hasattr", "setattr", "vars"}
#: Where a class keeps a function: in itself, in a decorator of the library, in a property.
_INSIDE = ("__wrapped__", "__func__", "fget", "fset", "func")


def check_names(cls: type, base: type, entry: str, guard: Any) -> None:
    """Raise TypeError if a guard of an entry reads an attribute that no object of the class will have.

    An attribute that something else sets is one that the class declares.

    Args:
      base: up to here, the classes that it inherits from are the user's.
    """
    code = getattr(guard, "__code__", None)
    if code is None or not code.co_argcount:  # written in C, or it does not look at its monitor
        return
    read = list(dict.fromkeys(_attributes_of(code, code.co_varnames[0])))
    if all(hasattr(cls, name) for name in read) or not _ANY.isdisjoint(_names_in(code)):
        return
    known = _known(cls, base)
    for name in read:
        if known is not None and name not in known:
            close = get_close_matches(name, [one for one in known if not one.startswith("_")], 1)
            meant = f"is it self.{close[0]}? If not, " if close else ""
            raise TypeError(
                f"the guard of {cls.__name__}.{entry} reads self.{name}, which {cls.__name__} does not "
                f"have: {meant}declare it in the class ({name}: int, for example), or set it in __init__"
            )


def _known(cls: type, base: type) -> set[str] | None:
    """Return the names that its own code uses, or that it inherits or declares; None if any may be."""
    known, used = {*dir(cls)}, set[str]()
    for one in cls.__mro__:
        known.update(inspect.get_annotations(one))
        if one in base.__mro__:
            continue
        if "__getattr__" in vars(one) or "__getattribute__" in vars(one):
            return None
        for value in vars(one).values():
            for code in _codes_of(value):
                used.update(_names_in(code))
    return known | used if _ANY.isdisjoint(used) else None


def _codes_of(value: Any, depth: int = 3) -> Iterator[CodeType]:
    if isinstance(code := getattr(value, "__code__", None), CodeType):
        yield code
    for name in _INSIDE if depth else ():  # some objects have every attribute that one asks for
        if (inside := getattr(value, name, None)) is not None:
            yield from _codes_of(inside, depth - 1)


def _nested(code: CodeType) -> Iterator[CodeType]:
    return (one for one in code.co_consts if isinstance(one, CodeType))


def _names_in(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for one in _nested(code):
        yield from _names_in(one)


def _attributes_of(code: CodeType, variable: str) -> Iterator[str]:
    """Yield which attributes of a variable the code reads."""
    is_loaded = False
    for one in dis.get_instructions(code):
        if is_loaded and one.opname in ("LOAD_ATTR", "LOAD_METHOD"):
            yield one.argval
        loaded = one.argval[-1] if isinstance(one.argval, tuple) else one.argval
        is_loaded = one.opname.startswith(("LOAD_FAST", "LOAD_DEREF")) and loaded == variable
    for inner in _nested(code):
        if variable in inner.co_freevars:
            yield from _attributes_of(inner, variable)
