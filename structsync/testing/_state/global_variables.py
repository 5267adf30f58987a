"""What code under test can name: its global variables, and what stands in the classes of the program.

A name is bound to something, and may be bound again: to another class, another function. Whether what it is
bound to can change is one question, and whether the *name* does is another. So of a value that cannot change
only the binding is watched: it is left out as long as the name stands for what it stood for when it was first
looked at, and is written down like any other from then on. What can change is always written down.
"""

from __future__ import annotations

import functools
import io
import operator
import os
import sys
import types
from collections.abc import Mapping
from typing import Any

from structsync.testing._execution.addresses import address_of
from structsync.testing._execution.under_test import is_under_test

from . import libraries, named_by_code
from .identity import Expanded, is_for_other_processes, is_local, name_of
from .libraries import plain

#: What a class from here makes is a tool, or cannot change; only the name of it can be bound again.
_TOOLS = {
    "__future__",
    "_abc",
    "_io",
    "_pytest",
    "abc",
    "attr",
    "attrs",
    "hypothesis",
    "pluggy",
    "pytest",
    "re",
    "typing",
}
#: What every class or module has: a tool like the others, whatever it is.
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
    "__orig_bases__",
    "__package__",
    "__parameters__",
    "__path__",
    "__qualname__",
    "__spec__",
    "__static_attributes__",
    "__type_params__",
    "__weakref__",
}
#: Functions that remember their results.
CACHED = type(functools.cache(len))
_MISSING = object()


class Bindings:
    """The names that a piece of code, a module or a class can use: one object for each, in all states."""

    __slots__ = (
        "_children",
        "_everywhere",
        "_first",
        "_keys",
        "_looked",
        "_more",
        "_namespace",
        "_values",
        "_wanted",
    )

    def __init__(
        self,
        namespace: Mapping[str, Any],
        wanted: tuple[str, ...] | None = None,
        *,
        lasting: bool = True,
        more: tuple[Any, ...] = (),
    ) -> None:
        self._namespace = namespace
        self._wanted = wanted
        self._first: dict[str, Any] | None = {} if lasting else None
        """To what each name was bound at first, where that cannot change."""
        self._more = more
        """What can be reached besides, by other ways than a name."""
        self._keys: tuple[str, ...] = ()
        self._values: tuple[Any, ...] = ()
        self._children: list[Any] | None = None
        self._looked = False
        self._everywhere = False
        """Whether the children are such as other processes know, too."""

    @property
    def namespace(self) -> Mapping[str, Any]:
        """What the names are looked up in."""
        return self._namespace

    def __call__(self) -> list[Any]:
        """Return each value that can be another one, after its name."""
        namespace = self._namespace
        if self._wanted is None:
            keys, values = tuple(namespace), tuple(namespace.values())
        else:
            keys = self._wanted
            values = tuple([namespace.get(name, _MISSING) for name in keys])
        children, everywhere = self._children, is_for_other_processes()
        if (
            children is None
            or everywhere is not self._everywhere
            or keys != self._keys
            or not all(map(operator.is_, values, self._values))
        ):
            look = self._look_for_others if everywhere else self._look
            children = self._children = look(keys, values)
            self._keys, self._values, self._everywhere = keys, values, everywhere
        return children

    def _look(self, keys: tuple[str, ...], values: tuple[Any, ...]) -> list[Any]:
        found: list[Any] = [*self._more]
        first = self._first
        at_first, self._looked = not self._looked, True
        for name, value in zip(keys, values, strict=True):
            if value is not _MISSING and name not in _FIXED and _is_data(value):
                found += () if name.startswith("@") else (name, value)  # of pytest, in the module
            elif first is None:
                if name not in _FIXED and isinstance(value, _STANDING):
                    found += (name, value)
            else:
                before = first.setdefault(name, plain(value) if at_first else _MISSING)
                if plain(value) is not before:
                    found += (f"no {name}",) if value is _MISSING else (name, value)
        if first and self._wanted is None:
            found += [f"no {name}" for name in first if name not in self._namespace]
        return found

    def _look_for_others(self, keys: tuple[str, ...], values: tuple[Any, ...]) -> list[Any]:
        """Write down each name: what it was at first is another fact in each process."""
        found: list[Any] = [*self._more]
        for name, value in zip(keys, values, strict=True):
            if value is not _MISSING and name not in _FIXED and not name.startswith("@"):
                known = _is_data(value) or isinstance(value, _STANDING)
                found += (name, plain(value) if known else name_of(type(value)))
        return found


