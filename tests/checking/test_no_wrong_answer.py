"""No verdict is another one than it should be: ends of the program, canonical, equal values, faults, implications."""

import enum
import re
from collections.abc import Callable
from typing import Any

import pytest

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
    terminal,
)
from structsync.checking._faults import Fault

from .wheel import Wheel


class Named:
    """Compares by its name alone."""

    def __init__(self, name: str) -> None:
        self.name, self.visits = name, 0

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Named) and other.name == self.name

    def __hash__(self) -> int:
        return hash(self.name)


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
        def leaves_eventually(self) -> tuple[bool, bool]:
            return bool(leave()), False

    result = check(Leaving)
    for name in ("leaves", "leaves_in_a_step", "leaves_eventually"):
        assert result[name].verdict is Verdict.REFUTED


def test_an_exit_anywhere_else_is_an_error() -> None:
    class Leaving(Wheel):
        def canonical(self, snapshot: Any) -> Any:
            return leave()

    with pytest.raises(SpecError, match="ends the program: SystemExit: 0"):
        check(Leaving)


# ==== What was not searched ====


class Till(Spec):
    """In one state a mistake in a `when` hides all that may follow."""

    n: int = start(int)

    @action(when=lambda spec: spec.n < 3)
    def put(self) -> None:
        self.n += 1

    @action(when=lambda spec: 6 % (spec.n - 2) == 0)
    def look(self) -> None: ...

    @invariant
    def at_most_two(self) -> bool:
        return self.n <= 2


@pytest.mark.parametrize("only", [None, ["at_most_two"]], ids=["all", "one"])
def test_nothing_is_confirmed_where_asking_for_actions_raises(only: list[str] | None) -> None:
    result = check(Till, only=only)
    assert result["at_most_two"].verdict is Verdict.UNFINISHED
    said = "ZeroDivisionError: .* in a `when` or a domain at n=2"
    assert re.fullmatch(f"ended by {said}", result["at_most_two"].detail)
    assert re.fullmatch(said, result.stopped_by or "")


@pytest.mark.parametrize(
    ("only", "verdict"),
    [
        (None, Verdict.CONFIRMED),  # the refutation of no_action_fails stands beside it
        (["at_most_two", "no_action_fails"], Verdict.CONFIRMED),
        (["at_most_two"], Verdict.UNFINISHED),
    ],
)
def test_nothing_is_confirmed_where_an_action_raises_unless_that_is_told(
    only: list[str] | None, verdict: Verdict
) -> None:
    class Jammed(Spec):
        n: int = start(int)

        @action(coin=(1, 2), when=lambda spec, coin: spec.n < 2)
        def put(self, coin: int) -> None:
            if coin == 2:
                raise OSError("jammed")
            self.n += coin

        @invariant
        def at_most_two(self) -> bool:
            return self.n <= 2

    result = check(Jammed, only=only)
    assert result["at_most_two"].verdict is verdict
    assert result.verdict is (
        Verdict.UNFINISHED if verdict is Verdict.UNFINISHED else Verdict.REFUTED
    )
    if verdict is Verdict.UNFINISHED:
        said = "put(coin=2), which raised OSError: jammed; judge no_action_fails, too"
        assert (result["at_most_two"].detail, result.stopped_by) == (f"ended by {said}", said)


def test_that_every_action_fires_is_judged_alone_if_it_is_asked_for_alone() -> None:
    class Silent(Wheel):
        @action(when=lambda spec: spec.n > 4)
        def never(self) -> None: ...

    result = check(Silent, only=["every_action_fires"])
    assert [one.name for one in result.properties] == ["every_action_fires"]
    assert (result.verdict, result.states) == (Verdict.VACUOUS, 5)
    assert check(Wheel, only=["every_action_fires"]).verdict is Verdict.CONFIRMED


def test_no_property_at_all_is_not_confirmed() -> None:
    with pytest.raises(SpecError, match="asked for none of its properties; its properties are no_"):
        check(Wheel, only=[])


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


def test_canonical_does_not_forget_what_adds_up() -> None:
    """One step from what is stored every state looks alike; a few steps further one does not."""

    class Counting(Spec):
        n: int = start(int)

        def canonical(self, snapshot: Any) -> Any:
            return snapshot._replace(n=0)

        @action
        def count(self) -> None:
            self.n += 1

        @invariant
        def few(self) -> bool:
            return self.n < 3

    with pytest.raises(SpecError, match="canonical merges states with different futures"):
        check(Counting)


@pytest.mark.parametrize("stuck", [False, True])
def test_a_way_without_merging_ends_where_nothing_follows(stuck: bool) -> None:
    class Once(Spec):
        n: int = start(int)
        seen: int = start(int)

        def canonical(self, snapshot: Any) -> Any:
            return snapshot._replace(seen=0)

        @action(when=lambda spec: not spec.n)
        def begin(self) -> None:
            self.n, self.seen = 1, 1

        @action(when=lambda spec: spec.n == 1 and not stuck)
        def fail(self) -> None:
            raise OSError("down")

        @terminal
        def begun(self) -> bool:
            return self.n == 1

        @invariant
        def once(self) -> bool:
            return self.n < 2

    result = check(Once)
    assert result["once"].verdict is Verdict.CONFIRMED


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


def test_equal_arguments_that_can_be_told_apart_are_refused_wherever_they_come() -> None:
    class Late(Spec):
        n: int = start(int)
        held: object = start(int)

        @action(when=lambda spec: spec.n < 12)
        def up(self) -> None:
            self.n += 1

        @action(value=lambda spec: [True] if spec.n == 7 else [1])
        def put(self, value: object) -> None:
            self.held = value

        @action
        def clear(self) -> None:
            self.held = 0

        @invariant
        def no_flag(self) -> bool:
            return self.held is not True

    said = r"the arguments \(True,\) and \(1,\) of put are equal and not the same"
    with pytest.raises(SpecError, match=said):
        check(Late)


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


def test_a_helper_that_one_property_meets_does_not_answer_for_another() -> None:
    class Shared(Wheel):
        def when_at(self, n: int, holds: bool) -> bool:
            return implies(self.n == n, holds)

        @invariant
        def four_is_even(self) -> bool:
            return self.when_at(4, self.n % 2 == 0)

        @invariant
        def nine_is_nothing(self) -> bool:
            return self.when_at(9, False)

    result = check(Shared)
    assert result["four_is_even"].verdict is Verdict.CONFIRMED
    assert result["nine_is_nothing"].verdict is Verdict.VACUOUS


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
    with pytest.raises(TypeError, match="consequent of implies is True or False, not 1"):
        implies(False, 1)  # type: ignore[arg-type]
    assert implies(False, lambda: 3)  # type: ignore[arg-type,return-value]


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
