"""`forgets`: fields that only tell what the last action did."""

from __future__ import annotations

from types import new_class
from typing import Any, ClassVar

import pytest

from structsync.checking import (
    Spec,
    SpecError,
    Verdict,
    action,
    check,
    eventually,
    invariant,
    start,
    step,
    terminal,
)


class Bell(Spec):
    """Rings at every second step, and says so once."""

    abstract = True
    forgets: ClassVar[tuple[str, ...]] = ("rang",)

    n: int = start(int)
    rang: bool = start(bool)

    @action
    def go(self) -> None:
        self.n = (self.n + 1) % 4
        self.rang = self.n % 2 == 0

    @step
    def it_rings_at_even_numbers(self, before: Any) -> bool:
        return self.rang == (self.n % 2 == 0) and not before.rang

    @invariant
    def in_range(self) -> bool:
        return self.n < 4


class Louder(Bell):
    forgets = ("how",)
    how: tuple[str, ...] = start(lambda: ("silent",))

    @action
    def go(self) -> None:
        super().go()
        self.how = ("loud", str(self.n))


class Told(Louder):
    """With a function beside the declaration, which is asked afterwards."""

    def canonical(self, snapshot: Any) -> Any:
        assert not snapshot.rang
        return snapshot._replace(n=snapshot.n % 2)

    @step
    def it_rings_at_even_numbers(self, before: Any) -> bool:
        return not before.rang and before.how == ("silent",)


@pytest.mark.parametrize(("spec", "states"), [(Louder, 4), (Told, 2)])
def test_what_is_forgotten_makes_no_states(spec: type[Spec], states: int) -> None:
    result = check(spec)
    assert (result.verdict, result.states) == (Verdict.CONFIRMED, states)


class Rang(Bell):
    """Stops where it has rung: what it forgets decides something."""

    @action
    def go(self) -> None:
        if not self.rang:
            super().go()


def test_what_decides_something_is_not_to_be_forgotten() -> None:
    with pytest.raises(SpecError, match="canonical merges states with different futures"):
        check(Rang)


@pytest.mark.parametrize(
    ("declared", "who"),
    [
        (invariant(lambda self: not self.rang), "@invariant late"),
        (terminal(lambda self: self.rang), "@terminal late"),
        (eventually(lambda self: not self.rang), "@eventually late"),
        (action(when=lambda self: self.rang or self.n < 9)(lambda self: None), "`when` of late"),
        (action(who=lambda self: [self.rang])(lambda self, who: None), "a domain or .* of late"),
    ],
    ids=["invariant", "terminal", "temporal", "when", "domain"],
)
def test_what_is_forgotten_is_seen_by_steps_alone(declared: Any, who: str) -> None:
    """Read anywhere else it would be what it was at first, and whatever is said of it confirmed."""
    spec = new_class(
        "Late", (Bell,), {}, lambda names: names.update(late=declared, __module__=Bell.__module__)
    )
    with pytest.raises(SpecError, match=f"{who} reads rang, which in every state"):
        check(spec)


def test_a_field_that_is_forgotten_is_no_domain() -> None:
    class Retried(Bell):
        names: frozenset[str] = start(frozenset, "a")
        forgets = (*Bell.forgets, "names")

        @action(who=names)
        def retry(self, who: str) -> None: ...

    with pytest.raises(SpecError, match="a domain or the `when` of retry reads names, which in"):
        check(Retried)


def test_a_property_that_raises_is_refuted_where_something_is_forgotten_too() -> None:
    class Raising(Bell):
        @invariant
        def raises(self) -> bool:
            raise OSError("down")

    assert check(Raising)["raises"].verdict is Verdict.REFUTED


class Core:
    def snapshot(self) -> int:
        return 0

    def restore(self, snapshot: int) -> None:
        pass


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ({"forgets": "rang"}, "forgets is a tuple of names of fields, not 'rang'"),
        ({"forgets": ("ran",)}, r"not \('ran',\); the fields are n, rang"),
        ({"forgets": ("core",), "core": start(Core)}, "of which only a part may decide nothing"),
    ],
)
def test_what_is_no_field_of_values_cannot_be_forgotten(body: dict[str, Any], reason: str) -> None:
    spec = new_class(
        "Wrong", (Bell,), {}, lambda names: names.update(body, __module__=Bell.__module__)
    )
    with pytest.raises(SpecError, match=reason):
        check(spec)
