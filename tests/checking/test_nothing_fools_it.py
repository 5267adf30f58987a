"""A specification that is written badly does not end green: each way is refused, or judged right."""

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import pytest

from structsync import Arbiter
from structsync.checking import (
    SpecError,
    Verdict,
    action,
    check,
    start,
    step,
)

from .wheel import Wheel

# ==== State changed in place behind an equal value ====


@dataclass(frozen=True)
class Crate:
    """Frozen, and what is in it is not."""

    items: list[int] = field(default_factory=list, compare=False)


@dataclass(unsafe_hash=True)
class Counter:
    n: int = 0


class Bag(tuple[Any, ...]):
    """A tuple whose hash does not look inside."""

    def __hash__(self) -> int:
        return 1


class Named:
    """Compares by its name alone."""

    def __init__(self, name: str) -> None:
        self.name, self.visits = name, 0

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Named) and other.name == self.name

    def __hash__(self) -> int:
        return hash(self.name)


def put(spec: Any) -> None:
    spec.held.items.append(1)


def count(spec: Any) -> None:
    spec.held.n += 1


def visit(spec: Any) -> None:
    spec.held.visits += 1


@pytest.mark.parametrize(
    ("make", "act", "says"),
    [
        (Crate, put, r"immutable to the bottom.* contains the list \[\]"),
        (lambda: Bag([[]]), lambda spec: spec.held[0].append(1), "contains the list"),
        (lambda: (1, Crate()), lambda spec: spec.held[1].items.append(1), "contains the list"),
        (Counter, count, "Counter.n was changed in place from 0 to"),
        (lambda: (Counter(),), lambda spec: count_in(spec.held[0]), "changed in place"),
        (lambda: Named("a"), visit, "Named.visits was changed in place"),
    ],
    ids=["frozen", "tuple", "deep", "unsafe hash", "in a tuple", "own equality"],
)
def test_a_state_is_not_changed_in_place(
    make: Callable[[], Any], act: Callable[[Any], None], says: str
) -> None:
    class Placed(Wheel):
        held: Any = start(make)

        @action
        def change(self) -> None:
            act(self)

    with pytest.raises(SpecError, match=says):
        check(Placed)


def count_in(counter: Counter) -> None:
    counter.n += 1


def test_an_object_is_not_shared_by_two_snapshots() -> None:
    class Sharing:
        """Its snapshot is an object that it goes on changing."""

        def __init__(self) -> None:
            self.counter = Counter()

        def snapshot(self) -> Counter:
            return self.counter

        def restore(self, snapshot: Counter) -> None:
            self.counter = snapshot

    class Shared(Wheel):
        core: Sharing = start(Sharing)

        @action(when=lambda spec: spec.core.counter.n < 3)
        def count(self) -> None:
            self.core.counter.n += 1

    with pytest.raises(SpecError, match="changed in place"):
        check(Shared)


# ==== State that is shared ====


class Shelf:
    """Keeps the list that it is given."""

    def __init__(self, items: list[str]) -> None:
        self.items = items

    def snapshot(self) -> tuple[str, ...]:
        return tuple(self.items)

    def restore(self, snapshot: tuple[str, ...]) -> None:
        self.items[:] = snapshot


def shelf_around(items: list[str]) -> Callable[[], Shelf]:
    return lambda: Shelf(items)


class Shelved(Wheel):
    abstract = True
    shelf: Shelf

    @action(when=lambda spec: len(spec.shelf.items) > 0)
    def take(self) -> None:
        self.shelf.items.pop()

    @action(when=lambda spec: len(spec.shelf.items) < 2)
    def put(self) -> None:
        self.shelf.items.append("x")

    @action
    def look(self) -> None:
        pass

    @step
    def nothing_is_taken(self, before: Any) -> bool:
        return len(self.shelf.items) >= len(before.shelf.items)


@pytest.mark.parametrize(
    "made",
    [
        lambda: start(Shelf, ["a", "b"]),
        lambda: start(Shelf, items=["a", "b"]),
        lambda: start(shelf_around(["a", "b"])),
        lambda: start(partial(Shelf, ["a", "b"])),
    ],
    ids=["argument", "by name", "closure", "partial"],
)
def test_two_specs_share_nothing_that_changes(made: Callable[[], Any]) -> None:
    class Aliased(Shelved):
        shelf: Shelf = made()

    with pytest.raises(
        SpecError, match=r"take\(\) changed shelf.items, which is one object in all"
    ):
        check(Aliased)


