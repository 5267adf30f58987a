"""The search sees every state, finds the shortest counterexample, and says when it has not."""

import gc
import signal
import threading
import tracemalloc
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from structsync.checking import (
    Progress,
    Result,
    Spec,
    Verdict,
    action,
    check,
    check_fault,
    invariant,
    leads_to,
    start,
    step,
)
from structsync.checking._budget import Budget
from structsync.checking._load import Loaded, load
from structsync.checking._model import Model
from structsync.checking._search import Search

TOYS = Path(__file__).parent / "toys"


@pytest.fixture(scope="module")
def toys() -> Loaded:
    return load(TOYS)


def verdicts(result: Result) -> dict[str, Verdict]:
    return {one.name: one.verdict for one in result.properties}


class Grid(Spec):
    """Two counters that wrap round: a state space of known size."""

    a: int = start(int)
    b: int = start(int)

    @action(which=("a", "b"))
    def count(self, which: str) -> None:
        setattr(self, which, (getattr(self, which) + 1) % 10)

    @invariant
    def in_range(self) -> bool:
        return self.a < 10 and self.b < 10


def test_every_state_and_transition_is_counted_once() -> None:
    result = check(Grid)
    assert (result.states, result.transitions, result.depth) == (100, 200, 18)
    assert result.verdict is Verdict.CONFIRMED
    assert result.stopped_by is None


def test_the_lock_is_confirmed(toys: Loaded) -> None:
    assert set(verdicts(check(toys.specs["lock.LockSpec"])).values()) == {Verdict.CONFIRMED}


def test_petersons_algorithm_is_confirmed(toys: Loaded) -> None:
    assert set(verdicts(check(toys.specs["peterson.Peterson"])).values()) == {Verdict.CONFIRMED}


def test_petersons_algorithm_without_its_turn_lets_both_in(toys: Loaded) -> None:
    base: Any = toys.specs["peterson.Peterson"]

    class Impolite(base):  # type: ignore[misc]
        @action(me=(0, 1), when=lambda spec, me: spec.place[me] == "waits", fair=True)
        def enter(self, me: int) -> None:
            self.place: Any = tuple("inside" if n == me else self.place[n] for n in (0, 1))

    found = check(Impolite)["one_at_a_time"]
    assert found.counterexample is not None
    assert [one.call for one in found.counterexample.steps][-2:] == ["enter(me=0)", "enter(me=1)"]


def test_the_ferry_crosses_in_the_seven_steps_known_to_be_fewest(toys: Loaded) -> None:
    found = check(toys.specs["ferry.Ferry"])["not_all_are_across"]
    assert found.verdict is Verdict.REFUTED
    assert found.counterexample is not None
    assert len(found.counterexample.steps) == 7


def test_the_search_goes_on_after_a_refutation() -> None:
    class Two(Grid):
        @invariant
        def a_is_not_one(self) -> bool:
            return self.a != 1

        @invariant
        def b_is_not_nine(self) -> bool:
            assert self.b != 9, f"b is {self.b}"
            return True

    result = check(Two)
    lengths = {p.name: len(p.counterexample.steps) for p in result.properties if p.counterexample}
    assert lengths == {"a_is_not_one": 1, "b_is_not_nine": 9}
    assert result["b_is_not_nine"].detail.startswith("b is 9")
    assert result.states == 100


def test_a_step_property_sees_every_transition() -> None:
    class Monotone(Grid):
        @step
        def never_shrinks(self, before: Grid) -> bool:
            return self.a >= before.a

        @step
        def never_shrinks_says_an_assertion(self, before: Grid) -> None:
            assert self.b >= before.b, "b wrapped"

    result = check(Monotone)
    found = result["never_shrinks"].counterexample
    assert found is not None
    assert (len(found.steps), found.changes(9)) == (10, {"a": "0"})
    assert result["never_shrinks_says_an_assertion"].detail.startswith("b wrapped")


class Failing(Grid):
    """An action that raises in its fourth step."""

    @action
    def explode(self) -> None:
        if self.a == 3:
            raise ZeroDivisionError("three")


def test_an_action_that_raises_is_a_refutation() -> None:
    found = check(Failing)["no_action_fails"]
    assert found.detail == "raised ZeroDivisionError: three"
    assert found.counterexample is not None
    assert [one.call for one in found.counterexample.steps] == ["count(which=a)"] * 3 + [
        "explode()"
    ]


