"""Specifications in which something happens in the middle, for searches that are helped."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

from structsync.checking import (
    Spec,
    action,
    always_eventually,
    implies,
    invariant,
    leads_to,
    refines,
    start,
    step,
    terminal,
)
from structsync.checking._load import Loaded

SIDE = 9


class Walk(Spec):
    """A task on a square of numbers, who can go right, up and home."""

    x: int = start(int)
    y: int = start(int)

    @action(far=(1, 2), when=lambda self, far: self.x + far < SIDE, fair=True)
    def right(self, far: int) -> None:
        self.x += far

    @action(when=lambda self: self.y + 1 < SIDE)
    def up(self) -> None:
        self.y += 1

    @action(when=lambda self: self.x == self.y == SIDE - 1)
    def home(self) -> None:
        self.x = self.y = 0

    @invariant
    def on_the_square(self) -> bool:
        return self.x < SIDE

    @invariant
    def met(self) -> bool:
        return implies(self.y == SIDE - 1, self.x >= 0)

    @step
    def slow(self, before: Any) -> bool:
        return bool(self.x - before.x <= 2)

    @leads_to(goal=(1, 3))
    def right_in_the_end(self, goal: int) -> tuple[bool, bool]:
        return self.x == 0, self.x >= goal


class Astray(Walk):
    """Refuted in the middle: an invariant, a step, a behaviour."""

    @invariant
    def not_there(self) -> bool:
        return (self.x, self.y) != (3, 2)

    @invariant
    def nor_there(self) -> bool:
        assert (self.x, self.y) != (2, 3)
        return True

    @step
    def never_from_there(self, before: Any) -> bool:
        there: tuple[int, int, int] = (before.x, before.y, self.x)
        return there != (4, 4, 6)

    @always_eventually
    def at_the_top(self) -> bool:
        return self.y == SIDE - 1


class Stumbling(Walk):
    """An action raises, a property raises, and a state is the last."""

    @action(when=lambda self: self.x == 3 and self.y == 1)
    def fall(self) -> None:
        raise ValueError("a stone")

    @invariant
    def can_be_told(self) -> bool:
        return bool(1 // (self.x - 4) or True)

    @action(when=lambda self: self.x == self.y == SIDE - 1)
    def home(self) -> None:
        self.x = self.y = SIDE

    @terminal
    def nowhere(self) -> bool:
        return self.x == 0


class Idle(Walk):
    """What never happens is told: an antecedent that was never true."""

    @invariant
    def never_asked(self) -> bool:
        return implies(self.x > SIDE, False)


class Home(Spec):
    left: bool = start(bool)

    @action
    def leave(self) -> None:
        self.left = not self.left

    @invariant
    def is_told(self) -> bool:
        return self.left in (True, False)


class Mapped(Walk):
    @refines(Home)
    def is_a_home(self) -> dict[str, object]:
        return {"left": (self.x, self.y) != (0, 0)}


@dataclass(frozen=True)
class Point:
    x: int = 0


class Dotted(Walk):
    """The values are the user's own."""

    point: Point = start(Point)

    @action(by=lambda self: [Point(1)] if self.point.x < 3 else [])
    def shift(self, by: Point) -> None:
        self.point = replace(self.point, x=self.point.x + by.x)


def here() -> Any:
    @dataclass(frozen=True)
    class Here:
        number: int = 1

    return Here()


HERE: Any = here()  # of a class that no other process finds by its name


class Local(Walk):
    """Some of the values cannot be sent, in states and in moves."""

    thing: Any = start(lambda: None)

    @action(by=lambda self: [HERE, 1], when=lambda self, by: self.x == 2)
    def take(self, by: Any) -> None:
        self.thing = None if self.thing else by

    @action(when=lambda self: self.x == 3)
    def find(self) -> None:
        self.thing = HERE


class Names(Spec):
    """Names that can be exchanged, and one whose turn never comes."""

    symmetric: ClassVar[Any] = (("a", "b", "c"), ("d", "e"))

    come: tuple[str, ...] = start(tuple)
    gone: frozenset[str] = start(frozenset)

    @action(
        who=lambda self: [one for one in "abcde" if one not in self.come][
            : 9 * (len(self.come) < 3)
        ]
    )
    def enter(self, who: str) -> None:
        self.come += (who,)
        self.gone -= {who}

    @action(who=lambda self: self.come[:2], fair=True)
    def leave(self, who: str) -> None:
        self.come = tuple([one for one in self.come if one != who])
        self.gone |= {who}

    @invariant
    def few(self) -> bool:
        return len(self.come) < 4

    @leads_to(who=tuple("abcde"))
    def a_task_that_comes_goes(self, who: str) -> tuple[bool, bool]:
        return who in self.come, who in self.gone


class Forgetful(Names):
    """What happened last is forgotten."""

    symmetric: ClassVar[Any] = ()
    forgets = ("last",)
    last: str = start(str)

    @action(who=lambda self: self.come[-1:], fair=True)
    def turn_back(self, who: str) -> None:
        self.come, self.last = self.come[:-1], who


ALL = (Walk, Astray, Stumbling, Idle, Mapped, Dotted, Local, Names, Forgetful)

LOADED = [Loaded(Path(), True, {one.__name__: one for one in ALL}, {})]
