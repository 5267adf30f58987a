"""What stands for an object in a fingerprint: a number, a name, or the refusal to look inside."""

from __future__ import annotations

import contextlib
import sys
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from structsync._core.monitors.entry import Call, Invocation
from structsync._core.monitors.lanes import Lanes
from structsync._core.queue.group import Claims
from structsync._core.queue.levels import Levels
from structsync._core.queue.request import Queue, Request
from structsync._runtime.live import Live
from structsync.testing._execution.addresses import address_of
from structsync.testing._execution.under_test import is_under_test

Expanded: TypeAlias = tuple[Any, Sequence[Any]]
Expander: TypeAlias = Callable[[Any], Expanded]


class Opaque(Exception):
    """An object that cannot be seen into; its text says which."""


#: Attributes that a fingerprint leaves out, by class: the same facts are told from elsewhere.
DERIVED: dict[type, frozenset[str]] = {
    # Tickets only grow, and where a request stands is told by the queue, of whose links none counts.
    Request: frozenset({"ticket", "ahead", "behind", "queue", "primitive"}),
    Invocation: frozenset({"ticket"}),
    Queue: frozenset({"head", "tail", "length"}),
    Levels: frozenset({"by_number", "tops"}),
    Lanes: frozenset({"by_entry"}),
    Call: frozenset({"partners", "to_settle"}),  # of the step that starts it
    Claims: frozenset({"unready"}),  # a hint where to look first
    # Which tasks are to be asked about when they end; those that neither hold nor wait change nothing.
    # How a claim is taken and released is told by the core.
    Live: frozenset({"_touched_by", "_transitions", "_take_claim", "_release_claim"}),
}

#: Of frames of this code a fingerprint takes these local variables alone, and ``AWAITED`` stands for what
#: the frame waits for: nothing else of it matters, or it is told from elsewhere, or it is an address. By the
#: address of the code, which is there for good: its hash is made of all that it contains, each time.
KEPT: dict[int, tuple[str, ...]] = {}
AWAITED = "(awaited)"

_interned: dict[int, tuple[int, object]] = {}
_made_codes: dict[types.CodeType, int] = {}
_numberings: list[Callable[[object], int]] = []


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
    found = _interned.get(address_of(thing))
    if found is not None:
        return found[0]
    if type(thing) is types.CodeType and thing.co_filename.startswith("<"):
        # Made at run time, as dataclasses make methods: new, but the same, in each execution.
        made = _made_codes.get(thing)
        if made is None:
            made = _made_codes[thing] = _number(thing, -1 - len(_made_codes))
        return made
    found = _interned[address_of(thing)] = (_number(thing, len(_interned)), thing)
    return found[0]


def keep(kept: Mapping[types.CodeType, tuple[str, ...]]) -> None:
    """Take from frames of this code these local variables alone."""
    KEPT.update({address_of(code): names for code, names in kept.items()})


def is_for_other_processes() -> bool:
    """Return whether states are to be written as other processes write them."""
    return bool(_numberings)


def _number(thing: object, following: int) -> int:
    return _numberings[-1](thing) if _numberings else following


@contextlib.contextmanager
def numbered_by(numbering: Callable[[object], int]) -> Iterator[None]:
    """Number objects like this, and not in the order in which they are met, while the block runs.

    After it they have the numbers that they had before.
    """
    before = _interned.copy(), _made_codes.copy()
    _numberings.append(numbering)
    _interned.clear()
    _made_codes.clear()
    try:
        yield
    finally:
        _numberings.pop()
        _interned.clear()
        _made_codes.clear()
        _interned.update(before[0])
        _made_codes.update(before[1])


def name_of(kind: type) -> str:
    """Return the full name of a type, which outlives a class made inside of a function."""
    return f"{kind.__module__}.{kind.__qualname__}"


#: Where an attribute or a variable has no value.
UNSET: Any = object()
