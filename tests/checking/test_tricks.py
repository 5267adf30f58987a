"""Forty ways to write a specification that would be confirmed for the wrong reason.

None of them is on the list that `test_nothing_fools_it.py` goes through; the rules behind that list
have to cover them. Each ends with an error, or with a verdict that is not green.
"""

import functools
import itertools
import os
import random
import time
import uuid
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, ClassVar

import pytest

from structsync.checking import (
    Spec,
    SpecError,
    Verdict,
    action,
    check,
    implies,
    invariant,
    leads_to,
    start,
    step,
)


class Base(Spec):
    """Five positions, and never beyond them."""

    abstract = True
    n: int = start(int)

    @action
    def turn(self) -> None:
        self.n = (self.n + 1) % 5

    @invariant
    def in_range(self) -> bool:
        return 0 <= self.n < 5


TRICKS: list[Callable[[], type[Spec]]] = []


def trick(make: Callable[[], type[Spec]]) -> Callable[[], type[Spec]]:
    TRICKS.append(make)
    return make


def not_green(make: Callable[[], type[Spec]]) -> str:
    """Return how a trick ends; fail if it ends green."""
    try:
        result = check(make(), seconds=20)
    except SpecError as error:
        return str(error)
    assert result.verdict is not Verdict.CONFIRMED
    return str(result.verdict.value)


# ==== Hidden state ====

SEEN: set[int] = set()
IDS = itertools.count()
TABLE = {"calls": 0}
MEMO: dict[int, int] = {}
RNG = random.Random(7)
RING: deque[int] = deque(maxlen=3)


class Config:
    """Settings of a module."""

    limit = 0
    log: ClassVar[list[int]] = []


@trick
def a_set_of_a_module() -> type[Spec]:
    class Trick(Base):
        @action
        def note(self) -> None:
            SEEN.add(self.n)

    return Trick


@trick
def a_counter_of_itertools() -> type[Spec]:
    class Trick(Base):
        @action
        def note(self) -> None:
            if next(IDS) > 10**6:
                self.n = 9

    return Trick


@trick
def an_entry_of_a_dict() -> type[Spec]:
    class Trick(Base):
        @action
        def note(self) -> None:
            TABLE["calls"] += 1

    return Trick


@trick
def a_dict_that_grows() -> type[Spec]:
    class Trick(Base):
        @action
        def note(self) -> None:
            MEMO[self.n] = 1

    return Trick


@trick
def a_seeded_generator() -> type[Spec]:
    class Trick(Base):
        @action
        def jump(self) -> None:
            self.n = RNG.randrange(5)

    return Trick


@trick
def a_deque_of_a_module() -> type[Spec]:
    class Trick(Base):
        @action
        def note(self) -> None:
            RING.append(self.n)

    return Trick


@trick
def an_attribute_of_another_class() -> type[Spec]:
    class Trick(Base):
        @action
        def note(self) -> None:
            Config.limit += 1

    return Trick


@trick
def a_list_of_another_class() -> type[Spec]:
    class Trick(Base):
        @invariant
        def notes(self) -> bool:
            Config.log.append(self.n)
            return True

    return Trick


@trick
def a_cell_of_a_closure() -> type[Spec]:
    calls = 0

    class Trick(Base):
        @action
        def note(self) -> None:
            nonlocal calls
            calls += 1

    return Trick


@trick
def an_attribute_of_a_function() -> type[Spec]:
    def count() -> None:
        count.calls = getattr(count, "calls", 0) + 1  # type: ignore[attr-defined]

    class Trick(Base):
        @action
        def note(self) -> None:
            count()

    return Trick


@trick
def a_default_of_a_helper() -> type[Spec]:
    def remember(n: int, seen: list[int] = []) -> None:  # noqa: B006
        seen.append(n)

    class Trick(Base):
        @action
        def note(self) -> None:
            remember(self.n)

    return Trick


@trick
def a_counter_in_a_property() -> type[Spec]:
    class Trick(Base):
        asked = 0

        @invariant
        def asks(self) -> bool:
            type(self).asked += 1
            return self.asked < 10**6

    return Trick


