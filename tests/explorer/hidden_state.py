"""Programs that differ in something that is easily left out of a state.

Two workers make a note, one after the other, and one of the two orders is wrong. When both have made it
nothing else tells the orders apart: a search that takes the two states for equal confirms what is wrong.
"""

from __future__ import annotations

import collections
import contextvars
import datetime
import decimal
import functools
import importlib
import logging
import os
import pathlib
import sys
import weakref
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import trio
from trio.lowlevel import checkpoint


async def note_in_some_order(note: Callable[[int], object]) -> None:
    """Have each of two workers note its number."""

    async def worker(number: int) -> None:
        await checkpoint()
        note(number)

    async with trio.open_nursery() as nursery:
        for number in (1, 2):
            nursery.start_soon(worker, number)
    async with trio.open_nursery() as nursery:  # something to choose when both have noted
        for _ in range(2):
            nursery.start_soon(checkpoint)


@dataclass(frozen=True)
class Hidden:
    """Where two numbers are noted: how it is emptied, written, and read as their order."""

    reset: Callable[[], object]
    note: Callable[[int], object]
    read: Callable[[], object]
    wrong: object

    def program(self) -> Callable[[], Awaitable[None]]:
        """Return the program whose order must not be the wrong one."""

        async def in_one_order() -> None:
            self.reset()
            await note_in_some_order(self.note)
            assert self.read() != self.wrong

        return in_one_order


# ==== names that are bound again to values that cannot change ====

amount = decimal.Decimal(0)
day = datetime.date(2000, 1, 1)
path = pathlib.PurePosixPath("/")
share = Fraction(0)
function: Callable[..., int] = int
kind: type = int


def rebinds_amount(number: int) -> None:
    global amount
    amount = amount * 10 + number


def reset_amount() -> None:
    global amount
    amount = decimal.Decimal(0)


def rebinds_day(number: int) -> None:
    global day
    day = day.replace(year=day.year * 2 % 5000 + number)


def reset_day() -> None:
    global day
    day = datetime.date(2000, 1, 1)


def rebinds_path(number: int) -> None:
    global path
    path /= str(number)


def reset_path() -> None:
    global path
    path = pathlib.PurePosixPath("/")


def rebinds_share(number: int) -> None:
    global share
    share = share * 10 + number


def reset_share() -> None:
    global share
    share = Fraction(0)


def rebinds_kind(number: int) -> None:
    global kind
    kind = {1: float, 2: bytes}[number]


def reset_kind() -> None:
    global kind
    kind = int


def rebinds_function(number: int) -> None:
    global function
    function = {1: abs, 2: len}[number]  # type: ignore[assignment]


def reset_function() -> None:
    global function
    function = int


class OnAClass:
    last: Any = None


class Meta(type):
    last: Any = None


class OfMeta(metaclass=Meta):
    pass


# ==== what is there before the run, and changes in place ====

context: contextvars.ContextVar[list[int]] = contextvars.ContextVar("context")
context.set([])
logger = logging.getLogger("tests.hidden")


def note_in_logger(number: int) -> None:
    vars(logger)["last"] = number


# ==== what a death triggers ====


class Referent:
    pass


class Deaths:
    """The order in which two objects die, as a callback of each tells."""

    def __init__(self) -> None:
        self.objects: dict[int, Referent] = {}

    def reset(self) -> None:
        died.clear()
        self.objects = {number: Referent() for number in (1, 2)}
        for number, one in self.objects.items():
            weakref.finalize(one, died.append, number)

    def note(self, number: int) -> None:
        del self.objects[number]


died: list[int] = []
deaths = Deaths()


class Iterators:
    """Where an iterator stands is not what it has passed."""

    def __init__(self) -> None:
        self.numbers: Iterator[int] = iter(())
        self.queue = collections.deque[int]()

    def reset(self) -> None:
        self.queue.clear()

    def note(self, number: int) -> None:
        self.queue.append(number)


iterators = Iterators()


def reset_environment() -> None:
    os.environ.pop("STRUCTSYNC_HIDDEN", None)


def note_in_environment(number: int) -> None:
    os.environ["STRUCTSYNC_HIDDEN"] = os.environ.get("STRUCTSYNC_HIDDEN", "") + str(number)


def note_by_import(number: int) -> None:
    import tests.explorer.hidden_elsewhere as elsewhere

    elsewhere.last = number


def read_by_import() -> int:
    import tests.explorer.hidden_elsewhere as elsewhere

    return elsewhere.last


def note_by_name(number: int) -> None:
    globals()["by_" + "name"] = number


# ==== reached by other ways than a name ====


def note_by_string(number: int) -> None:
    vars(importlib.import_module("tests.explorer.hidden_elsewhere")).update(last=number)


def read_by_string() -> object:
    found: object = vars(importlib.import_module("tests.explorer.hidden_elsewhere"))["last"]
    return found


cached = functools.lru_cache(maxsize=1)(abs)
handler = logging.NullHandler()
logging.getLogger("tests.hidden.handled").addHandler(handler)


class Raised:
    """An error whose traceback is changed, and what lives as long as that."""

    def __init__(self) -> None:
        self.error = ValueError()

    def note(self, number: int) -> None:
        try:
            raises(number)
        except ValueError as error:
            self.error.__traceback__ = error.__traceback__

    def read(self) -> object:
        trace = self.error.__traceback__
        assert trace is not None
        assert trace.tb_next is not None
        return trace.tb_next.tb_frame.f_locals["number"]


def raises(number: int) -> None:
    raise ValueError


raised = Raised()


