"""Slips in a spec are errors that say the rule, the values and the repair."""

from collections.abc import Callable
from typing import Any

import pytest

from structsync.checking import (
    Spec,
    SpecError,
    Verdict,
    action,
    check,
    fault,
    invariant,
    leads_to,
    start,
    step,
)


class Counter(Spec):
    """Counts to three, and is the smallest spec that can be checked."""

    n: int = start(int)

    @action(when=lambda spec: spec.n < 3)
    def count(self) -> None:
        self.n += 1

    @invariant
    def stays_small(self) -> bool:
        return self.n <= 3


def test_a_spec_can_be_driven_by_hand() -> None:
    counter = Counter()
    counter.count()
    assert (counter.n, counter.stays_small()) == (1, True)
    assert counter.canonical((1,)) == (1,)
    assert repr(counter) == "Counter(n=1)"


def test_two_properties_of_one_name_are_refused() -> None:
    with pytest.raises(SpecError, match="'twice' is declared twice"):

        class Double(Counter):
            @invariant
            def twice(self) -> bool:
                return True

            @invariant  # type: ignore[no-redef]
            def twice(self) -> bool:  # noqa: F811
                return False


def test_a_helper_cannot_hide_an_inherited_property() -> None:
    class Hiding(Counter):
        def stays_small(self) -> bool:
            return True

    with pytest.raises(SpecError, match="hides what a base spec declares"):
        check(Hiding)


def test_one_start_is_one_field() -> None:
    class Shared(Spec):
        a: int = start(int)
        b = a

    with pytest.raises(SpecError, match="not both 'a' and 'b'"):
        check(Shared)


def test_start_takes_a_factory() -> None:
    with pytest.raises(SpecError, match=r"write start\(int, 3\)"):
        start(3)  # type: ignore[arg-type]


def test_a_spec_without_state_is_refused() -> None:
    class Stateless(Spec):
        @action
        def nothing(self) -> None: ...

    with pytest.raises(SpecError, match="has no state"):
        check(Stateless)


def test_a_spec_without_actions_is_refused() -> None:
    class Still(Spec):
        n: int = start(int)

        @invariant
        def fine(self) -> bool:
            return True

    with pytest.raises(SpecError, match="has no @action"):
        check(Still)


def test_a_spec_without_properties_is_refused() -> None:
    class Silent(Spec):
        n: int = start(int)

        @action
        def nothing(self) -> None: ...

    with pytest.raises(SpecError, match="states no property"):
        check(Silent)


def test_a_constructor_is_refused() -> None:
    class Built(Counter):
        def __init__(self) -> None:
            self.n = 0

    with pytest.raises(SpecError, match="defines __init__"):
        check(Built)


def test_the_names_of_the_built_in_properties_are_taken() -> None:
    class Taken(Counter):
        @invariant
        def no_action_fails(self) -> bool:
            return True

    with pytest.raises(SpecError, match="name of a built-in property"):
        check(Taken)


async def _async(self: Any) -> None: ...


def _generator(self: Any) -> Any:
    yield


def _unknown(self: Any, whom: str) -> None: ...


@pytest.mark.parametrize(
    ("decorate", "function", "says"),
    [
        (action, _async, "is async"),
        (invariant, _generator, "yields"),
        (action(who=("a",)), _unknown, r"takes \(self, whom\) but is declared for \(self, who\)"),
        (leads_to, _unknown, "give each parameter its values"),
        (invariant, _unknown, "write exactly these parameters"),
        (step, _unknown, r"declared for \(self, before\)"),
        (action, 3, "decorates a plain method"),
    ],
)
def test_what_cannot_be_declared_is_refused(
    decorate: Callable[[Any], Any], function: Any, says: str
) -> None:
    with pytest.raises(SpecError, match=says):
        decorate(function)


@pytest.mark.parametrize("values", ["ab", 3])
def test_the_values_of_a_parameter_are_a_collection(values: Any) -> None:
    with pytest.raises(SpecError, match=r"write who=\("):
        action(who=values)(_unknown)


def test_a_leads_to_is_judged_for_constant_values() -> None:
    with pytest.raises(SpecError, match="cannot depend on the state"):
        leads_to(who=lambda spec: ())  # type: ignore[call-overload]


@pytest.mark.parametrize("reason", [True, ""])
def test_an_action_that_may_never_fire_needs_a_reason(reason: Any) -> None:
    with pytest.raises(SpecError, match="takes the reason as text"):
        action(may_never_fire=reason)


class Identity:
    """Compares by identity, and so can be no part of a state."""


@pytest.mark.parametrize(
    ("factory", "says"),
    [
        (list, r"field 'core' of Held is the list \[\]"),
        (Identity, "compares by identity"),
        (lambda: ([],), "is the tuple"),
    ],
)
def test_a_field_holds_immutable_values(factory: Callable[[], Any], says: str) -> None:
    class Held(Counter):
        core: Any = start(factory)

    with pytest.raises(SpecError, match=says):
        check(Held)


