"""A specification that is asked what is possible, and taken step by step."""

from typing import Any

import pytest

from structsync.checking import Call, Simulation, Spec, SpecError, action, invariant, start, step


class Turnstile(Spec):
    """A car that has paid may pass; two may be on the way."""

    paid: frozenset[str] = start(frozenset)
    passed: int = start(int)

    @action(who=("a", "b"), fare=(1, 2), when=lambda self, who, fare: who not in self.paid)
    def pay(self, who: str, fare: int) -> None:
        self.paid |= {who}

    @action(who=paid)
    def go(self, who: str) -> None:
        if self.passed == 3:
            self.paid = frozenset()
            raise ValueError("it is stuck")
        self.paid -= {who}
        self.passed += 1

    @action
    def open(self) -> None:
        self.passed += 2

    @invariant
    def few_pass(self) -> bool:
        return self.passed < 4

    @invariant
    def counted(self) -> None:
        assert self.passed != 5

    @step
    def one_at_a_time(self, before: Any) -> bool:
        return bool(self.passed - before.passed < 2)


def test_it_says_what_is_possible() -> None:
    asked = Simulation(Turnstile)
    assert asked.enabled() == [
        *(Call("pay", who=who, fare=fare) for who in "ab" for fare in (1, 2)),
        Call("open"),
    ]
    assert asked.allows("pay", "a", 1)
    assert asked.allows("pay", fare=2)
    assert not asked.allows("pay", "a", 3)
    assert not asked.allows("go")


def test_a_step_changes_the_state_and_can_be_taken_back() -> None:
    asked = Simulation(Turnstile)
    before = asked.snapshot()
    assert asked.apply("pay", "a", fare=2) == Call("pay", who="a", fare=2)
    assert asked.describe() == asked.observed() == {"paid": frozenset("a"), "passed": 0}
    assert repr(asked.apply("go")) == "go(who='a')"
    after = asked.snapshot()
    asked.restart()
    assert asked.snapshot() == before != after
    asked.restore(after)
    assert asked.observed()["passed"] == 1


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (("go",), r"go\(\) is not possible here, where pay\(who='a', fare=1\), .* is"),
        (("pay", "a"), r"pay\(who='a'\) may mean pay\(who='a', fare=1\) and pay\("),
        (("pay", "a", 1, 1), "pay takes who and fare, and was given"),
        (("open", 1), "open takes no parameter"),
        (("pya",), "Turnstile has no action 'pya'; the nearest: pay"),
    ],
)
def test_a_step_that_is_not_possible_changes_nothing(call: tuple[Any, ...], text: str) -> None:
    asked = Simulation(Turnstile)
    before = asked.snapshot()
    with pytest.raises(SpecError, match=text):
        asked.apply(*call)
    assert asked.snapshot() == before


def test_an_action_is_given_by_its_name() -> None:
    asked, call = Simulation(Turnstile), Call("open")
    for take in (asked.apply, asked.allows):
        with pytest.raises(TypeError, match=r"given by its name, a str, not by open\(\)"):
            take(call)  # type: ignore[arg-type]


def test_an_argument_is_that_of_a_step_only_if_it_is_of_its_type_too() -> None:
    asked = Simulation(Turnstile)
    assert not asked.allows("pay", "a", True)
    with pytest.raises(SpecError, match=r"fare=1\.0\) is not possible here, where .*fare=1\)"):
        asked.apply("pay", "a", 1.0)


def test_a_parameter_that_does_not_exist_is_told() -> None:
    with pytest.raises(SpecError, match="gives whom, and the parameters of pay are who and fare"):
        Simulation(Turnstile).allows("pay", whom="a")
    with pytest.raises(SpecError, match="the parameters of open are none"):
        Simulation(Turnstile).allows("open", whom="a")


def test_an_action_that_raises_leaves_the_state_as_it_was() -> None:
    asked = Simulation(Turnstile)
    asked.apply("open")
    asked.apply("pay", "a", 1)
    asked.apply("go", "a")
    asked.apply("pay", "b", 1)
    before = asked.snapshot()
    with pytest.raises(ValueError, match="stuck"):
        asked.apply("go", "b")
    assert asked.snapshot() == before


def test_it_says_what_does_not_hold() -> None:
    asked = Simulation(Turnstile)
    assert asked.refuted() == []
    asked.apply("open")
    assert asked.refuted() == ["one_at_a_time"]
    asked.apply("open")
    assert asked.refuted() == ["few_pass", "one_at_a_time"]
    asked.restore(asked.snapshot())
    assert asked.refuted() == ["few_pass"]
    asked.restart()
    for _ in range(3):
        asked.apply("pay", "a", 1)
        asked.apply("go", "a")
    asked.apply("open")
    assert asked.refuted() == ["few_pass", "counted", "one_at_a_time"]


def test_only_a_specification_can_be_asked() -> None:
    with pytest.raises(SpecError, match="is a subclass of Spec, not"):
        Simulation(int)  # type: ignore[arg-type]


def test_calls_are_values() -> None:
    one = Call("pay", who="a", fare=1)
    assert one == Call("pay", fare=1, who="a") != Call("pay", who="a")
    assert len({one, Call("pay", fare=1, who="a")}) == 1
    assert one != "pay(who='a', fare=1)"
    assert repr(one) == "pay(who='a', fare=1)"
