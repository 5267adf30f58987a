"""A specification is compared with a simpler one: each of its steps is one of that, or none."""

from collections.abc import Mapping
from typing import Any

import pytest

from structsync.checking import (
    Fault,
    Simulation,
    Spec,
    SpecError,
    Verdict,
    action,
    check,
    check_fault,
    invariant,
    refines,
    start,
)


class Hour(Spec):
    """A clock that shows the hour; what it strikes, it tells of the step alone."""

    hour: int = start(int)
    strikes: int = start(int)

    def canonical(self, snapshot: Any) -> Any:
        return snapshot._replace(strikes=0)

    @action
    def strike(self) -> None:
        self.hour = (self.hour + 1) % 4
        self.strikes = self.hour

    @invariant
    def there_are_four(self) -> bool:
        return self.hour < 4


class Watch(Spec):
    """A clock with minutes, of which an hour has three."""

    abstract = True
    hour: int = start(int)
    minute: int = start(int)
    strikes: int = start(int)

    def canonical(self, snapshot: Any) -> Any:
        return snapshot._replace(strikes=0)

    @action
    def tick(self) -> None:
        self.minute = (self.minute + 1) % 3
        if self.minute == 0:
            self.hour = self.strikes = self.after(self.hour)

    def after(self, hour: int) -> int:
        return (hour + 1) % 4

    @refines(Hour)
    def it_shows_the_hour(self) -> Mapping[str, object]:
        """What it shows beside the minutes is a clock."""
        return {"hour": self.hour, "strikes": self.strikes}


def refuted(spec: type[Spec]) -> tuple[str, int]:
    """Return why a spec is no refinement, and after how many steps."""
    found = check(spec)["it_shows_the_hour"]
    assert found.verdict is Verdict.REFUTED
    assert found.counterexample is not None
    assert found.counterexample.kind == "refines"
    return found.detail, len(found.counterexample.steps)


def test_each_step_is_one_of_the_abstract_specification_or_none() -> None:
    result = check(Watch)
    assert result.verdict is Verdict.CONFIRMED
    assert (result.states, result["it_shows_the_hour"].kind) == (12, "refines")


def test_a_step_that_the_abstract_specification_does_not_have_is_refuted() -> None:
    class Skips(Watch):
        def after(self, hour: int) -> int:
            return (hour + 1) % 4 if hour else 2

    assert refuted(Skips) == (
        "no step of Hour leads from hour=0, strikes=0 to hour=2, strikes=2",
        3,
    )


def test_what_a_step_tells_is_compared_too() -> None:
    class Silent(Watch):
        @action
        def tick(self) -> None:
            super().tick()
            self.strikes = 0

    detail, steps = refuted(Silent)
    assert detail.endswith("to hour=1, strikes=0")
    assert steps == 3


def test_the_first_state_is_the_first_state() -> None:
    class Fast(Watch):
        hour: int = start(lambda: 1)

    detail, steps = refuted(Fast)
    assert detail.startswith("the first state stands for hour=1")
    assert steps == 0


def test_values_of_two_types_are_not_the_same() -> None:
    class Truth(Watch):
        def after(self, hour: int) -> int:
            return True if hour == 0 else (hour + 1) % 4

    assert refuted(Truth)[0].endswith("to hour=True, strikes=True")


def test_a_mapping_to_one_state_alone_cannot_fail() -> None:
    class Stopped(Watch):
        @refines(Hour)
        def it_shows_the_hour(self) -> Mapping[str, object]:
            return {"hour": 0, "strikes": 0}

    found = check(Stopped)["it_shows_the_hour"]
    assert found.verdict is Verdict.VACUOUS
    assert found.detail == "the abstract state is the same in every state"


@pytest.mark.parametrize("image", [{"hour": 0}, {"hour": 0, "minute": 0}, None])
def test_a_mapping_gives_each_field_of_the_abstract_specification(image: object) -> None:
    class Lacking(Watch):
        @refines(Hour)
        def it_shows_the_hour(self) -> Mapping[str, object]:
            return image  # type: ignore[return-value]

    with pytest.raises(
        SpecError, match=r"returns the value of each field of Hour \(hour, strikes\)"
    ):
        check(Lacking)


def test_a_mapping_gives_values_that_a_state_can_have() -> None:
    class Listed(Watch):
        @refines(Hour)
        def it_shows_the_hour(self) -> Mapping[str, object]:
            return {"hour": [self.hour], "strikes": self.strikes}

    with pytest.raises(SpecError, match="what @refines it_shows_the_hour returns for 'hour'"):
        check(Listed)


