"""Specifications that look like a trick and are none: they stay green."""

import enum
import functools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import PurePosixPath
from typing import Any, NamedTuple

import pytest

from structsync import Arbiter
from structsync.checking import (
    Spec,
    Verdict,
    action,
    check,
    implies,
    invariant,
    leads_to,
    start,
    step,
)

GOOD: list[type[Spec]] = []


def good(spec: type[Spec]) -> type[Spec]:
    GOOD.append(spec)
    return spec


class Base(Spec):
    abstract = True
    n: int = start(int)

    @action(fair=True)
    def turn(self) -> None:
        self.n = (self.n + 1) % 5

    @invariant
    def in_range(self) -> bool:
        return 0 <= self.n < 5


class Phase(enum.Enum):
    IDLE = "idle"
    BUSY = "busy"


class Place(NamedTuple):
    row: int
    name: str


@dataclass(frozen=True)
class Order:
    """Frozen to the bottom."""

    amount: int = 0
    places: tuple[Place, ...] = ()
    phase: Phase = Phase.IDLE


@good
class FrozenValues(Base):
    """Values of many types, each immutable."""

    order: Order = start(Order)
    share: Fraction = start(Fraction, 1, 2)
    path: PurePosixPath = start(PurePosixPath, "a/b")

    @action(when=lambda spec: spec.order.amount < 2)
    def add(self) -> None:
        place = Place(self.order.amount, "p")
        self.order = replace(self.order, amount=self.order.amount + 1, places=(place,))

    @action
    def clear(self) -> None:
        self.order, self.share = Order(phase=Phase.BUSY), 1 - self.share


@good
class BoolsAndNumbers(Base):
    """True and 1 in two fields, and a number that is an int or a float."""

    flag: bool = start(bool)
    level: float = start(int)

    @action
    def switch(self) -> None:
        self.flag = not self.flag
        self.level = 0.0 if self.flag else 1


def in_use(spec: Any) -> Iterator[str]:
    """A generator function: it gives its values anew each time."""
    for name in ("a", "b"):
        if name not in spec.taken:
            yield name


@good
class Generators(Base):
    """Domains that are generators, ranges, sets and views."""

    taken: frozenset[str] = start(frozenset)

    @action(name=in_use, where={"x": 1}.keys())
    def take(self, name: str, where: str) -> None:
        self.taken |= {name}

    @action(name=lambda spec: set(spec.taken), often=range(1, 2))
    def give(self, name: str, often: int) -> None:
        self.taken -= {name}


@functools.lru_cache
def expensive(n: int) -> int:
    """A memo of a pure function."""
    return n * n


LIMITS = {"low": 2, "high": 4}


@good
class MemosAndConstants(Base):
    """What is outside is constant, or a memo that makes no difference."""

    sizes = (1, 2)

    @invariant
    def squares(self) -> bool:
        return expensive(self.n) <= LIMITS["high"] ** 2 and len(self.sizes) == 2


class Shelf:
    """A core with an index that restore builds anew."""

    def __init__(self) -> None:
        self.items: list[str] = []
        self.where: dict[str, int] = {}

    def put(self, name: str) -> None:
        self.items.append(name)
        self.where[name] = len(self.items) - 1

    def clear(self) -> None:
        self.items.clear()
        self.where.clear()

    @functools.cached_property
    def name(self) -> str:
        return "shelf"

    def snapshot(self) -> tuple[str, ...]:
        return tuple(self.items)

    def restore(self, snapshot: tuple[str, ...]) -> None:
        self.clear()
        for name in snapshot:
            self.put(name)


@good
class DerivedIndex(Base):
    core: Shelf = start(Shelf)

    @action(name=("a", "b"), when=lambda spec, name: name not in spec.core.where)
    def put(self, name: str) -> None:
        self.core.put(name)

    @action
    def clear(self) -> None:
        self.core.clear()

    @invariant
    def it_is_found(self) -> bool:
        where = [self.core.where[one] for one in self.core.items]
        return where == list(range(len(where))) and self.core.name == "shelf"


class Tokens(Arbiter[int]):
    """A core of a user's, declared as the tutorial says."""

    rest: int

    def __init__(self) -> None:
        super().__init__()
        self.rest = 2

    def admits(self, claim: int) -> bool:
        return claim <= self.rest

    def admit(self, claim: int) -> None:
        self.rest -= claim

    def discharge(self, claim: int) -> None:
        self.rest += claim


@good
class OwnArbiter(Spec):
    core: Tokens = start(Tokens)
    out: tuple[str, ...] = start(tuple)

    @action(
        who=("a", "b", "c"),
        when=lambda spec, who: (
            who not in spec.out and who not in [one.waiter for one in spec.core.queue]
        ),
    )
    def ask(self, who: str) -> None:
        if self.core.submit(1, waiter=who).status == "granted":
            self.out = tuple(sorted((*self.out, who)))

    @action(who=out, fair=True)
    def leave(self, who: str) -> None:
        stay = [one for one in self.out if one != who]
        let_in = [one.waiter for one in self.core.release(1)]
        self.out = tuple(sorted((*stay, *let_in)))

    @invariant
    def no_more_than_there_are(self) -> bool:
        return len(self.out) == 2 - self.core.rest


def fresh(limit: int) -> type[Spec]:
    """A factory of specs."""

    class Made(Base):
        @invariant
        def is_below(self) -> bool:
            return self.n < limit

    return Made


good(fresh(5))
good(fresh(6))


class Mixin:
    """Declares without being a spec."""

    @invariant
    def is_even_or_odd(self: Any) -> bool:
        return self.n % 2 in (0, 1)

    @step
    def moves_on(self: Any, before: Any) -> bool:
        return implies(before.n == 4, self.n in (0, 4))


def logged(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def called(*arguments: Any) -> Any:
        return function(*arguments)

    return called


@good
class MixedAndDecorated(Mixin, Base):
    """A mixin, an inherited property that is replaced, and a decorator below ours."""

    @invariant
    @logged
    def in_range(self) -> bool:
        return self.n in range(5)

    @property
    def doubled(self) -> int:
        return 2 * self.n

    @staticmethod
    def half(number: int) -> int:
        return number // 2

    @leads_to(to=(0, 1, 2))
    def comes_round(self, to: int) -> tuple[bool, bool]:
        return self.half(self.doubled) != to, self.n == to


@good
class Canonical(Base):
    """Counts forever, and canonical forgets what decides nothing."""

    turns: int = start(int)
    names: tuple[int, ...] = start(tuple, (0, 0, 0))

    @action(who=(0, 1, 2))
    def mark(self, who: int) -> None:
        self.turns += 1
        self.names = tuple(1 - one if n == who else one for n, one in enumerate(self.names))

    def canonical(self, snapshot: Any) -> Any:
        return snapshot._replace(turns=0, names=tuple(sorted(snapshot.names)))


def test_there_are_nine() -> None:
    assert len(GOOD) >= 9


@pytest.mark.parametrize("spec", GOOD, ids=lambda one: f"{one.__name__}-{GOOD.index(one)}")
def test_what_only_looks_like_a_trick_stays_green(spec: type[Spec]) -> None:
    result = check(spec)
    assert {
        one.name: one.verdict for one in result.properties if one.verdict is not Verdict.CONFIRMED
    } == {}
    assert result.verdict is Verdict.CONFIRMED
