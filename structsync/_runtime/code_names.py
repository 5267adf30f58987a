"""Which names the code of a class uses, read from its functions before any of them has run.

A class may hold any object and code of any origin; what cannot be read tells no names, and raises nothing.
"""

from __future__ import annotations

import dis
from collections.abc import Collection, Iterator
from types import CodeType
from typing import Any

READS = ("LOAD_ATTR", "LOAD_METHOD")
STORES = ("STORE_ATTR",)
#: Where a class keeps a function: in itself, in a decorator of the library, in a property.
_INSIDE = ("__wrapped__", "__func__", "fget", "fset", "func")
_LOADS = ("LOAD_FAST", "LOAD_DEREF")  # alone or after another step


def codes_of(value: Any, depth: int = 3) -> Iterator[CodeType]:
    """Yield the code of what a class has by some name, if it is or holds functions."""
    if (code := code_of(value)) is not None:
        yield code
    for name in _INSIDE if depth else ():  # some objects have every attribute that one asks for
        if (inside := _attribute(value, name)) is not None:
            yield from codes_of(inside, depth - 1)


def code_of(value: Any) -> CodeType | None:
    """Return the code of a function, or None of what has none."""
    code = _attribute(value, "__code__")
    return code if type(code) is CodeType else None


def _attribute(value: Any, name: str) -> Any:
    try:
        return getattr(value, name, None)
    except Exception:  # noqa: BLE001 - a proxy of what is not there yet, for example
        return None


def names_in(code: CodeType) -> Iterator[str]:
    """Yield the names of the attributes and global variables that the code uses."""
    yield from code.co_names
    for one in _nested(code):
        yield from names_in(one)


def attributes_of(code: CodeType, variable: str, operations: Collection[str]) -> Iterator[str]:
    """Yield which attributes of a variable the code reads, or stores."""
    is_loaded = False
    for one in _instructions(code):
        if is_loaded and one.opname in operations:
            yield one.argval
        is_loaded = _loads(one) == variable
    for inner in _nested(code):
        if variable in inner.co_freevars:
            yield from attributes_of(inner, variable, operations)


def _instructions(code: CodeType) -> list[dis.Instruction]:
    try:
        return [one for one in dis.get_instructions(code) if one.opname != "EXTENDED_ARG"]
    except Exception:  # noqa: BLE001 - bytecode that the compiler did not make
        return []


def _loads(one: dis.Instruction) -> object:
    """Return the variable that a step leaves on top of the stack, or None if it leaves something else."""
    if not any(load in one.opname for load in _LOADS):
        return None
    return one.argval[-1] if isinstance(one.argval, tuple) else one.argval


def _nested(code: CodeType) -> Iterator[CodeType]:
    return (one for one in code.co_consts if isinstance(one, CodeType))