def test_what_canonical_forgets_the_mapping_forgets_too() -> None:
    class Fooled(Watch):
        """Each step seems to begin at noon: only what the step did is mapped."""

        @refines(Hour)
        def it_shows_the_hour(self) -> Mapping[str, object]:
            return {"hour": self.strikes, "strikes": self.strikes}

    with pytest.raises(SpecError, match="once canonical has forgotten what the step did"):
        check(Fooled)


def test_a_mapping_that_raises_is_told() -> None:
    class Raises(Watch):
        @refines(Hour)
        def it_shows_the_hour(self) -> Mapping[str, object]:
            return {"hour": (0, 1)[self.hour], "strikes": self.strikes}

    detail, steps = refuted(Raises)
    assert detail == "raised IndexError: tuple index out of range"
    assert steps == 6

    class RaisesAtOnce(Watch):
        @refines(Hour)
        def it_shows_the_hour(self) -> Mapping[str, object]:
            return {"hour": 1 // self.hour, "strikes": self.strikes}

    assert refuted(RaisesAtOnce) == ("the mapping raised an error in the first state", 0)


def test_a_mapping_that_raises_has_not_found_a_planted_fault() -> None:
    class Fitting(Watch):
        @refines(Hour)
        def it_shows_the_hour(self) -> Mapping[str, object]:
            return {"hour": 0 // (self.minute < 3), "strikes": 0}

    def at_ten() -> int:
        return 10

    found = check_fault(Fault(Fitting, "minute", at_ten, "it_shows_the_hour", 10))
    assert found.verdict is Verdict.VACUOUS
    assert "only the mapping raised an error" in found.detail


class Fragile(Hour):
    """An abstract specification that cannot go on from the second hour."""

    @action
    def strike(self) -> None:
        super().strike()
        self.strikes //= 2 - self.hour
        self.strikes *= 2 - self.hour


class NotFragile(Hour):
    @action(when=lambda spec: spec.missing)
    def strike(self) -> None:
        super().strike()


@pytest.mark.parametrize("abstract", [Fragile, NotFragile])
def test_an_abstract_specification_that_raises_is_an_error(abstract: type[Spec]) -> None:
    class OnFragile(Watch):
        @refines(abstract)
        def it_shows_the_hour(self) -> Mapping[str, object]:
            return {"hour": self.hour, "strikes": self.strikes}

    with pytest.raises(SpecError, match=r"the abstract specification \w+ raised"):
        check(OnFragile)


def test_an_abstract_specification_keeps_the_rules_of_the_language() -> None:
    class Lazy(Hour):
        @action(when=lambda spec: lambda: True)
        def strike(self) -> None: ...

    class OnLazy(Watch):
        @refines(Lazy)
        def it_shows_the_hour(self) -> Mapping[str, object]:
            return {"hour": self.hour, "strikes": self.strikes}

    with pytest.raises(SpecError, match="which always counts as true"):
        check(OnLazy)


def test_an_abstract_specification_that_is_none_is_an_error() -> None:
    class Empty(Spec):
        n: int = start(int)

    class OnEmpty(Watch):
        @refines(Empty)
        def it_shows_the_hour(self) -> Mapping[str, object]:
            return {"n": self.hour}

    with pytest.raises(SpecError, match="Empty has no @action"):
        check(OnEmpty)


def test_what_is_refined_is_a_specification() -> None:
    with pytest.raises(SpecError, match="a subclass of Spec, not 4"):
        refines(4)  # type: ignore[arg-type]
    with pytest.raises(SpecError, match="write exactly these parameters"):

        @refines(Hour)
        def late(self: Any, before: Any) -> Mapping[str, object]:
            return {}


def test_a_planted_fault_is_found_by_refinement() -> None:
    def at_noon() -> int:
        return 3

    found = check_fault(Fault(Watch, "hour", at_noon, "it_shows_the_hour", 10))
    assert (found.caught, found.steps) == (True, 0)


def test_only_what_is_open_is_asked() -> None:
    class Both(Watch):
        @refines(Hour)
        def it_is_three_hours_late(self) -> Mapping[str, object]:
            return {"hour": (self.hour + 1) % 4, "strikes": 0}

    result = check(Both)
    assert result["it_is_three_hours_late"].verdict is Verdict.REFUTED
    assert result["it_shows_the_hour"].verdict is Verdict.CONFIRMED


def test_a_simulation_tells_the_step_that_is_none_of_the_abstract_specification() -> None:
    class Skips(Watch):
        def after(self, hour: int) -> int:
            return hour + 2

    watch = Simulation(Skips)
    for _ in range(3):
        assert watch.refuted() == []
        watch.apply("tick")
    assert watch.refuted() == ["it_shows_the_hour"]