@pytest.mark.parametrize(
    ("value", "says"), [([], "field 'n' is the list"), (Identity(), "field 'n' is <")]
)
def test_an_action_leaves_immutable_values(value: Any, says: str) -> None:
    class Spoilt(Counter):
        @action
        def spoil(self) -> None:
            self.n = value

    with pytest.raises(SpecError, match=says):
        check(Spoilt)


class Fickle:
    """Has a hash only when asked again."""

    asked = False

    def __hash__(self) -> int:
        if self.asked:
            return 1
        self.asked = True
        raise TypeError("not today")


def test_a_value_whose_hash_is_fickle_is_not_explained_away() -> None:
    class Spoilt(Counter):
        @action
        def spoil(self) -> None:
            self.n = Fickle()  # type: ignore[assignment]

    with pytest.raises(TypeError, match="not today"):
        check(Spoilt)


def test_the_value_of_a_parameter_is_immutable() -> None:
    class Given(Counter):
        @action(what=[Identity()])
        def give(self, what: Identity) -> None: ...

    with pytest.raises(SpecError, match="give's parameter 'what' is <"):
        check(Given)


def test_an_action_changes_declared_fields_only() -> None:
    class Stray(Counter):
        @action
        def note(self) -> None:
            self.seen = True

    with pytest.raises(SpecError, match="an action assigned seen"):
        check(Stray)


def test_a_property_does_not_change_the_state() -> None:
    class Meddling(Counter):
        @invariant
        def meddles(self) -> bool:
            self.n = 2
            return True

    with pytest.raises(SpecError, match="only an action may change the state"):
        check(Meddling)


def test_a_step_property_does_not_assign_to_before() -> None:
    class Rewriting(Counter):
        @step
        def rewrites(self, before: Counter) -> bool:
            before.n = 0
            return True

    with pytest.raises(SpecError, match="assigns its 'n'"):
        check(Rewriting)


class Broken:
    """A core whose restore forgets."""

    def __init__(self) -> None:
        self.n = 0

    def snapshot(self) -> int:
        return self.n

    def restore(self, snapshot: int) -> None: ...


def test_a_core_that_does_not_restore_its_snapshot_is_found_out() -> None:
    class Forgetting(Spec):
        core: Broken = start(Broken)

        @action(many=(1, 2), when=lambda spec, many: spec.core.n < 4)
        def count(self, many: int) -> None:
            self.core.n += many

        @invariant
        def fine(self) -> bool:
            return True

    with pytest.raises(SpecError, match="does not bring back what snapshot"):
        check(Forgetting)


def test_a_core_whose_snapshot_cannot_be_stored_is_found_out() -> None:
    class Listing(Broken):
        def snapshot(self) -> Any:
            return [self.n]

    class Stored(Counter):
        core: Listing = start(Listing)

    with pytest.raises(SpecError, match="field 'core' of Stored is the list"):
        check(Stored)


@pytest.mark.parametrize("returned", [None, 1, [], "yes"])
def test_an_invariant_returns_a_bool(returned: Any) -> None:
    class Vague(Counter):
        @invariant
        def vague(self) -> Any:
            return returned

    with pytest.raises(SpecError, match="vague must return True or False"):
        check(Vague)


@pytest.mark.parametrize("returned", [None, True, (True,), (1, 0)])
def test_a_leads_to_returns_two_bools(returned: Any) -> None:
    class Vague(Counter):
        @leads_to
        def vague(self) -> Any:
            return returned

    with pytest.raises(SpecError, match="must return the pair"):
        check(Vague)


def test_a_canonical_form_is_its_own_canonical_form() -> None:
    class Restless(Counter):
        def canonical(self, snapshot: Any) -> Any:
            return snapshot._replace(n=(snapshot.n + 1) % 3)

    with pytest.raises(SpecError, match="must map a representative to itself"):
        check(Restless)


def test_a_canonical_form_that_raises_is_found_out() -> None:
    class Raising(Counter):
        def canonical(self, snapshot: Any) -> Any:
            return snapshot._replace(m=1)

    with pytest.raises(SpecError, match="canonical raised"):
        check(Raising)


def test_only_a_spec_can_be_checked() -> None:
    with pytest.raises(SpecError, match="is a subclass of Spec"):
        check(int)  # type: ignore[arg-type]


def test_only_known_properties_can_be_asked_for() -> None:
    with pytest.raises(SpecError, match="has no property stays_tall"):
        check(Counter, only=["stays_tall"])


def test_a_negative_bound_is_refused() -> None:
    with pytest.raises(ValueError, match="seconds must be >= 0"):
        check(Counter, seconds=-1)


def test_properties_are_inherited_and_can_be_replaced() -> None:
    class Stricter(Counter):
        @invariant
        def stays_small(self) -> bool:
            return self.n <= 2

    assert check(Stricter)["stays_small"].verdict is Verdict.REFUTED


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"field": "m", "refuted_by": "stays_small"}, "has no field 'm'; its fields are n"),
        ({"field": "n", "refuted_by": "grows"}, "has no property 'grows'"),
        ({"field": "n", "refuted_by": "stays_small", "max_trace": 0}, "must be >= 1"),
    ],
)
def test_a_fault_names_what_exists(arguments: dict[str, Any], says: str) -> None:
    with pytest.raises(SpecError, match=says):
        fault(Counter, **arguments)
