"""Looking into objects of C types that released libraries keep in their modules.

None of them can be pickled, and each tells all that it is in another way. One thread runs while a test
is explored, so what a ``threading.local`` holds for the others does not matter, and a lock of
threads is held or not, and how often.
"""

from __future__ import annotations

import abc
import contextvars
import gc
import re
import struct
import sys
import threading
from typing import Any

from .identity import Expanded, Expander, name_of, number_of


def thread_local(thing: Any) -> Expanded:
    return name_of(type(thing)), [type(thing), vars(thing)]


def thread(thing: Any) -> Expanded:
    # What the interpreter does at its end, and where errors of a thread are printed, is none of the program's.
    own = {key: value for key, value in vars(thing).items() if not key.startswith("_")}
    return ("thread", thing.name, tuple(own)), [*own.values()]


def lock(thing: Any) -> Expanded:
    return ("lock", thing.locked()), []


def reentrant_lock(thing: Any) -> Expanded:
    # How often it is held has no public name; its holder can only be this thread.
    return ("reentrant lock", _HELD.findall(repr(thing))), []


_HELD = re.compile(r"count=(\d+)")


def layout(thing: Any) -> Expanded:
    return ("struct", thing.format), []


def union(thing: Any) -> Expanded:
    return "union", [*thing.__args__]


def singleton(thing: Any) -> Expanded:
    return number_of(thing), []


def token(thing: Any) -> Expanded:
    # Whether it has been used, which decides what a second reset does, stands in its text alone.
    return ("token", repr(thing).startswith("<Token used")), [thing.var, thing.old_value]


def context(thing: Any) -> Expanded:
    """Look into a context of variables; in which order it keeps them depends on addresses."""
    pairs = sorted(thing.items(), key=lambda pair: pair[0].name)
    return "context", [part for pair in pairs for part in pair]


def proxy(thing: Any) -> Expanded:
    # What a proxy says of itself is what the object behind it says; what it holds, the collector knows.
    return name_of(type(thing)), gc.get_referents(thing)


_LOCK: type = type(threading.Lock())
_REENTRANT: type = type(threading.RLock())
_ABSTRACT: type = type(vars(abc.ABC)["_abc_impl"])
_TOKEN: type = contextvars.Token
_MISSING: type = type(contextvars.Token.MISSING)
_LAYOUT: type = struct.Struct
_UNION: type = type(int | str)
_CONTEXT: type = contextvars.Context

KINDS: dict[type, Expander] = {
    _LOCK: lock,
    _REENTRANT: reentrant_lock,
    _LAYOUT: layout,
    _UNION: union,
    _MISSING: singleton,
    _TOKEN: token,
    # Which classes are registered with an abstract one, and what of that is remembered.
    _ABSTRACT: singleton,
    _CONTEXT: context,
}


def expander_of(kind: type) -> Expander | None:
    """Return what looks into objects of a type, or None if it is none of these."""
    if issubclass(kind, threading.local):
        return thread_local
    if issubclass(kind, threading.Thread) and kind.__module__ == "threading":
        return thread
    return proxy if _is_proxy(kind) else None


def _is_proxy(kind: type) -> bool:
    """Return whether a class is one of wrapt's proxies, in C."""
    wrappers = sys.modules.get("wrapt._wrappers")
    return wrappers is not None and issubclass(kind, wrappers.ObjectProxy)
