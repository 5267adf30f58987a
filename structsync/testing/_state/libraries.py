"""What the program changes in libraries: names bound again there, containers that are theirs, settings.

A library keeps no state of the program, unless the program puts it there: ``sys.last = 1``,
``trio.Lock.note = 2``, ``os.environ["A"] = "3"``. What code in reach can name there is watched.
"""

from __future__ import annotations

import collections
import contextvars
import decimal
import functools
import gc
import io
import locale
import logging
import operator
import os
import signal
import sys
import types
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from structsync.testing._execution.addresses import address_of
from structsync.testing._execution.under_test import is_of_a_tool, is_under_test

from .identity import is_for_other_processes

_MISSING = object()
#: Py_TPFLAGS_IMMUTABLETYPE: nothing in such a class can be bound again.
_IMMUTABLE = 1 << 8
#: What of a library is walked like what is the program's own.
_CONTENT = (
    dict,
    list,
    set,
    bytearray,
    collections.deque,
    io.BytesIO,
    io.StringIO,
    type(os.environ),
    logging.Logger,
    decimal.Context,
    contextvars.ContextVar,
)
#: Where everything is, of which the program's own modules are looked into by other ways; and what imports it.
_EVERYTHING = frozenset({"modules", "meta_path", "path_hooks", "path_importer_cache"})


class Library:
    """A module or a class of a library, and the names in it that code of the program uses."""

    __slots__ = ("_children", "_first", "_get", "_length", "_name", "_namespace", "_values")

    def __init__(self, name: str, namespace: Mapping[str, Any]) -> None:
        self._name = name
        self._namespace = namespace
        self._first: dict[str, Any] = {}
        """To what each of the names was bound when it was first asked for."""
        self._length = -1
        self._get: Callable[[Any], tuple[Any, ...]] = tuple
        self._values: tuple[Any, ...] = ()
        self._children: list[Any] = []

    def want(self, names: Iterable[str]) -> None:
        """Watch these names too."""
        for name in names:
            if name not in self._first:
                self._first[name] = plain(self._namespace.get(name, _MISSING))
                self._length = -1

    def __explore_state__(self) -> list[Any]:
        """Return what is not as it was, and what is in the library's containers, after the names."""
        namespace = self._namespace
        if len(namespace) != self._length:
            return self._look()
        try:
            values = self._get(namespace)
        except KeyError:
            return self._look()
        return self._children if all(map(operator.is_, values, self._values)) else self._look()

    def _look(self) -> list[Any]:
        namespace = self._namespace
        there = [name for name in self._first if name in namespace]
        # The first one twice: of one name it would return no tuple.
        self._get = operator.itemgetter(*there, there[0]) if there else _nothing
        found: list[Any] = [self._name]
        for name, before in sorted(self._first.items(), key=operator.itemgetter(0)):
            value = plain(namespace.get(name, _MISSING))
            if value is _MISSING:
                found += [f"no {name}"] if before is not _MISSING else []
            elif value is not before or (isinstance(value, _CONTENT) and name not in _EVERYTHING):
                found += (name, value)
            elif (inner := library(value)) is not None:
                inner.want(self._first)
        self._length, self._children = len(namespace), found
        self._values = self._get(namespace)
        return found


class AllLibraries:
    """What has changed in the libraries that code of the program has named so far.

    In all of them, and nothing of those that are as they were: else a state would be another one only because
    more of the program has been run since.
    """

    def __init__(self) -> None:
        self._found: list[list[Any]] = []
        """What each of them said the last time."""
        self._changed: list[list[Any]] = []

    def __explore_state__(self) -> object:
        # Which names are watched depends on what was run before, so other processes cannot compare it: there
        # it is left to the audit.
        if is_for_other_processes():
            return None
        found = [one.__explore_state__() for _, one in [*_known.values()]]
        if len(found) != len(self._found) or not all(map(operator.is_, found, self._found)):
            self._changed = self._look()
            self._found = [one.__explore_state__() for _, one in _known.values()]
        return self._changed

    def _look(self) -> list[list[Any]]:
        looked = dict[str, list[Any]]()
        while any(one._length < 0 for _, one in _known.values()) or len(looked) < len(_known):
            for address, (_, one) in [*_known.items()]:  # to look at one may name another
                looked[f"{one._name} {address}"] = one.__explore_state__()
        return [found for _, found in sorted(looked.items()) if len(found) > 1]