@trick
def a_counter_in_a_domain() -> type[Spec]:
    calls = [0]

    def values(spec: Any) -> list[int]:
        calls[0] += 1
        return [0]

    class Trick(Base):
        @action(value=values)
        def take(self, value: int) -> None: ...

    return Trick


@trick
def a_counter_in_a_when() -> type[Spec]:
    calls = [0]

    def now(spec: Any) -> bool:
        calls[0] += 1
        return True

    class Trick(Base):
        @action(when=now)
        def take(self) -> None: ...

    return Trick


@trick
def a_property_with_a_setter() -> type[Spec]:
    stored: dict[str, int] = {}

    class Trick(Base):
        @property
        def level(self) -> int:
            return stored.get("level", 0)

        @level.setter
        def level(self, value: int) -> None:
            stored["level"] = value

        @action
        def raise_it(self) -> None:
            self.level += 1

    return Trick


@trick
def a_slot() -> type[Spec]:
    class Trick(Base):
        __slots__ = ("hidden",)

        @action
        def note(self) -> None:
            self.hidden = self.n

    return Trick


@trick
def an_equality_of_its_own() -> type[Spec]:
    class Trick(Base):
        def __setattr__(self, name: str, value: object) -> None:
            object.__setattr__(self, name, 0)

    return Trick


class Pool:
    """A core that keeps something in its class."""

    taken = 0

    def take(self) -> None:
        Pool.taken += 1

    def snapshot(self) -> int:
        return 0

    def restore(self, snapshot: int) -> None: ...


@trick
def a_core_that_counts_in_its_class() -> type[Spec]:
    class Trick(Base):
        core: Pool = start(Pool)

        @action
        def take(self) -> None:
            self.core.take()

    return Trick


class Nested:
    """A core whose part has more than the snapshot says."""

    def __init__(self) -> None:
        self.inner = [0, 0]

    def snapshot(self) -> int:
        return self.inner[0]

    def restore(self, snapshot: int) -> None:
        self.inner[0] = snapshot


@trick
def a_core_that_forgets_a_part() -> type[Spec]:
    class Trick(Base):
        core: Nested = start(Nested)

        @action
        def use(self) -> None:
            self.core.inner[1] += 1

    return Trick


# ==== Not deterministic ====


@trick
def a_clock() -> type[Spec]:
    class Trick(Base):
        seen: float = start(float)

        @action
        def look(self) -> None:
            self.seen = time.perf_counter()

    return Trick


@trick
def a_name_by_chance() -> type[Spec]:
    class Trick(Base):
        name: str = start(str)

        @action
        def call(self) -> None:
            self.name = uuid.uuid4().hex

    return Trick


@trick
def bytes_of_the_system() -> type[Spec]:
    class Trick(Base):
        @action(value=lambda spec: [os.urandom(4)])
        def take(self, value: bytes) -> None: ...

    return Trick


@trick
def an_address() -> type[Spec]:
    class Trick(Base):
        where: int = start(int)

        @action
        def look(self) -> None:
            self.where = id(self)

    return Trick


@trick
def a_property_by_chance() -> type[Spec]:
    class Trick(Base):
        @invariant
        def chance(self) -> bool:
            return random.random() >= 0

    return Trick


@trick
def the_first_of_a_set() -> type[Spec]:
    class Trick(Base):
        waiting: frozenset[str] = start(frozenset, ("a", "b", "c"))

        @action
        def serve(self) -> None:
            self.n = "abc".index(next(iter(self.waiting)))

    return Trick


@trick
def a_cache_of_the_first_state() -> type[Spec]:
    class Trick(Base):
        @functools.lru_cache  # noqa: B019
        def position(self) -> int:
            return self.n

        @invariant
        def near(self) -> bool:
            return self.position() < 3

    return Trick


# ==== Values ====


@dataclass
class Loose:
    n: int = 0

    __hash__ = None  # type: ignore[assignment]


@dataclass(frozen=True, eq=False)
class Alone:
    n: int = 0


class Sneaky(int):
    """A number with a note on it."""

    note = ""


@trick
def a_dataclass_without_hash() -> type[Spec]:
    class Trick(Base):
        box: Loose = start(Loose)

    return Trick


@trick
def a_dataclass_by_identity() -> type[Spec]:
    class Trick(Base):
        box: Alone = start(Alone)

    return Trick


