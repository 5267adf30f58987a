"""What a piece of code can reach by other ways than a global variable: imports, strings, libraries.

It is read off the code once. Whatever is found is looked into in each state in which the code is in reach.
"""

from __future__ import annotations

import builtins
import dis
import itertools
import sys
import types
from collections.abc import Iterator, Mapping
from typing import Any

from structsync.testing._execution.addresses import address_of
from structsync.testing._execution.under_test import is_under_test

from . import libraries

_names: dict[int, tuple[types.CodeType, tuple[str, ...]]] = {}
#: By these a module's own namespace can be used as a dictionary.
_WHOLE_NAMESPACE = frozenset({"globals", "__globals__", "f_globals", "getmodule", "eval", "exec"})
#: By these a module can be had by a name that is made when the code runs.
_ANY_MODULE = frozenset({"import_module", "resolve_name", "__import__", "eval", "exec"})
_IMPORT = dis.opmap["IMPORT_NAME"]


def names_in(code: types.CodeType) -> tuple[str, ...]:
    """Return what this code, and the functions defined in it, call by a global name."""
    known = _names.get(address_of(code))
    if known is not None:
        return known[1]
    inner = (one for one in code.co_consts if isinstance(one, types.CodeType))
    names = tuple(dict.fromkeys([*code.co_names, *(name for c in inner for name in names_in(c))]))
    if not code.co_filename.startswith("<"):  # made at run time, it does not live long
        _names[address_of(code)] = (code, names)
    return names


def is_of_a_module(namespace: Mapping[str, Any]) -> bool:
    """Return whether these are the variables of a module, which outlive an execution."""
    module = sys.modules.get(namespace.get("__name__", ""))
    return module is not None and vars(module) is namespace


def reached(code: types.CodeType, namespace: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return what the code can reach besides its global variables."""
    names = frozenset(names_in(code))
    imported = [*dict.fromkeys(_imported(code, namespace))]
    found: list[Any] = [_Imports(name) for name in imported]
    if names & _WHOLE_NAMESPACE and is_of_a_module(namespace):
        found.append(sys.modules[namespace["__name__"]])
    if names & _ANY_MODULE or {"sys", "modules"} <= names:
        found.append(_ByText(tuple(dict.fromkeys(_texts(code)))))
    values = [namespace[name] for name in names_in(code) if name in namespace]
    values += [sys.modules[name] for name in imported if name in sys.modules]
    texts = [*_texts(code), str(namespace.get("__name__"))]
    return (*found, *libraries.named(names_in(code), [*values, builtins], texts))


class _Imports:
    """A module of the user that a function imports when it runs, if it is there by now."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __explore_state__(self) -> object:
        if is_under_test(self.name):
            return sys.modules.get(self.name)
        return None


class _ByText:
    """The modules of the user whose names begin with a text in the code; all of them, if there is none."""

    __slots__ = ("texts",)

    def __init__(self, texts: tuple[str, ...]) -> None:
        self.texts = texts

    def __explore_state__(self) -> object:
        modules = [one for name, one in [*sys.modules.items()] if is_under_test(name)]
        chosen = [one for one in modules if one.__name__.startswith(self.texts)]
        return chosen or modules


def _texts(code: types.CodeType) -> Iterator[str]:
    for one in code.co_consts:
        if isinstance(one, types.CodeType):
            yield from _texts(one)
        elif isinstance(one, str) and one.replace(".", "").replace("_", "").isalnum():
            yield one


def _imported(code: types.CodeType, namespace: Mapping[str, Any]) -> Iterator[str]:
    """Yield the full names of the modules that this code, or a function in it, imports."""
    for inner in code.co_consts:
        if isinstance(inner, types.CodeType):
            yield from _imported(inner, namespace)
    if _IMPORT not in code.co_code[::2]:
        return
    level = 0
    base: str | None = None
    before: list[Any] = [0, 0]
    for one in dis.get_instructions(code):
        if one.opcode == _IMPORT:
            level = before[-2] if isinstance(before[-2], int) else 0
            base = _absolute(one.argval, level, namespace)
            yield from itertools.accumulate(base.split("."), "{}.{}".format)
        elif one.opname == "IMPORT_FROM" and base is not None:
            yield f"{base}.{one.argval}"
        before.append(one.argval)


def _absolute(name: str, level: int, namespace: Mapping[str, Any]) -> str:
    """Return the full name of what is imported, of a relative import too."""
    if not level:
        return name
    package = str(namespace.get("__package__") or "").split(".")
    return ".".join([*package[: len(package) - level + 1], *([name] if name else [])])