def test_a_core_may_keep_what_it_copies_and_share_what_is_constant() -> None:
    class Copying(Shelf):
        def __init__(self, items: list[str], sizes: dict[str, int]) -> None:
            super().__init__(list(items))
            self.sizes = sizes

    class Copied(Shelved):
        shelf: Shelf = start(Copying, ["a", "b"], sizes={"a": 1})

    assert check(Copied)["nothing_is_taken"].verdict is Verdict.REFUTED


def test_the_arguments_of_a_factory_are_not_used_up() -> None:
    class Dealt(Wheel):
        held: int = start(list.pop, [0] * 1_000)

    with pytest.raises(SpecError, match=r"argument 0 of .*Dealt.held changed"):
        check(Dealt)


# ==== State that a snapshot forgets ====


class Gate(Arbiter[int]):
    """A core of a user's with one attribute that is declared."""

    room: int

    def __init__(self) -> None:
        super().__init__()
        self.room = 2

    def admits(self, claim: int) -> bool:
        return claim <= self.room

    def admit(self, claim: int) -> None:
        self.room -= claim

    def discharge(self, claim: int) -> None:
        self.room += claim


class Forgetful(Gate):
    """Counts its grants in an attribute that is not declared, and stops at seven."""

    def __init__(self) -> None:
        super().__init__()
        self.grants = 0

    def admits(self, claim: int) -> bool:
        return self.grants < 7 and super().admits(claim)

    def admit(self, claim: int) -> None:
        super().admit(claim)
        self.grants += 1


class Late(Gate):
    """Makes the attribute when it is first needed."""

    def admit(self, claim: int) -> None:
        super().admit(claim)
        self.grants = getattr(self, "grants", 0) + 1


class Pump:
    """A core without an arbiter, whose snapshot leaves the strokes out."""

    def __init__(self) -> None:
        self.level = self.strokes = 0

    def lift(self) -> None:
        self.strokes += 1
        self.level = (self.level + 1) % 3

    def snapshot(self) -> int:
        return self.level

    def restore(self, snapshot: int) -> None:
        self.level = snapshot


class Leaky(Pump):
    """Its restore leaves behind what it does not find."""

    def __init__(self) -> None:
        super().__init__()
        self.marks: dict[int, bool] = {}

    def lift(self) -> None:
        super().lift()
        self.strokes = 0
        self.marks[self.level] = True

    def snapshot(self) -> Any:
        return (self.level, tuple(sorted(self.marks)))

    def restore(self, snapshot: Any) -> None:
        self.level, marks = snapshot
        self.marks.update(dict.fromkeys(marks, True))


@pytest.mark.parametrize(
    ("kind", "says"),
    [(Forgetful, "grants"), (Late, "grants"), (Pump, "core.strokes"), (Leaky, "restore")],
)
def test_a_core_forgets_nothing(kind: type[Any], says: str) -> None:
    class Held(Wheel):
        core: Any = start(kind)

        @action
        def use(self) -> None:
            if isinstance(self.core, Gate):
                self.core.submit(1)
                self.core.release(1)
            else:
                self.core.lift()

    with pytest.raises(SpecError, match=says):
        check(Held)


# ==== Nondeterminism ====

CALLS = 0
NOTES: list[int] = []


def by_chance(spec: Any) -> None:
    spec.n = random.choice((0, 1, 2))


def by_order_of_a_set(spec: Any) -> None:
    spec.n = next(iter(spec.several))


def by_class_attribute(spec: Any) -> None:
    type(spec).calls += 1
    spec.n = 9 if spec.calls > 60 else 0


def by_module_global(spec: Any) -> None:
    global CALLS
    CALLS += 1


def by_list_of_a_module(spec: Any) -> None:
    NOTES.append(spec.n)


@pytest.mark.parametrize(
    ("act", "says"),
    [
        (by_chance, "random"),
        (by_order_of_a_set, "a spec is deterministic"),
        (by_class_attribute, "calls changed from 0 to"),
        (by_module_global, "CALLS changed from 0 to"),
        (by_list_of_a_module, "NOTES changed from list of 0 to"),
    ],
)
def test_a_specification_is_deterministic(act: Callable[[Any], None], says: str) -> None:
    class Moved(Wheel):
        calls = 0
        several: frozenset[int] = start(frozenset, (1, 2))

        @action
        def move(self) -> None:
            act(self)

    with pytest.raises(SpecError, match=says):
        check(Moved)
