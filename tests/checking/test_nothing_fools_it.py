"""A specification that is written badly does not end green: each way is refused, or judged right."""

import enum
import itertools
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from structsync import Arbiter
from structsync.checking import (
    Spec,
    SpecError,
    Verdict,
    action,
    check,
    check_fault,
    implies,
    invariant,
    leads_to,
    start,
    step,
)
from structsync.checking._faults import Fault


class Wheel(Spec):
    """Turns through five positions."""

    n: int = start(int)

    @action
    def turn(self) -> None:
        self.n = (self.n + 1) % 5

    @invariant
    def in_range(self) -> bool:
        return 0 <= self.n < 5


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

    def give_back(self, claim: int) -> None:
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


# ==== What is declared is reported ====


def test_a_domain_is_no_iterator() -> None:
    with pytest.raises(SpecError, match="gives them once; write who=tuple"):

        @action(who=(name for name in "ab"))
        def act(self: Any, who: str) -> None: ...

    with pytest.raises(SpecError, match="gives them once"):
        leads_to(who=map(str, (1, 2)))


def test_a_domain_that_runs_dry_is_found_out() -> None:
    names = iter("abcdefgh")

    class Dry(Wheel):
        @action(who=lambda spec: itertools.islice(names, 2))
        def call(self, who: str) -> None: ...

    with pytest.raises(SpecError, match="the possible actions"):
        check(Dry)


def test_a_leads_to_without_values_is_refused() -> None:
    with pytest.raises(SpecError, match="there is none, so nothing would be judged"):
        leads_to(who=())


class Nobody:
    """Has no length, and no values."""

    def __iter__(self) -> Iterator[str]:
        return iter(())


def test_a_leads_to_whose_values_turn_out_to_be_none_is_refused() -> None:
    class Vanishing(Wheel):
        @leads_to(who=Nobody())
        def vanishes(self, who: str) -> tuple[bool, bool]:
            return True, False

    with pytest.raises(SpecError, match="declared for no value at all"):
        check(Vanishing)


def test_a_property_under_another_decorator_is_refused() -> None:
    for hide in (property, staticmethod, lambda function: lambda self: True):
        with pytest.raises(SpecError, match="hides is declared in the body of Hiding"):

            class Hiding(Wheel):
                @hide  # type: ignore[untyped-decorator]
                @invariant
                def hides(self) -> bool:
                    return False


# ==== Ends of the program ====


def leave(*anything: Any) -> Any:
    raise SystemExit(0)


def test_an_exit_in_an_action_is_a_refutation() -> None:
    class Leaving(Wheel):
        @action
        def leaves(self) -> None:
            leave()

    assert check(Leaving)["no_action_fails"].detail == "raised SystemExit: 0"


def test_an_exit_in_a_domain_is_a_refutation() -> None:
    class Leaving(Wheel):
        @action(who=leave)
        def leaves(self, who: int) -> None: ...

    assert check(Leaving)["no_action_fails"].verdict is Verdict.REFUTED


def test_an_exit_in_a_property_is_a_refutation() -> None:
    class Leaving(Wheel):
        @invariant
        def leaves(self) -> bool:
            return bool(leave())

        @step
        def leaves_in_a_step(self, before: Any) -> bool:
            return bool(leave())

        @leads_to
        def leaves_some_day(self) -> tuple[bool, bool]:
            return bool(leave()), False

    result = check(Leaving)
    for name in ("leaves", "leaves_in_a_step", "leaves_some_day"):
        assert result[name].verdict is Verdict.REFUTED


def test_an_exit_anywhere_else_is_an_error() -> None:
    class Leaving(Wheel):
        def canonical(self, snapshot: Any) -> Any:
            return leave()

    with pytest.raises(SpecError, match="ends the program: SystemExit: 0"):
        check(Leaving)


# ==== canonical ====


def test_canonical_does_not_merge_states_with_different_futures() -> None:
    class Merging(Wheel):
        limit: int = start(int)

        @action(to=(1, 3))
        def allow(self, to: int) -> None:
            self.limit = to

        @action(when=lambda spec: spec.n < spec.limit)
        def climb(self) -> None:
            self.n = 4

        def canonical(self, snapshot: Any) -> Any:
            return snapshot._replace(limit=min(snapshot.limit, 1))

    with pytest.raises(SpecError, match="merges states with different futures"):
        check(Merging)


class Pair(Spec):
    """Two that do the same, and are exchanged by canonical."""

    at: tuple[int, ...] = start(tuple, (0, 0))

    @action(who=(0, 1), fair=True)
    def go(self, who: int) -> None:
        self.at = tuple((one + 1) % 3 if n == who else one for n, one in enumerate(self.at))

    @invariant
    def in_range(self) -> bool:
        return max(self.at) < 3

    def canonical(self, snapshot: Any) -> Any:
        return snapshot._replace(at=tuple(sorted(snapshot.at)))


def test_canonical_may_exchange_names_where_nothing_follows_one() -> None:
    result = check(Pair)
    assert (result.verdict, result.states) == (Verdict.CONFIRMED, 6)


