"""Programs like those of hidden_state, which note one of two equal objects by something in front of it.

Which of the two it was shows when one of them changes.
"""

from __future__ import annotations

import enum
import types
import weakref
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from .hidden_in_corners import Place, attribute
from .hidden_state import Hidden

in_front = Place()


def behind(
    make: Callable[[], Any],
    cover: Callable[[Any], Any],
    change: Callable[[Any], object],
    look: Callable[[Any], object],
) -> Hidden:
    """Return what notes the first or the second object that is made; the first one must not be last."""
    objects: dict[int, Any] = {}

    def reset() -> None:
        objects.update({1: make(), 2: make()})
        in_front.last = None

    def note(number: int) -> None:
        in_front.last = cover(objects[number])

    def read() -> object:
        before = look(cover(objects[1]))
        change(objects[1])
        return look(in_front.last) != before

    return Hidden(reset, note, read, True)


class Thing:
    """Has a number, and a place for another one."""

    def __init__(self) -> None:
        self.number = 0

    def above(self) -> Any:
        return super()

    def __str__(self) -> str:
        return str(self.number)


class Below(Thing):
    """Has its number above it, too."""

    def above(self) -> Any:
        return super()


def number(thing: Any) -> object:
    return thing.number


def renumber(thing: Any) -> None:
    thing.number = 1


def swap_values(mapping: dict[int, int]) -> None:
    mapping.update({1: 2, 2: 1})


def started(iterator: Iterator[Any]) -> Iterator[Any]:
    next(iterator)
    return iterator


def next_number(iterator: Iterator[Any]) -> object:
    try:
        return next(iterator)
    except RuntimeError:
        return "changed"


def of_dict(iterate: Callable[[dict[int, int]], Iterator[Any]]) -> Hidden:
    return behind(lambda: {1: 1, 2: 2}, lambda one: started(iterate(one)), swap_values, next_number)


def made(base: Any, number: int) -> Any:
    """Return a class whose method alone knows a number."""

    class Made(base):  # type: ignore[misc]
        def known(self) -> int:
            return number

    return Made


def note_made(base: Any, *arguments: Any) -> Hidden:
    return Hidden(
        lambda: setattr(in_front, "last", None),
        lambda number: setattr(in_front, "last", made(base, number)(*arguments)),
        lambda: in_front.last.known(),
        1,
    )


@dataclass(slots=True)
class Slots:
    last: int


class Gate(Slots, enum.Enum):
    FRONT = 0


class Lists(list[int], enum.Enum):  # type: ignore[misc]
    EMPTY = ()


heard: list[int] = []
called_back = {1: lambda _: heard.append(1), 2: lambda _: heard.append(2)}


class WithProxy:
    """Dies, and a proxy of it tells by a callback of its own."""

    def __init__(self) -> None:
        self.one: Thing | None = None
        self.proxy: Any = None

    def reset(self) -> None:
        self.one, self.proxy = Thing(), None
        heard.clear()

    def note(self, number: int) -> None:
        self.proxy = weakref.proxy(self.one, called_back[number])

    def read(self) -> list[int]:
        self.one = None
        return [*heard]


with_proxy = WithProxy()
kept = Place()

BEHIND: dict[str, Hidden] = {
    "a dict behind a proxy": behind(
        lambda: {1: 0}, types.MappingProxyType, lambda one: one.update({1: 1}), dict
    ),
    "a dict behind its keys": behind(
        lambda: {1: 1, 2: 2},
        lambda one: started(iter(one)),
        lambda one: one.update({3: 3}),
        next_number,
    ),
    "a dict behind its values": of_dict(lambda one: iter(one.values())),
    "a dict behind its items": of_dict(lambda one: iter(one.items())),
    "a dict behind its reversed keys": behind(
        lambda: {1: 1, 2: 2},
        lambda one: started(reversed(one)),
        lambda one: one.update({3: 3}),
        next_number,
    ),
    "a dict behind its reversed values": of_dict(lambda one: reversed(one.values())),
    "a dict behind its reversed items": of_dict(lambda one: reversed(one.items())),
    "a dict behind a zip": of_dict(lambda one: zip(one.values(), strict=True)),
    "a set behind an iterator": behind(
        lambda: {1, 2}, lambda one: started(iter(one)), lambda one: one.add(3), next_number
    ),
    "an object behind a weak proxy": behind(Thing, weakref.proxy, renumber, number),
    "the callback of a weak proxy": Hidden(with_proxy.reset, with_proxy.note, with_proxy.read, [1]),
    "the object behind super()": behind(Below, Below.above, renumber, lambda one: one.__str__()),
    "slots on top of an enumeration": attribute(Gate.FRONT, "last", 0, 1, 2),
    "what an enumeration contains": Hidden(
        Lists.EMPTY.clear, Lists.EMPTY.append, lambda: [*Lists.EMPTY], [2, 1]
    ),
    "a class made for an error": note_made(Exception),
    "a class made for a reference": note_made(weakref.ref, kept),
}
