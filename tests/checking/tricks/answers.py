"""Answers that differ, values that are not what they seem, declarations that are none."""

import functools
import os
import random
import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, ClassVar

from structsync.checking import (
    Spec,
    action,
    implies,
    invariant,
    leads_to,
    start,
    step,
)

from .base import Base, trick

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
def a_leads_to_for_no_value() -> type[Spec]:
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
