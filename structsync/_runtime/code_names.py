"""Which names the code of a class uses, read from its functions before any of them has run."""

from __future__ import annotations

import dis
from collections.abc import Collection, Iterator
from types import CodeType
from typing import Any

READS = ("LOAD_ATTR", "LOAD_METHOD")
STORES = ("STORE_ATTR",)
#: Where a class keeps a function: in itself, in a decorator of the library, in a property.
_INSIDE = ("__wrapped__", "__func__", "fget", "fset", "func")


def codes_of(value: Any, depth: int = 3) -> Iterator[CodeType]:
    """Yield the code of what a class has by some name, if it is or holds functions."""
    if isinstance(code := getattr(value, "__code__", None), CodeType):
        yield code
    for name in _INSIDE if depth else ():  # some objects have every attribute that one asks for
        if (inside := getattr(value, name, None)) is not None:
            yield from codes_of(inside, depth - 1)


def names_in(code: CodeType) -> Iterator[str]:
    """Yield the names of the attributes and global variables that the code uses."""
    yield from code.co_names
    for one in _nested(code):
        yield from names_in(one)


def attributes_of(code: CodeType, variable: str, operations: Collection[str]) -> Iterator[str]:
    """Yield which attributes of a variable the code reads, or stores."""
    is_loaded = False
    for one in dis.get_instructions(code):
        if is_loaded and one.opname in operations:
            yield one.argval
        loaded = one.argval[-1] if isinstance(one.argval, tuple) else one.argval
        loads = (
            "LOAD_FAST" in one.opname or "LOAD_DEREF" in one.opname
        )  # alone or after another step
        is_loaded = loads and loaded == variable
    for inner in _nested(code):
        if variable in inner.co_freevars:
            yield from attributes_of(inner, variable, operations)


def _nested(code: CodeType) -> Iterator[CodeType]:
    return (one for one in code.co_consts if isinstance(one, CodeType))