_all_libraries = AllLibraries()


def _nothing(_namespace: Mapping[str, Any]) -> tuple[Any, ...]:
    return ()


def plain(value: Any) -> Any:
    """Return what stands where the explorer has put a function in its place meanwhile."""
    if type(value) is types.FunctionType and value.__code__.co_filename.startswith(_OURS):
        return getattr(value, "__wrapped__", value)
    return value


_OURS = os.path.join(os.path.dirname(os.path.dirname(__file__)), "_execution")
_THE_EXPLORERS_OWN = __name__.rpartition("._state")[0]
_known: dict[int, tuple[object, Library]] = {}


def library(value: object) -> Library | None:
    """Return what watches a module or a class of a library, if this is one that can change."""
    known = _known.get(address_of(value))
    if known is not None and known[0] is value:
        return known[1]
    if isinstance(value, types.ModuleType):
        if is_under_test(value.__name__):
            return None
        name = value.__name__
    elif isinstance(value, type):
        if value.__flags__ & _IMMUTABLE or is_under_test(value.__module__):
            return None
        name = f"{value.__module__}.{value.__qualname__}"
    else:
        return None
    if name.startswith(_THE_EXPLORERS_OWN):
        return None
    found = Library(name, vars(value))
    _known[address_of(value)] = value, found
    return found


def named(names: tuple[str, ...], values: Iterable[object], texts: Iterable[str]) -> Iterator[Any]:
    """Yield what code with these names can find in libraries, of which it can name some."""
    for value in values:
        if (found := library(value)) is not None:
            found.want(names)
    yield _all_libraries
    for read in dict.fromkeys(_SETTINGS[name] for name in names if name in _SETTINGS):
        yield Setting(read)
    if "getLogger" in names:
        yield Setting(functools.partial(_loggers, frozenset(texts)))


def forget() -> None:
    """Watch no name any more: what code in reach wants is found again, and is then as it is at that time."""
    _known.clear()


class Setting:
    """What is set for the whole process, and read by a function."""

    __slots__ = ("_read",)

    def __init__(self, read: Callable[[], object]) -> None:
        self._read = read

    def __explore_state__(self) -> object:
        return self._read()


def environment(environ: Any) -> tuple[Any, list[Any]]:
    """Look into ``os.environ``."""
    return ("environment", *environ._data.items()), []


def _loggers(names: frozenset[str]) -> list[logging.Logger]:
    known = logging.root.manager.loggerDict
    found = (known.get(name) for name in sorted(names))
    return [logging.root, *(one for one in found if isinstance(one, logging.Logger))]


def _filters() -> list[str]:
    return [*map(repr, warnings.filters)]


def _locale() -> str:
    return locale.setlocale(locale.LC_ALL)


def _from(module: str, function: str) -> Callable[[], object]:
    """Return what calls a function of a module, which is not loaded for that."""
    return lambda: module in sys.modules and getattr(sys.modules[module], function)()


def _handlers() -> list[object]:
    found: list[Any] = [signal.getsignal(one) for one in sorted(signal.valid_signals())]
    return [one for one in found if not _ends_tests(str(getattr(one, "__module__", None)))]


def _ends_tests(module: str) -> bool:
    """Return whether its handlers end tests: they lead to all of the test runner, and to no part of the program."""
    return is_of_a_tool(module) or module.startswith("structsync.")


_SETTINGS: dict[str, Callable[[], object]] = {
    "addLevelName": lambda: logging._levelToName,
    "catch_warnings": _filters,
    "chdir": os.getcwd,
    "cwd": os.getcwd,
    "field_size_limit": _from("csv", "field_size_limit"),
    "filterwarnings": _filters,
    "getcwd": os.getcwd,
    "getLevelName": lambda: logging._levelToName,
    "get_int_max_str_digits": sys.get_int_max_str_digits,
    "get_threshold": gc.get_threshold,
    "getdefaulttimeout": _from("socket", "getdefaulttimeout"),
    "getenv": lambda: os.environ,
    "getlocale": _locale,
    "getrecursionlimit": sys.getrecursionlimit,
    "getsignal": _handlers,
    "getswitchinterval": sys.getswitchinterval,
    "localeconv": _locale,
    "setlocale": _locale,
    "setrecursionlimit": sys.getrecursionlimit,
    "setswitchinterval": sys.getswitchinterval,
    "simplefilter": _filters,
}
