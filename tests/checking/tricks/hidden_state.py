"""State that is not declared, or that is forgotten."""

import itertools
import random
from collections import deque
from typing import Any, ClassVar

from structsync.checking import (
    Spec,
    action,
    invariant,
    start,
)

from .base import Base, trick

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