@trick
def a_number_with_a_note() -> type[Spec]:
    class Trick(Base):
        held: Sneaky = start(Sneaky, 3)

        @action
        def write(self) -> None:
            self.held.note += "!"

    return Trick


@trick
def a_decimal_of_another_precision() -> type[Spec]:
    class Trick(Base):
        price: Decimal = start(Decimal, "1.0")

        @action
        def round_it(self) -> None:
            self.price = Decimal("1.00")

        @invariant
        def one_digit(self) -> bool:
            return len(str(self.price)) == 3

    return Trick


@trick
def a_generator_as_a_value() -> type[Spec]:
    class Trick(Base):
        rest: Any = start(lambda: (n for n in range(9)))

    return Trick


# ==== Declarations that are none ====


@trick
def a_when_that_is_not_called() -> type[Spec]:
    class Trick(Base):
        def is_free(self) -> bool:
            return False

        @action(when=lambda spec: spec.is_free)
        def take(self) -> None: ...

    return Trick


@trick
def an_async_when() -> type[Spec]:
    async def free(spec: Any) -> bool:
        return False

    class Trick(Base):
        @action(when=free)
        def take(self) -> None: ...

    return Trick


@trick
def a_when_that_is_a_value() -> type[Spec]:
    now: Any = True

    class Trick(Base):
        @action(when=now)
        def take(self) -> None: ...

    return Trick


@trick
def a_property_that_is_cached() -> type[Spec]:
    class Trick(Base):
        @functools.lru_cache  # noqa: B019
        @invariant
        def small(self) -> bool:
            return self.n < 1

    return Trick


@trick
def a_property_that_is_wrapped() -> type[Spec]:
    def quietly(function: Any) -> Any:
        @functools.wraps(function)
        def always(*arguments: Any) -> bool:
            return True

        return always

    class Trick(Base):
        @quietly
        @invariant
        def small(self) -> bool:
            return self.n < 1

    return Trick


@trick
def a_property_that_is_deleted() -> type[Spec]:
    class Trick(Base):
        @invariant
        def small(self) -> bool:
            return self.n < 1

        del small

    return Trick


@trick
def properties_in_a_list() -> type[Spec]:
    class Trick(Base):
        @invariant
        def small(self) -> bool:
            return self.n < 1

        every: ClassVar[Any] = [small]
        small: Any = None  # type: ignore[no-redef]

    return Trick


@trick
def a_canonical_that_is_a_value() -> type[Spec]:
    class Trick(Base):
        canonical = staticmethod(lambda snapshot: snapshot)

    return Trick


@trick
def a_canonical_that_forgets_what_a_property_sees() -> type[Spec]:
    class Trick(Base):
        bad: bool = start(bool)

        @action
        def spoil(self) -> None:
            self.bad = True

        @invariant
        def good(self) -> bool:
            return not self.bad

        def canonical(self, snapshot: Any) -> Any:
            return snapshot._replace(bad=False)

    return Trick


@trick
def a_leads_to_for_nobody() -> type[Spec]:
    class Trick(Base):
        @leads_to(who={})
        def served(self, who: str) -> tuple[bool, bool]:
            return True, False

    return Trick


@trick
def an_empty_product_of_values() -> type[Spec]:
    class Empty:
        def __iter__(self) -> Iterator[int]:
            return iter(())

    class Trick(Base):
        @leads_to(who=("a",), what=Empty())
        def served(self, who: str, what: int) -> tuple[bool, bool]:
            return True, False

    return Trick


@trick
def an_implication_in_a_step() -> type[Spec]:
    class Trick(Base):
        @step
        def falls(self, before: Any) -> bool:
            return implies(before.n > 4, self.n == 0)

    return Trick


@trick
def an_action_that_swallows_its_assertion() -> type[Spec]:
    class Trick(Base):
        @action(value=(True, 1, 1.0))
        def take(self, value: float) -> None: ...

    return Trick


def test_there_are_forty() -> None:
    assert len(TRICKS) >= 40


@pytest.mark.parametrize("make", TRICKS, ids=lambda make: make.__name__)
def test_a_trick_does_not_end_green(make: Callable[[], type[Spec]]) -> None:
    assert not_green(make)