def test_a_property_or_domain_that_raises_is_a_refutation() -> None:
    class Confused(Grid):
        @action(one=lambda spec: [10 // (spec.a - 2)])
        def divide(self, one: int) -> None: ...

        @invariant
        def divides(self) -> bool:
            return 1 // (self.b - 2) < 9

        @step
        def divides_in_a_step(self, before: Grid) -> bool:
            return 1 // (self.b - 4) < 9

        @leads_to
        def divides_eventually(self) -> tuple[bool, bool]:
            return 1 // (self.b - 3) < 9, True

    result = check(Confused)
    details = {p.name: p.detail for p in result.properties if p.verdict is Verdict.REFUTED}
    assert "asking which actions are possible raised" in details.pop("no_action_fails")
    assert set(details) == {"divides", "divides_in_a_step", "divides_eventually"}
    assert all(one.startswith("raised ZeroDivisionError") for one in details.values())


def test_an_action_that_never_fires_is_a_check_that_cannot_fail() -> None:
    class Idle(Grid):
        @action(when=lambda spec: False)
        def never(self) -> None: ...

    result = check(Idle)
    assert result["every_action_fires"].verdict is Verdict.VACUOUS
    assert "never never fired" in result["every_action_fires"].detail
    assert result.verdict is Verdict.VACUOUS


def test_an_action_may_never_fire_for_a_reason() -> None:
    class Excused(Grid):
        @action(when=lambda spec: False, may_never_fire="kept for a subclass")
        def never(self) -> None: ...

    assert check(Excused).verdict is Verdict.CONFIRMED


def test_a_trigger_that_never_holds_is_a_check_that_cannot_fail() -> None:
    class Empty(Grid):
        @leads_to(n=(3, 12))
        def ends(self, n: int) -> tuple[bool, bool]:
            return self.a == n, self.a == n + 1

    class Idle(Empty):
        @leads_to(n=(12,))
        def ends(self, n: int) -> tuple[bool, bool]:
            return self.a == n, False

    assert check(Empty)["ends"].verdict is Verdict.REFUTED
    found = check(Idle)["ends"]
    assert (found.verdict, found.detail.rpartition(" ")[2]) == (Verdict.VACUOUS, "n=12")


@pytest.mark.parametrize(
    ("bound", "says"),
    [
        ({"max_states": 20}, "the bound of 20 states"),
        ({"seconds": 0}, "the bound of 0 seconds"),
        ({"max_depth": 3}, "the bound of 3 steps"),
    ],
)
def test_a_search_that_ends_early_is_not_green(bound: dict[str, Any], says: str) -> None:
    class Silent(Grid):
        @action(when=lambda spec: False)
        def never(self) -> None: ...

    result = check(Silent, **bound)
    assert result.stopped_by == says
    assert set(verdicts(result).values()) == {Verdict.UNFINISHED}


def test_a_search_that_ends_early_keeps_what_it_found() -> None:
    class Small(Grid):
        @invariant
        def a_is_not_one(self) -> bool:
            return self.a != 1

    result = check(Small, max_states=20)
    assert result["a_is_not_one"].verdict is Verdict.REFUTED
    assert result["in_range"].verdict is Verdict.UNFINISHED


def test_a_bound_that_is_just_enough_does_not_count_as_reached() -> None:
    assert check(Grid, max_states=100).verdict is Verdict.CONFIRMED


class Interrupted(Grid):
    """Ctrl-C comes in the middle."""

    @action(when=lambda spec: spec.a == 5)
    def press(self) -> None:
        signal.raise_signal(signal.SIGINT)


def test_ctrl_c_ends_the_search_and_keeps_what_it_found() -> None:
    result = check(Interrupted)
    assert result.stopped_by == "Ctrl-C"
    assert result["in_range"].verdict is Verdict.UNFINISHED
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_second_ctrl_c_interrupts() -> None:
    class Twice(Interrupted):
        @action(when=lambda spec: spec.a == 5)
        def press(self) -> None:
            signal.raise_signal(signal.SIGINT)
            signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        check(Twice)


def test_a_search_in_another_thread_leaves_the_signal_alone() -> None:
    found: list[Result] = []
    thread = threading.Thread(target=lambda: found.append(check(Grid)))
    thread.start()
    thread.join()
    assert found[0].verdict is Verdict.CONFIRMED


def test_progress_is_told() -> None:
    told: list[Progress] = []
    check(Grid, on_progress=told.append)
    assert told[0].states == 1
    assert (told[-1].states, told[-1].expanded, told[-1].depth) == (100, 100, 18)


def test_a_search_stops_when_every_property_is_refuted() -> None:
    class Wrong(Grid):
        @invariant
        def wrong(self) -> bool:
            return self.a == 0

    assert check(Wrong, only=["wrong"]).states < 10


def test_only_the_named_properties_are_judged() -> None:
    assert set(verdicts(check(Failing, only=["in_range"]))) == {"in_range"}
    with pytest.raises(KeyError):
        check(Failing, only=["in_range"])["no_action_fails"]


def test_a_canonical_form_makes_an_endless_counter_finite() -> None:
    class Endless(Spec):
        n: int = start(int)

        @action
        def count(self) -> None:
            self.n += 1

        @invariant
        def at_least_zero(self) -> bool:
            return self.n >= 0

        def canonical(self, snapshot: Any) -> Any:
            return snapshot._replace(n=min(snapshot.n, 7))

    assert check(Endless).states == 8


def test_domains_may_be_fields_functions_and_constants_together() -> None:
    class Pairs(Spec):
        marked: frozenset[object] = start(frozenset, ("x", 1))
        last: object = start(lambda: None)

        @action(a=marked, b=lambda spec: {"u", "v"}, c=(True, False))
        def mark(self, a: object, b: str, c: bool) -> None:
            self.last = (a, b, c)

        @invariant
        def fine(self) -> bool:
            return True

    assert check(Pairs).states == 9


def test_equal_values_of_different_types_come_back_as_they_were() -> None:
    class Typed(Spec):
        number: tuple[object, ...] = start(tuple, ((0,), 1))
        truth: tuple[object, ...] = start(tuple, ((False,), True))

        @action(when=lambda spec: len(spec.truth) < 4)
        def grow(self) -> None:
            self.truth = (*self.truth, True)

        @invariant
        def stays_a_bool(self) -> bool:
            return self.truth[0] == (False,) and self.truth[1] is True

    assert check(Typed)["stays_a_bool"].verdict is Verdict.CONFIRMED


@pytest.mark.slow
def test_memory_per_state_is_measured_and_small() -> None:
    class Wide(Grid):
        c: int = start(int)

        @action(many=(7,))
        def count_more(self, many: int) -> None:
            self.c = (self.c + many) % 300

    gc.collect()
    tracemalloc.start()
    search = Search(Model(Wide), Budget())
    search.run()
    taken, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(search.graph.states) == 30_000
    measured = taken / len(search.graph.states)
    assert search.graph.bytes_per_state() == pytest.approx(measured, rel=0.25)
    assert measured < 400  # a million states in 400 MB


def test_a_trace_shows_what_the_spec_describes() -> None:
    class Described(Grid):
        @invariant
        def a_is_not_one(self) -> bool:
            return self.a != 1

        def describe(self) -> dict[str, object]:
            return {"sum": self.a + self.b}

    found = check(Described)["a_is_not_one"].counterexample
    assert found is not None
    assert (found.start, found.steps[0].state) == ({"sum": "0"}, {"sum": "1"})


def test_every_planted_fault_is_found(toys: Loaded) -> None:
    found = {name: check_fault(one) for name, one in toys.faults.items()}
    assert {name: one.steps for name, one in found.items()} == {
        "lock_faults.LostWakeupAtRelease": 3,
        "lock_faults.NoTaskIsWoken": 3,
        "lock_faults.barging_lock": 4,
        "lock_faults.ReleaseFails": 3,
    }
    assert all(one.caught and one.detail for one in found.values())


def test_a_fault_that_needs_a_longer_trace_than_allowed_is_not_found(toys: Loaded) -> None:
    found = check_fault(replace(toys.faults["lock_faults.barging_lock"], max_trace=3))
    assert (found.caught, found.verdict) == (False, Verdict.VACUOUS)
    assert "cannot fail" in found.detail


def test_a_fault_search_that_ends_early_is_not_green(toys: Loaded) -> None:
    found = check_fault(toys.faults["lock_faults.barging_lock"], max_states=2)
    assert found.verdict is Verdict.UNFINISHED
    assert found.steps is None