class Iterated:
    """An iterator over a deque raises if that has changed since it was made."""

    def __init__(self) -> None:
        self.queue = collections.deque[int]()
        self.iterator: Iterator[int] = iter(())

    def reset(self) -> None:
        self.queue = collections.deque([0])
        self.iterator = iter(())

    def note(self, number: int) -> None:
        if number == 2:
            self.iterator = iter(self.queue)
        else:
            self.queue.append(self.queue.popleft())

    def read(self) -> bool:
        try:
            return next(self.iterator) != 0
        except RuntimeError:
            return True


iterated = Iterated()


class LastWord:
    """What is called when an object dies: by its finalizers, or by the last reference to it."""

    def __init__(self) -> None:
        self.one: Referent | None = None
        self.reference: weakref.ref[Referent] | None = None

    def reset(self) -> None:
        self.one, self.reference = Referent(), None
        died.clear()

    def finalizes(self, number: int) -> None:
        weakref.finalize(self.one, died.append, number)

    def refers(self, number: int) -> None:
        assert self.one is not None
        self.reference = weakref.ref(self.one, died_first if number == 1 else died_second)

    def read(self) -> list[int]:
        self.one = None
        return [*died]


def died_first(_: object) -> None:
    died.append(1)


def died_second(_: object) -> None:
    died.append(2)


last_word = LastWord()
numbers: set[int] = set()

HIDDEN: dict[str, Hidden] = {
    "a global Decimal": Hidden(reset_amount, rebinds_amount, lambda: amount, 21),
    "a global date": Hidden(reset_day, rebinds_day, lambda: day.year, 2000 * 4 % 5000 + 5),
    "a global path": Hidden(reset_path, rebinds_path, lambda: str(path), "/2/1"),
    "a global fraction": Hidden(reset_share, rebinds_share, lambda: share, 21),
    "a global class": Hidden(reset_kind, rebinds_kind, lambda: kind, float),
    "a global function": Hidden(reset_function, rebinds_function, lambda: function, abs),
    "a class attribute": Hidden(
        lambda: setattr(OnAClass, "last", None),
        lambda number: setattr(OnAClass, "last", decimal.Decimal(number)),
        lambda: OnAClass.last,
        1,
    ),
    "a metaclass": Hidden(
        lambda: setattr(Meta, "last", None),
        lambda number: setattr(Meta, "last", number),
        lambda: OfMeta.last,
        1,
    ),
    "an import inside a function": Hidden(
        lambda: note_by_import(0), note_by_import, read_by_import, 1
    ),
    "globals()": Hidden(lambda: note_by_name(0), note_by_name, lambda: globals()["by_name"], 1),
    "a context variable": Hidden(
        lambda: context.get().clear(),
        lambda number: context.get().append(number),
        lambda: context.get(),
        [2, 1],
    ),
    "the decimal context": Hidden(
        lambda: setattr(decimal.getcontext(), "prec", 28),
        lambda number: setattr(decimal.getcontext(), "prec", 20 + number),
        lambda: decimal.getcontext().prec,
        21,
    ),
    "a logger": Hidden(lambda: note_in_logger(0), note_in_logger, lambda: vars(logger)["last"], 1),
    "a handler": Hidden(
        lambda: vars(handler).update(last=0),
        lambda number: vars(handler).update(last=number),
        lambda: vars(handler)["last"],
        1,
    ),
    "a metaclass without its name": Hidden(
        lambda: setattr(type(OfMeta), "last", None),
        lambda number: setattr(type(OfMeta), "last", number),
        lambda: type(OfMeta).last,
        1,
    ),
    "an import by a string": Hidden(lambda: note_by_string(0), note_by_string, read_by_string, 1),
    "a name in a library": Hidden(
        lambda: vars(sys).update(hidden=0),
        lambda number: vars(sys).update(hidden=number),
        lambda: sys.hidden,  # type: ignore[attr-defined]
        1,
    ),
    "an attribute of a class of a library": Hidden(
        lambda: setattr(trio.Lock, "hidden", 0),
        lambda number: setattr(trio.Lock, "hidden", number),
        lambda: trio.Lock.hidden,  # type: ignore[attr-defined]
        1,
    ),
    "a cache round a builtin": Hidden(
        cached.cache_clear,
        cached,
        lambda: (cached(1), cached.cache_info().hits)[1],
        1,
    ),
    "the order of a set": Hidden(
        numbers.clear, lambda number: numbers.add(8 * number), lambda: [*numbers], [16, 8]
    ),
    "an iterator over a deque": Hidden(iterated.reset, iterated.note, iterated.read, True),
    "a traceback": Hidden(lambda: raised.note(0), raised.note, raised.read, 1),
    "finalizers": Hidden(last_word.reset, last_word.finalizes, last_word.read, [1, 2]),
    "a callback of a reference": Hidden(last_word.reset, last_word.refers, last_word.read, [1]),
    "the order of deaths": Hidden(deaths.reset, deaths.note, lambda: died, [2, 1]),
    "a deque": Hidden(iterators.reset, iterators.note, lambda: [*iterators.queue], [2, 1]),
    "the environment": Hidden(
        reset_environment,
        note_in_environment,
        lambda: os.environ["STRUCTSYNC_HIDDEN"],
        "21",
    ),
    "the recursion limit": Hidden(
        lambda: sys.setrecursionlimit(1000),
        lambda number: sys.setrecursionlimit(1000 + number),
        sys.getrecursionlimit,
        1001,
    ),
}

#: What these have in reach is all that the suite has imported, so they take long.
LARGE = {"globals()", "an import inside a function"}
