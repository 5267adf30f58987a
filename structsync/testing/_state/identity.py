"""What stands for an object in a fingerprint: a number, a name, or the refusal to look inside."""

from __future__ import annotations

import sys
import types
from collections.abc import Callable
from typing import Any, TypeAlias

from structsync._core.monitors.entry import Invocation
from structsync._core.queue.request import Request
from structsync.testing._execution.under_test import is_under_test

Expanded: TypeAlias = tuple[Any, list[Any]]
Expander: TypeAlias = Callable[[Any], Expanded]


class Opaque(Exception):
    """An object that cannot be seen into; its text says which."""


#: Attributes that a fingerprint leaves out, by class: the same facts are told from elsewhere.
DERIVED: dict[type, frozenset[str]] = {
    Request: frozenset({"ticket"}),
    Invocation: frozenset({"ticket"}),
}

#: Local variables that are all that a fingerprint takes from a frame of this code; others of it are
#: addresses.
KEPT: dict[types.CodeType, tuple[str, ...]] = {}

_interned: dict[int, tuple[int, object]] = {}
_made_codes: dict[types.CodeType, int] = {}


def is_local(kind: type) -> bool:
    """Return whether a class is made while the test runs, so that each execution has its own."""
    if "<locals>" in kind.__qualname__:
        return True
    # As namedtuple() and type() do: it says that it is of a module, where it is not found.
    outermost = kind.__qualname__.partition(".")[0]
    module = sys.modules.get(kind.__module__)
    return is_under_test(kind.__module__) and not hasattr(module, outermost)


def number_of(thing: object) -> int:
    """Return a number that stands for this very object, in every execution."""
    if type(thing) is types.CodeType and thing.co_filename.startswith("<"):
        # Made at run time, as dataclasses make methods: new, but the same, in each execution.
        return _made_codes.setdefault(thing, -1 - len(_made_codes))
    found = _interned.get(id(thing))
    if found is None:
        found = _interned[id(thing)] = (len(_interned), thing)
    return found[0]


def name_of(kind: type) -> str:
    """Return the full name of a type, which outlives a class made inside of a function."""
    return f"{kind.__module__}.{kind.__qualname__}"


#: Where an attribute or a variable has no value.
UNSET: Any = object()