def look(bindings: Any) -> Expanded:
    """Look into what stands for the names of a piece of code."""
    return "names", bindings()


#: What stands for itself, so that it can be written down where it is not known what it was at first.
_STANDING = (types.FunctionType, types.BuiltinFunctionType, types.ModuleType, type)

_of_code: dict[tuple[object, int], tuple[object, Mapping[str, Any], Bindings | None]] = {}
_of_class: dict[int, tuple[type, Bindings]] = {}
_of_local: dict[int, tuple[type, Bindings]] = {}
_of_module: dict[int, tuple[Mapping[str, Any], Bindings]] = {}


def start_over() -> None:
    """Forget the classes of the last execution."""
    _of_local.clear()


def forget() -> None:
    """Forget what earlier searches had in reach: it would make the states of each later one larger."""
    for one in (_of_code, _of_class, _of_module):
        one.clear()
    libraries.forget()


def data_of_code(code: types.CodeType, namespace: Mapping[str, Any]) -> list[Any]:
    """Return what stands for the names that this code can use."""
    known = _of_code.get((address_of(code), address_of(namespace)))
    if known is None or known[0] is not code or known[1] is not namespace:
        known = code, namespace, _new(code, namespace)
    return [] if known[2] is None else [known[2]]


def _new(code: types.CodeType, namespace: Mapping[str, Any]) -> Bindings | None:
    if not is_under_test(namespace.get("__name__", "")):
        found = None
    else:
        # Made at run time, as dataclasses make methods, code is new, but equal, in each execution.
        at_run_time = code.co_filename.startswith("<")
        if at_run_time:
            known = _of_code.get((code, address_of(namespace)))
            if known is not None and known[1] is namespace:
                return known[2]
        lasting = not at_run_time or named_by_code.is_of_a_module(namespace)
        more = named_by_code.reached(code, namespace)
        found = Bindings(namespace, named_by_code.names_in(code), lasting=lasting, more=more)
        if at_run_time:
            if lasting:
                _of_code[code, address_of(namespace)] = code, namespace, found
            return found
    _of_code[address_of(code), address_of(namespace)] = code, namespace, found
    return found


def data_of_module(namespace: Mapping[str, Any]) -> list[Any]:
    """Return what stands for all names of a module of the user."""
    known = _of_module.get(address_of(namespace))
    if known is None or known[0] is not namespace:
        known = _of_module[address_of(namespace)] = namespace, Bindings(namespace)
    return [known[1]]


def data_of_class(kind: type) -> list[Any]:
    """Return the values in a class of the user that can be others, each after its name."""
    known = _of_class.get(address_of(kind)) or _of_local.get(address_of(kind))
    if known is None or known[0] is not kind:
        lasting = not is_local(kind)
        table = _of_class if lasting else _of_local
        known = table[address_of(kind)] = kind, Bindings(vars(kind), lasting=lasting)
    return known[1]()


def _is_data(value: object) -> bool:
    kind = type(value)
    if issubclass(kind, types.ModuleType):  # trio has one of a class of its own
        return is_under_test(getattr(value, "__name__", ""))
    if issubclass(kind, CACHED):
        return not is_of_a_library(value)
    if issubclass(kind, types.FunctionType) or issubclass(kind, type):
        return is_under_test(getattr(value, "__module__", ""))
    if kind is types.BuiltinFunctionType:  # also that of a bound one, like [].append
        owner = getattr(value, "__self__", None)
        return owner is not None and type(owner) is not types.ModuleType
    if issubclass(kind, _INERT):
        return False
    if issubclass(kind, io.IOBase) and kind not in _IN_MEMORY:
        return _is_open_file(value)
    return kind in _IN_MEMORY or kind.__module__.partition(".")[0] not in _TOOLS


def is_of_a_library(cached: Any) -> bool:
    """Return whether a function that remembers its results is one of a library, which made it."""
    if is_under_test(cached.__module__):
        return False
    module = sys.modules.get(cached.__module__)
    return getattr(module, cached.__name__, None) is cached


def _is_open_file(file: Any) -> bool:
    """Return whether this is a file of which no state shows what is in it, or how far it was read."""
    if type(file).__module__.startswith("_pytest."):  # it holds what was printed
        return False
    return not file.closed and getattr(file, "name", None) not in _OF_NO_ACCOUNT


_OF_NO_ACCOUNT = ("<stdin>", "<stdout>", "<stderr>", os.devnull)
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
