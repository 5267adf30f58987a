"""What stands before the search and stays as it is: walked once, and then only watched.

Most of what a test can name is code: functions, classes, constants of its modules and of the libraries
that are under test. To walk through them in each state tells the same each time. So once, between two
executions, when nothing of an execution exists, all is looked at that the code of the test can reach.
These objects are there for good, and each of them is known by a number. As long as all of them are as
they were, a state need not say more than which of them it refers to.

Whether they are is looked at in each state, mostly by the collector's view of them, which takes a hundredth
of a walk. Where one turns out to have changed, the states that were written down so far say too little:
:exc:`Unsteady` is raised, and the search begins anew with this one among those that each state holds.
"""

from __future__ import annotations

import contextvars
import gc
import marshal
import operator
import sys
import types
import weakref
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from trio.lowlevel import Task

from structsync.testing._execution.addresses import address_of

from . import expanders
from .global_variables import Bindings
from .libraries import AllLibraries

#: What a state is made of that has no parts.
_PLAIN = frozenset({int, str, float, bool, type(None), complex})
#: What is to be walked in each state: it is registered by that, moves on, or dies.
_NEVER = (
    Task,
    AllLibraries,
    contextvars.ContextVar,
    weakref.ReferenceType,
    types.CoroutineType,
    types.GeneratorType,
    types.AsyncGeneratorType,
    types.FrameType,
    types.TracebackType,
)
#: Once made, these have the same content for good.
_FIXED = frozenset(
    {tuple, frozenset, bytes, range, object, property, staticmethod, classmethod, types.ModuleType}
)
#: Of these the collector sees all that they refer to, apart from keys.
_SEEN = frozenset({dict, list, types.CellType, types.FunctionType})


#: The head of an object, as it is written, and its children.
Content: TypeAlias = tuple[bytes, tuple[Any, ...]]


class Unsteady(Exception):
    """Objects that were to stand have changed."""

    def __init__(self, things: Sequence[object]) -> None:
        super().__init__()
        self.things = things


class _Seen:
    """An object, what the collector sees of it, and whose content follows from that."""

    __slots__ = ("behind", "keys", "referents", "thing")

    def __init__(self, thing: Any) -> None:
        self.thing = thing
        self.behind: list[Any] = []
        self.referents, self.keys = _referents(thing)

    def has_changed(self) -> bool:
        """Return whether the collector sees something else."""
        referents, keys = _referents(self.thing)
        return keys != self.keys or not _are_the_same(referents, self.referents)


def _referents(thing: Any) -> tuple[list[Any], tuple[Any, ...]]:
    return gc.get_referents(thing), tuple(thing) if type(thing) is dict else ()


def _are_the_same(some: Sequence[Any], others: Sequence[Any]) -> bool:
    return len(some) == len(others) and all(map(operator.is_, some, others))


class Standing:
    """The objects that code can reach before the first execution, apart from those that do not stand."""

    def __init__(self, roots: Iterable[object], unsteady: Iterable[object] = ()) -> None:
        self.numbers: dict[int, int] = {}
        """By their addresses."""
        self.always: list[Any] = []
        """What is at the border: reached from them, and to be walked in each state."""
        self._contents: dict[int, tuple[Any, Content]] = {}
        self._exactly: list[Any] = []
        self._seen: dict[int, _Seen] = {}
        self._classes: list[type] = []
        self._reach(roots, {address_of(one): one for one in unsteady})
        self._note()

    def _reach(self, roots: Iterable[object], unsteady: Mapping[int, object]) -> None:
        met = set[int]()
        todo = [*roots]
        while todo:
            thing = todo.pop()
            address = address_of(thing)
            if type(thing) in _PLAIN or address in met:
                continue
            met.add(address)
            content = None if address in unsteady else _steady_content(thing)
            if content is None:
                self.always.append(thing)
                continue
            self.numbers[address] = len(self.numbers)
            self._contents[address] = thing, content
            self._watch(thing, content[1])
            todo += content[1]

    def _watch(self, thing: Any, children: Sequence[Any]) -> None:
        kind = type(thing)
        if kind is Bindings and type(thing.namespace) is dict:
            self._see(thing.namespace, thing)
        elif kind in _SEEN and not (kind is dict and "__spec__" in thing):
            self._see(thing, thing)
            if kind is types.FunctionType:
                self._see(vars(thing), thing)  # an empty one is no child of it
        elif issubclass(kind, type):
            if children:  # else it is of a library, and known by its name
                self._see(thing, thing)  # its bases
                self._see(gc.get_referents(vars(thing))[0], thing)  # a proxy is in between
                self._classes.append(thing)
        elif kind not in _FIXED and not issubclass(kind, expanders.BY_IDENTITY):
            self._exactly.append(thing)

    def _see(self, thing: Any, behind: Any) -> None:
        address = address_of(thing)
        if (seen := self._seen.get(address)) is None:
            seen = self._seen[address] = _Seen(thing)
        seen.behind.append(behind)

    def _note(self) -> None:
        """Take note of all that the collector sees."""
        self._things = [one.thing for one in self._seen.values()]
        self._tables = [one for one in self._things if type(one) is dict]
        self._referents = gc.get_referents(*self._things)
        self._keys = [*map(tuple, self._tables)]
        self._names = [*map(_name_and_kind, self._classes)]

    def check(self) -> None:
        """Look whether all of them are as they were.

        Raises:
          Unsteady: if one is not.
        """
        changed = [one for one in self._exactly if self._has_changed(one)]
        if not self._looks_the_same():
            changed += self._look_closer()
        if changed:
            raise Unsteady(changed)

    def _looks_the_same(self) -> bool:
        return (
            _are_the_same(gc.get_referents(*self._things), self._referents)
            and all(map(operator.eq, map(tuple, self._tables), self._keys))
            and all(map(operator.eq, map(_name_and_kind, self._classes), self._names))
        )

    def _look_closer(self) -> list[Any]:
        """Return what has changed; what only looks as if it had is looked at by its content from now on."""
        others = [one for one in self._seen.values() if one.has_changed()]
        behind = [thing for one in others for thing in one.behind] + self._classes
        changed = [one for one in behind if self._has_changed(one)]
        for one in others:
            del self._seen[address_of(one.thing)]
            self._exactly += one.behind
        self._note()
        return changed

    def _has_changed(self, thing: Any) -> bool:
        _, before = self._contents[address_of(thing)]
        try:
            return not _are_alike(before, _content(thing))
        except Exception:  # noqa: BLE001 - of the user's
            return True


def _name_and_kind(kind: type) -> tuple[str, type]:
    return kind.__qualname__, type(kind)


def _steady_content(thing: Any) -> Content | None:
    """Return the head and the children of an object, if to look at it again shows the same."""
    if issubclass(type(thing), _NEVER):
        return None
    try:
        content = _content(thing)
        return content if _are_alike(content, _content(thing)) else None
    except Exception:  # noqa: BLE001 - opaque, or of the user: a walk that comes there will tell
        return None


def _content(thing: Any) -> Content:
    kind = type(thing)
    if kind is set or kind is frozenset:
        return marshal.dumps(sys.getsizeof(thing)), (*thing,)
    head, children = expanders.expanded(thing)
    return marshal.dumps(head, 2), (*children,)


def _are_alike(one: Content, other: Content) -> bool:
    return (
        one[0] == other[0] and len(one[1]) == len(other[1]) and all(map(_is_same, one[1], other[1]))
    )


def _is_same(one: Any, other: Any) -> bool:
    if one is other:
        return True
    kind = type(one)
    return kind in _PLAIN and kind is type(other) and repr(one) == repr(other)
