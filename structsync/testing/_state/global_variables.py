"""Global variables of the code under test: a part of its state like any other."""

from __future__ import annotations

import functools
import io
import types
from collections.abc import Mapping
from typing import Any

from structsync.testing._execution.addresses import address_of
from structsync.testing._execution.under_test import is_under_test

#: What a class from here makes is a tool, or cannot change: no state of the program.
_TOOLS = {
    "__future__",
    "_abc",
    "_io",  # an open file; what is in one, no state shows
    "_pytest",
    "abc",
    "attr",
    "attrs",
    "datetime",
    "decimal",
    "fractions",
    "hypothesis",
    "ipaddress",
    "logging",
    "pathlib",
    "pluggy",
    "pytest",
    "re",
    "string",
    "typing",
    "uuid",
    "zoneinfo",
}
#: What every class or module has, and no program changes.
_FIXED = {
    "__annotations__",
    "__builtins__",
    "__cached__",
    "__dict__",
    "__doc__",
    "__file__",
    "__firstlineno__",
    "__loader__",
    "__module__",
    "__name__",
    "__package__",
    "__path__",
    "__qualname__",
    "__spec__",
    "__static_attributes__",
    "__weakref__",
}
#: Functions that remember their results.
CACHED = type(functools.cache(len))
_FUNCTIONS = types.FunctionType | CACHED


def data_of_code(code: types.CodeType, namespace: Mapping[str, Any]) -> list[Any]:
    """Return the global variables that this code names, each value after its name."""
    if not is_under_test(namespace.get("__name__", "")):
        return []
    found: list[Any] = []
    for name in _names_in(code):
        value = namespace.get(name, _MISSING)
        if value is not _MISSING and _is_data(value):
            found += (name, value)
    return found


_MISSING = object()
_names: dict[int, tuple[types.CodeType, tuple[str, ...]]] = {}


def _names_in(code: types.CodeType) -> tuple[str, ...]:
    """Return what this code, and the functions defined in it, call by a global name."""
    known = _names.get(address_of(code))
    if known is not None:
        return known[1]
    inner = (one for one in code.co_consts if isinstance(one, types.CodeType))
    names = tuple(dict.fromkeys([*code.co_names, *(name for c in inner for name in _names_in(c))]))
    if not code.co_filename.startswith("<"):  # made at run time, it does not live long
        _names[address_of(code)] = (code, names)
    return names


def data_of_module(namespace: Mapping[str, Any]) -> list[Any]:
    """Return the values in a module of the user that can differ, each after its name."""
    return _data(namespace)


def data_of_class(kind: type) -> list[Any]:
    """Return the same for a class of the user."""
    return _data(vars(kind))


def _data(namespace: Mapping[str, Any]) -> list[Any]:
    found: list[Any] = []
    for name, value in [*namespace.items()]:
        if name in _FIXED or name.startswith("@") or not _is_data(value):
            continue
        found += (name, value)
    return found


def _is_data(value: object) -> bool:
    kind = type(value)
    if issubclass(kind, types.ModuleType):  # trio has one of a class of its own
        return is_under_test(getattr(value, "__name__", ""))
    if issubclass(kind, _FUNCTIONS) or issubclass(kind, type):
        return is_under_test(getattr(value, "__module__", ""))
    if kind is types.BuiltinFunctionType:  # also that of a bound one, like [].append
        owner = getattr(value, "__self__", None)
        return owner is not None and type(owner) is not types.ModuleType
    if issubclass(kind, _INERT):
        return False
    return kind in _IN_MEMORY or kind.__module__.partition(".")[0] not in _TOOLS


_IN_MEMORY = frozenset({io.BytesIO, io.StringIO})


_INERT: tuple[Any, ...] = (
    types.GenericAlias,
    types.GetSetDescriptorType,
    types.MemberDescriptorType,
    types.ClassMethodDescriptorType,
    types.MethodDescriptorType,
    types.UnionType,
    types.WrapperDescriptorType,
)