def test_canonical_does_not_exchange_names_that_a_leads_to_follows() -> None:
    class Followed(Pair):
        @leads_to(who=(0, 1))
        def comes_round(self, who: int) -> tuple[bool, bool]:
            return self.at[who] == 0, self.at[who] == 2

    with pytest.raises(SpecError, match="canonical permutes names"):
        check(Followed)


def test_canonical_returns_a_state() -> None:
    class Short(Wheel):
        def canonical(self, snapshot: Any) -> Any:
            return ()

    with pytest.raises(SpecError, match="must return a state with the 1 fields"):
        check(Short)


# ==== Equal and not the same ====


class Colour(enum.StrEnum):
    RED = "red"


class Size(enum.IntEnum):
    ONE = 1


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (1, True),
        (0.0, -0.0),
        (1, 1.0),
        (1, Size.ONE),
        ("red", Colour.RED),
        (("a", 1), ("a", True)),
        (frozenset({1}), frozenset({1.0})),
        (Named("a"), "made below"),
    ],
)
def test_equal_values_that_can_be_told_apart_are_two_states(one: Any, other: Any) -> None:
    if isinstance(one, Named):
        other = Named("a")
        other.visits = 7

    class Alternating(Spec):
        value: Any = start(lambda: one)

        @action
        def other_one(self) -> None:
            self.value = other

        @action
        def first_one(self) -> None:
            self.value = one

        @invariant
        def is_the_first(self) -> bool:
            return repr(self.value) == repr(one) and getattr(self.value, "visits", 0) == 0

    result = check(Alternating)
    assert result["is_the_first"].verdict is Verdict.REFUTED
    assert result.states == 2


# ==== Planted faults ====


def _planted(refuted_by: str, make: Callable[[], Any]) -> Any:
    class Spinning(Wheel):
        core: Any = start(Pump)

        @invariant
        def rises(self) -> bool:
            return bool(self.core.level < 3)

        @invariant
        def rises_says_an_assertion(self) -> None:
            assert self.core.level < 3

    return check_fault(Fault(Spinning, "core", make, refuted_by, 3))


class WithoutLevel(Pump):
    """The attribute that the property looks at is gone."""

    def __init__(self) -> None:
        self.height = 0

    def snapshot(self) -> int:
        return self.height

    def restore(self, snapshot: int) -> None:
        self.height = snapshot


class Asserting(WithoutLevel):
    """The bug asserts something itself."""

    @property
    def level(self) -> int:  # type: ignore[override]
        raise AssertionError("never asked")


class TooHigh(WithoutLevel):
    """The level is beyond all bounds."""

    level = 9


@pytest.mark.parametrize("name", ["rises", "rises_says_an_assertion"])
def test_a_fault_is_found_by_an_answer_only(name: str) -> None:
    assert _planted(name, TooHigh).verdict is Verdict.REFUTED
    found = _planted(name, WithoutLevel)
    assert found.verdict is Verdict.VACUOUS
    assert "raised AttributeError" in found.detail
    assert "is no answer" in found.detail


# ==== Implications ====


class Implied(Wheel):
    @invariant
    def high_is_odd(self) -> bool:
        return implies(self.n > 4, self.n % 2 == 1)

    @invariant
    def four_is_even(self) -> bool:
        return implies(self.n == 4, lambda: self.n % 2 == 0)

    @step
    def from_four_it_falls(self, before: Any) -> bool:
        return implies(before.n == 4, self.n == 0)

    @step
    def from_nine_it_falls(self, before: Any) -> bool:
        return all(implies(before.n == nine, self.n == 0) for nine in (9, 10))


def test_an_antecedent_that_is_never_true_is_a_check_that_cannot_fail() -> None:
    result = check(Implied)
    found = {one.name: one.verdict for one in result.properties}
    assert found["high_is_odd"] is found["from_nine_it_falls"] is Verdict.VACUOUS
    assert found["four_is_even"] is found["from_four_it_falls"] is Verdict.CONFIRMED
    assert "the antecedent of implies was true in no state (line " in result["high_is_odd"].detail


def test_an_implication_that_fails_is_refuted() -> None:
    class Wrong(Wheel):
        @invariant
        def high_is_odd(self) -> bool:
            return implies(self.n > 3, self.n % 2 == 1)

    assert check(Wrong)["high_is_odd"].verdict is Verdict.REFUTED


def test_an_implication_is_about_bools() -> None:
    with pytest.raises(TypeError, match="antecedent of implies is True or False, not 1"):
        implies(1, True)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="consequent"):
        implies(True, lambda: 3)  # type: ignore[arg-type,return-value]


def test_cannot_fail_is_said_of_a_complete_search_only() -> None:
    class Wrong(Wheel):
        @action(when=lambda spec: spec.n == 4)
        def rest(self) -> None: ...

        @invariant
        def wrong(self) -> bool:
            return self.n == 0

        @invariant
        def wrong_too(self) -> bool:
            return implies(self.n == 9, False) and self.n == 0

    found = check(Wrong, max_states=2)
    assert found["every_action_fires"].verdict is Verdict.UNFINISHED
