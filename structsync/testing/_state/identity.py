"""What stands for an object in a fingerprint: a number, a name, or the refusal to look inside."""

from __future__ import annotations

import contextlib
import sys
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

from structsync._core.monitors.entry import Call, Invocation
from structsync._core.monitors.lanes import Lanes
from structsync._core.queue.group import Claims
from structsync._core.queue.request import Queue, Request, TicketQueue
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
    TicketQueue: frozenset({"by_ticket"}),
    Lanes: frozenset({"by_entry"}),
    Call: frozenset({"partners", "to_settle"}),  # of the step that starts it
    Claims: frozenset({"unready"}),  # a hint where to look first
    # Which tasks are to be asked about when they end; those that neither hold nor wait change nothing.
    Live: frozenset({"_touched_by", "_transitions"}),
}


class Kept(NamedTuple):
    """What a fingerprint takes from a frame of some code, apart from where it stands: all the rest follows.

    Attributes:
      names: of local variables.
      awaited: whether what it awaits is looked into, too.
    """

    names: tuple[str, ...] = ()
    awaited: bool = False


class KnownCode:
    """What is the same for all frames of some code."""

    __slots__ = ("code", "kept", "library", "names", "number")

    def __init__(self, code: types.CodeType, namespace: Mapping[str, Any]) -> None:
        self.code = code
        self.number = number_of(code)
        self.kept = KEPT.get(code)
        self.names = tuple(sorted({*code.co_varnames, *code.co_cellvars, *code.co_freevars}))
        """All local variables, where each of them has a value."""
        trusted = not is_under_test(namespace.get("__name__", ""))
        self.library = namespace if trusted else None
        """The global variables, of code of a library, of which none is looked at."""


KEPT: dict[types.CodeType, Kept] = {}
_codes: dict[int, KnownCode] = {}


def keep(kept: Mapping[types.CodeType, tuple[tuple[str, ...], bool]]) -> None:
    """Take no more from frames of such code, from now on, than the names and whether what they await."""
    KEPT.update({code: Kept(*how) for code, how in kept.items()})
    _codes.clear()


def known_code(code: types.CodeType, namespace: Mapping[str, Any]) -> KnownCode:
    """Return what is known of some code; it may be asked for with other global variables, too."""
    known = _codes.get(address_of(code))
    if known is None:
        known = KnownCode(code, namespace)
        if not code.co_filename.startswith("<"):  # made at run time, it does not live long
            _codes[address_of(code)] = known
    return known


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
    if found is None:
        if type(thing) is types.CodeType and thing.co_filename.startswith("<"):
            # Made at run time, as dataclasses make methods: new, but the same, in each execution.
            made = _made_codes.get(thing)
            if made is None:
                made = _made_codes[thing] = _number(thing, -1 - len(_made_codes))
            return made
        found = _interned[address_of(thing)] = (_number(thing, len(_interned)), thing)
    return found[0]


def is_for_other_processes() -> bool:
    """Return whether states are to be written as other processes write them."""
    return bool(_numberings)


def _number(thing: object, following: int) -> int:
    return _numberings[-1](thing) if _numberings else following


@contextlib.contextmanager
def numbered_by(numbering: Callable[[object], int]) -> Iterator[None]:
    """Number objects like this, and not in the order in which they are met, while the block runs."""
    _numberings.append(numbering)
    _forget_numbers()
    try:
        yield
    finally:
        _numberings.pop()
        _forget_numbers()


def _forget_numbers() -> None:
    _interned.clear()
    _made_codes.clear()
    _codes.clear()


def name_of(kind: type) -> str:
    """Return the full name of a type, which outlives a class made inside of a function."""
    return f"{kind.__module__}.{kind.__qualname__}"


#: Where an attribute or a variable has no value.
UNSET: Any = object()
