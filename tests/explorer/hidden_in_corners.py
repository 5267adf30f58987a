"""Programs like those of hidden_state, whose note is where few would look for one."""

from __future__ import annotations

import collections
import datetime
import gc
import io
import itertools
import logging
import pickle
import pkgutil
import random
import signal
import socket
import string
import sys
import uuid
import weakref
from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import trio

from .hidden_state import Hidden


class Place:
    """Has attributes."""

    last: Any = None


place = Place()


def function() -> None:
    """Do nothing."""


def attribute(owner: Any, name: str, *values: Any) -> Hidden:
    """Return what notes the second or third value in an attribute; the second one must not be last."""
    return Hidden(
        lambda: setattr(owner, name, values[0]),
        lambda number: setattr(owner, name, values[number]),
        lambda: getattr(owner, name) == values[1],
        True,
    )


class WithStatic:
    @staticmethod
    def method() -> None: ...


class Reference(weakref.ref[Place]):
    last: Any


reference = Reference(place)


class Silent:
    """Its text does not tell what it holds."""

    last: Any = None

    def __repr__(self) -> str:
        return "Silent()"

    def __index__(self) -> int:
        return 1

    def __radd__(self, other: int) -> int:
        return other + 1


bounds = slice(Silent())
counted = itertools.count(0, Silent())


class Day(datetime.date):
    __slots__ = ("last",)


class Defaults(collections.defaultdict[str, int]):
    __slots__ = ("last",)


class Dice(random.Random):
    __slots__ = ("last",)


class TellsNothing:
    last: Any = None

    @property
    def __dict__(self) -> dict[str, Any]:  # type: ignore[override]
        return {}


day, defaults, dice, tells_nothing = Day(2000, 1, 1), Defaults(int), Dice(1), TellsNothing()
limiter = trio.CapacityLimiter(1)
blocked = BlockingIOError(1, "blocked", 0)


def note_in_namespace(number: int) -> None:
    function.__globals__["in_" + "namespace"] = number


def note_in_frame(number: int) -> None:
    sys._getframe().f_globals["in_" + "frame"] = number


def holder() -> Any:
    return pkgutil.resolve_name("tests.explorer.hidden_elsewhere")


class Pair(NamedTuple):
    number: int


@dataclass(frozen=True)
class Item:
    number: int


@dataclass(eq=False)
class Alike:
    number: int

    def __hash__(self) -> int:
        return 0


def collide(kind: Any) -> dict[int, Any]:
    """Return two of a kind which share a place in a small set, so that the first one comes first there."""
    found: dict[int, list[Hashable]] = {}
    for number in range(100):
        one = kind(number)
        there = found.setdefault(hash(one) % 8, [])
        there.append(one)
        if len(there) == 2:
            return dict(enumerate(there, 1))
    raise AssertionError("none of a hundred collide")


def in_a_set(kind: Any) -> Hidden:
    items, collected = collide(kind), set[Any]()
    return Hidden(
        collected.clear,
        lambda number: collected.add(items[number]),
        lambda: next(iter(collected)) is items[1],
        False,
    )


in_a_buffer = io.TextIOWrapper(io.BytesIO())
vars(string)["hidden_printed"] = io.StringIO()


def empty(file: Any) -> None:
    file.seek(0)
    file.truncate()


def everything_in(file: Any) -> str:
    file.seek(0)
    return str(file.read())


LEVEL = 77
SAFETY = {1: uuid.SafeUUID.safe, 2: uuid.SafeUUID.unsafe}

