"""Rules broken in odd places, antecedents, and ends of a search."""

import functools
import threading
from pathlib import Path
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
    load,
    start,
    step,
)
from structsync.checking._budget import Budget
from structsync.checking._faults import Fault
from structsync.checking._interrupt import InterruptFlag
from structsync.checking._model import Model
from structsync.checking._search import Search

from .wheel import Wheel

# ==== Errors ====


def test_an_error_that_depends_on_the_order_of_a_set_is_no_answer() -> None:
    class Asking(Wheel):
        several: frozenset[int] = start(frozenset, (1, 2))

        @action(when=lambda spec: 1 // (next(iter(spec.several)) - 1) > 0)
        def ask(self) -> None: ...

    with pytest.raises(SpecError, match=r"asking which actions are possible in .* gave .*raised"):
        check(Asking)


def test_states_that_canonical_merges_may_fail_alike() -> None:
    class Failing(Wheel):
        turns: int = start(int)

        @action
        def count(self) -> None:
            self.turns += 1

        @action
        def fail(self) -> None:
            raise ValueError("always")

        def canonical(self, snapshot: Any) -> Any:
            return snapshot._replace(turns=0)

    assert check(Failing)["no_action_fails"].verdict is Verdict.REFUTED


def breaks_a_rule(*anything: Any) -> Any:
    return start(5)  # type: ignore[arg-type]


class InAnAction(Wheel):
    @action
    def breaks(self) -> None:
        breaks_a_rule()


class InAWhen(Wheel):
    @action(when=breaks_a_rule)
    def breaks(self) -> None: ...


class InALeadsTo(Wheel):
    @leads_to
    def breaks(self) -> tuple[bool, bool]:
        return bool(breaks_a_rule()), True


@pytest.mark.parametrize("spec", [InAnAction, InAWhen, InALeadsTo])
def test_a_rule_of_the_language_is_no_finding_wherever_it_is_broken(spec: type[Spec]) -> None:
    name = "breaks" if spec is InALeadsTo else "in_range"
    with pytest.raises(SpecError, match="start takes a factory"):
        check(spec)
    with pytest.raises(SpecError, match="start takes a factory"):
        check_fault(Fault(spec, "n", int, name, 3))


def test_a_property_of_a_mixin_is_not_hidden_by_a_decorator() -> None:
    def logged(function: Any) -> Any:
        @functools.wraps(function)
        def called(*arguments: Any) -> Any:
            return function(*arguments)

        return called

    class Mixin:
        @logged
        @invariant
        def hidden(self) -> bool:
            return False

    class Mixed(Mixin, Wheel):
        pass

    with pytest.raises(SpecError, match=r"a decorator stands above @invariant .*put @invariant on"):
        check(Mixed)


def test_one_decorator_may_plant_two_faults(tmp_path: Path) -> None:
    file = tmp_path / "two_of_them.py"
    file.write_text(
        "from structsync.checking import Spec, action, fault, invariant, start\n"
        "class Wheel(Spec):\n"
        "    n = start(int)\n"
        "    @action\n"
        "    def turn(self): self.n = 1 - self.n\n"
        "    @invariant\n"
        "    def in_range(self): return self.n < 2\n"
        "planted = fault(Wheel, 'n', refuted_by='in_range')\n"
        "@planted\n"
        "def high(): return 7\n"
        "@planted\n"
        "def higher(): return 8\n",
        "utf-8",
    )
    assert len(load(file).faults) == 2


# ==== Implications ====


def test_an_antecedent_that_was_true_once_is_enough() -> None:
    class Early(Wheel):
        @invariant
        def one_is_odd(self) -> bool:
            return implies(self.n == 1, self.n % 2 == 1)

        @step
        def from_one_to_two(self, before: Any) -> bool:
            return implies(before.n == 1, self.n == 2)

    assert check(Early).verdict is Verdict.CONFIRMED


def test_an_implication_may_be_asked_from_anywhere() -> None:
    answers: list[bool] = []
    thread = threading.Thread(target=lambda: answers.append(implies(False, False)))
    thread.start()
    thread.join()
    assert answers == [True]


# ==== Ends ====


def test_the_question_about_behaviours_is_kept_short_after_the_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Late(Wheel):
        @leads_to
        def gets_there(self) -> tuple[bool, bool]:
            return True, self.n == 4

    monkeypatch.setattr("structsync.checking._search.GRACE", -1)
    result = check(Late, max_states=3)
    assert result["gets_there"].verdict is Verdict.UNFINISHED
    assert result.stopped_by == "the bound of 3 states"


def test_the_time_is_looked_at_within_a_large_cycle() -> None:
    class Large(Spec):
        n: int = start(int)

        @action(fair=True)
        def turn(self) -> None:
            self.n = (self.n + 1) % 1_100

        @leads_to
        def gets_there(self) -> tuple[bool, bool]:
            return self.n == 0, self.n == 1_200

    search = Search(Model(Large), Budget())
    beats: list[int] = []
    search.model.pulse.beat = lambda: beats.append(1)  # type: ignore[method-assign]
    search._search()
    beats.clear()
    search._judge_behaviours()
    assert "gets_there" in search.findings
    assert len(beats) > 1


def test_the_second_signal_is_not_sent_when_all_is_over() -> None:
    with InterruptFlag(None, "", ends_code=True) as flag:
        pass
    flag._end()
    assert not flag._overdue
