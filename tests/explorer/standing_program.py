"""Programs whose hidden place is named by the test itself, so that it stands before the search."""

from __future__ import annotations

import collections
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from .hidden_state import note_in_some_order


class Slotted:
    __slots__ = ("last",)
    last: int


class Plain:
    last = 0


class Other(Plain):
    pass


class Base:
    pass


class FirstBase(Base):
    last = 1


class SecondBase(Base):
    last = 2


class Derived(FirstBase):
    pass


def _closing() -> tuple[Callable[[int], None], Callable[[], int]]:
    inside = 0

    def note(number: int) -> None:
        nonlocal inside
        inside = number

    return note, lambda: inside


def by_default(last: int = 0) -> int:
    return last


def with_attribute() -> None: ...
def without_attribute() -> None: ...


REBOUND = 0
BY_NAME: dict[str, str] = {"last": "0"}
BY_KEY: dict[str, object] = {"0": None}
LIST: list[int] = [0]
DEQUE = collections.deque([0])
SET: set[int] = {0}
SLOTTED, INSTANCE, MOVED, NESTED = Slotted(), Plain(), Plain(), ({"inner": [0]},)
NOTE_INSIDE, READ_INSIDE = _closing()


def rebind(number: int) -> None:
    global REBOUND
    REBOUND = number


def rename(number: int) -> None:
    """Let the same value be there by another key."""
    BY_KEY.clear()
    BY_KEY[str(number)] = None


def be_alone(number: int) -> None:
    SET.clear()
    SET.add(number)


def be_default(number: int) -> None:
    by_default.__defaults__ = (number,)


def be_base(number: int) -> None:
    Derived.__bases__ = ((FirstBase, SecondBase)[number // 2],)


def be_first(number: int) -> None:
    vars(without_attribute).update({"last": number} if number else {})
    if not number:
        vars(without_attribute).clear()


def be_class(number: int) -> None:
    MOVED.__class__ = (Plain, Other)[number // 2]


@dataclass(frozen=True)
class Place:
    """Where a number is noted, 0 at first, and read by code that names it."""

    note: Callable[[int], object]
    read: Callable[[], object]


PLACES = {
    "a global": Place(rebind, lambda: REBOUND),
    "an item of a dictionary": Place(
        lambda number: BY_NAME.update(last=str(number)), lambda: int(BY_NAME["last"])
    ),
    "a key of a dictionary": Place(rename, lambda: next(int(key) for key in BY_KEY)),
    "an item of a list": Place(lambda number: LIST.__setitem__(0, number), lambda: LIST[0]),
    "an item of a deque": Place(lambda number: DEQUE.__setitem__(0, number), lambda: DEQUE[0]),
    "an item of a set": Place(be_alone, lambda: next(iter(SET))),
    "a slot": Place(lambda number: setattr(SLOTTED, "last", number), lambda: SLOTTED.last),
    "an attribute": Place(lambda number: setattr(INSTANCE, "last", number), lambda: INSTANCE.last),
    "an item deep inside": Place(
        lambda number: NESTED[0].update(inner=[number]), lambda: NESTED[0]["inner"][0]
    ),
    "an attribute of a class": Place(
        lambda number: setattr(Other, "last", number), lambda: Other.last
    ),
    "the base of a class": Place(be_base, lambda: Derived.last),
    "the class of an object": Place(be_class, lambda: 2 if type(MOVED) is Other else 1),
    "the name of a class": Place(
        lambda number: setattr(Base, "__qualname__", f"Base{number}"),
        lambda: int(Base.__qualname__.removeprefix("Base")),
    ),
    "a closure": Place(NOTE_INSIDE, READ_INSIDE),
    "a default": Place(be_default, lambda: by_default()),
    "the first attribute of a function": Place(
        be_first, lambda: vars(without_attribute).get("last", 0)
    ),
    "an attribute of a function": Place(
        lambda number: setattr(with_attribute, "last", number),
        lambda: with_attribute.last,  # type: ignore[attr-defined]
    ),
}
for one in PLACES.values():
    one.note(0)


def program(name: str) -> Callable[[], Awaitable[None]]:
    """Return a program in which the second worker must not note before the first one does."""

    async def in_one_order() -> None:
        place = PLACES[name]
        place.note(0)
        await note_in_some_order(place.note)
        assert place.read() != 1

    return in_one_order