CORNERS: dict[str, Hidden] = {
    "a function's doc": attribute(function, "__doc__", "", "1", "2"),
    "a function's name": attribute(function, "__name__", "f", "f1", "f2"),
    "a function's full name": attribute(function, "__qualname__", "f", "f1", "f2"),
    "a staticmethod": attribute(vars(WithStatic)["method"], "last", 0, 1, 2),
    "a reference with attributes": attribute(reference, "last", 0, 1, 2),
    "an object in a slice": Hidden(
        lambda: setattr(bounds.stop, "last", 0),
        lambda number: setattr(bounds.stop, "last", number),
        lambda: bounds.stop.last,
        1,
    ),
    "an object in a count": Hidden(
        lambda: setattr(gc.get_referents(counted)[-1], "last", 0),
        lambda number: setattr(gc.get_referents(counted)[-1], "last", number),
        lambda: gc.get_referents(counted)[-1].last,
        1,
    ),
    "whether a UUID is safe": Hidden(
        lambda: setattr(place, "last", None),
        lambda number: setattr(place, "last", uuid.UUID(int=5, is_safe=SAFETY[number])),
        lambda: place.last.is_safe,
        uuid.SafeUUID.safe,
    ),
    "slots on top of a date": attribute(day, "last", 0, 1, 2),
    "slots on top of a defaultdict": attribute(defaults, "last", 0, 1, 2),
    "slots on top of a Random": attribute(dice, "last", 0, 1, 2),
    "attributes that are denied": attribute(tells_nothing, "last", 0, 1, 2),
    "how much an error has written": attribute(blocked, "characters_written", 0, 1, 2),
    "the namespace of a function": Hidden(
        lambda: note_in_namespace(0),
        note_in_namespace,
        lambda: function.__globals__["in_" + "namespace"],
        1,
    ),
    "the namespace of a frame": Hidden(
        lambda: note_in_frame(0),
        note_in_frame,
        lambda: sys._getframe().f_globals["in_" + "frame"],
        1,
    ),
    "a name that is resolved": Hidden(
        lambda: vars(holder()).update(last=0),
        lambda number: vars(holder()).update(last=number),
        lambda: vars(holder())["last"],
        1,
    ),
    "the order of named tuples in a set": in_a_set(Pair),
    "the order of frozen dataclasses in a set": in_a_set(Item),
    "the order of equal hashes in a set": in_a_set(Alike),
    "a small hexadecimal number": Hidden(
        lambda: setattr(place, "last", ""),
        lambda number: setattr(place, "last", f"a fault at 0x{number}0"),
        lambda: place.last[-2],
        "1",
    ),
    "a hexadecimal number of five digits": Hidden(
        lambda: setattr(place, "last", ""),
        lambda number: setattr(place, "last", f"a fault at 0x{number}0000"),
        lambda: place.last[-5],
        "1",
    ),
    "a file in memory": Hidden(
        lambda: empty(in_a_buffer),
        lambda number: in_a_buffer.write(str(number)),
        lambda: everything_in(in_a_buffer),
        "21",
    ),
    "a buffer in a library": Hidden(
        lambda: empty(vars(string)["hidden_printed"]),
        lambda number: string.hidden_printed.write(str(number)),  # type: ignore[attr-defined]
        lambda: everything_in(string.hidden_printed),  # type: ignore[attr-defined]
        "21",
    ),
    "the name of a level of logging": Hidden(
        lambda: logging.addLevelName(LEVEL, "none"),
        lambda number: logging.addLevelName(LEVEL, f"L{number}"),
        lambda: logging.getLevelName(LEVEL),
        "L1",
    ),
    "the handler of a signal": Hidden(
        lambda: signal.signal(signal.SIGUSR1, signal.SIG_DFL),
        lambda number: signal.signal(
            signal.SIGUSR1, signal.SIG_IGN if number == 1 else signal.SIG_DFL
        ),
        lambda: signal.getsignal(signal.SIGUSR1),
        signal.SIG_IGN,
    ),
    "the timeout of sockets": Hidden(
        lambda: socket.setdefaulttimeout(None),
        lambda number: socket.setdefaulttimeout(number),
        lambda: socket.getdefaulttimeout(),
        1.0,
    ),
}


class Registry:
    """Knows the classes below it."""


def one_text() -> str:
    """Return a text, which is equal each time and never the same."""
    return "".join(["a ", "text"])


texts = {1: one_text(), 2: one_text()}


def generator() -> Iterator[int]:
    yield 1


generated = generator()


def by_pickle() -> Any:
    return pickle.loads(b"ctests.explorer.hidden_elsewhere\nplace\n.")


#: What the walk leaves out, so that the audit alone sees it.
LEFT_TO_THE_AUDIT: dict[str, Hidden] = {
    "annotations": Hidden(
        lambda: function.__annotations__.clear(),
        lambda number: function.__annotations__.update(last=number),
        lambda: function.__annotations__["last"],
        1,
    ),
    "the classes below one": Hidden(
        lambda: None,
        lambda number: type(f"Below{number}", (Registry,), {}),
        lambda: Registry.__subclasses__()[-1].__name__,
        "Below1",
    ),
    "which of two equal texts": Hidden(
        lambda: setattr(place, "last", ""),
        lambda number: setattr(place, "last", texts[number]),
        lambda: place.last is texts[1],
        True,
    ),
    "the name of a generator": attribute(generated, "__name__", "g", "g1", "g2"),
    "a name in a pickle": Hidden(
        lambda: vars(by_pickle()).update(last=0),
        lambda number: vars(by_pickle()).update(last=number),
        lambda: by_pickle().last,
        1,
    ),
    "an attribute of a library's class, by an object": Hidden(
        lambda: setattr(type(limiter), "by_object", 0),
        lambda number: setattr(type(limiter), "by_object", number),
        lambda: vars(type(limiter))["by_object"],
        1,
    ),
}
