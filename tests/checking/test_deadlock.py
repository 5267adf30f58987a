"""A state without a step is refuted, unless the specification says that it may be the last."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from structsync.checking import (
    Fault,
    Result,
    Spec,
    SpecError,
    Verdict,
    action,
    check,
    check_fault,
    fault,
    invariant,
    start,
    terminal,
)
from structsync.cli import main


class Candle(Spec):
    """Burns down, and no task has said that it may."""

    left: int = start(lambda: 3)

    @action(when=lambda spec: spec.left > 0)
    def burn(self) -> None:
        self.left -= 1

    @invariant
    def it_is_not_owed(self) -> bool:
        return self.left >= 0


class BurntDown(Candle):
    """The same; it may end when it has burnt down."""

    @terminal
    def nothing_is_left(self) -> bool:
        return self.left == 0


def answer(result: Result) -> tuple[Verdict, str]:
    found = result["no_deadlock"]
    return found.verdict, found.detail


def test_a_state_that_allows_no_step_is_refuted() -> None:
    result = check(Candle)
    verdict, detail = answer(result)
    assert verdict is Verdict.REFUTED
    assert "declare it: @terminal" in detail
    found = result["no_deadlock"].counterexample
    assert found is not None
    assert [one.call for one in found.steps] == ["burn()", "burn()", "burn()"]
    assert (found.kind, found.claim) == (
        "built-in",
        "Every state allows a step, or is declared terminal.",
    )
    assert result["it_is_not_owed"].verdict is Verdict.CONFIRMED


def test_a_state_that_is_declared_terminal_may_be_the_last() -> None:
    assert check(BurntDown).verdict is Verdict.CONFIRMED


def test_only_the_states_that_it_is_true_of_may_be_the_last() -> None:
    class Snuffed(BurntDown):
        @action(when=lambda spec: spec.left > 0)
        def burn(self) -> None:
            self.left -= 2 if self.left == 3 else 1

        @terminal
        def nothing_is_left(self) -> bool:
            return self.left == 1

    verdict, detail = answer(check(Snuffed))
    assert verdict is Verdict.REFUTED
    assert "@terminal is not true of it" in detail


def test_of_several_words_for_an_end_any_will_do() -> None:
    class TwoEnds(BurntDown):
        @action(when=lambda spec: spec.left == 3)
        def blow_out(self) -> None:
            self.left = -1

        @invariant
        def it_is_not_owed(self) -> bool:
            return self.left >= -1

        @terminal
        def it_was_blown_out(self) -> bool:
            return self.left == -1

    assert check(TwoEnds).verdict is Verdict.CONFIRMED


def test_where_every_state_may_be_the_last_no_deadlock_cannot_be_found() -> None:
    class Anything(Candle):
        @terminal
        def whatever(self) -> bool:
            return True

    verdict, detail = answer(check(Anything))
    assert verdict is Verdict.VACUOUS
    assert detail == "@terminal is true of every state"


def test_a_step_that_changes_nothing_is_a_step() -> None:
    class Waits(Candle):
        @action(when=lambda spec: spec.left == 0)
        def wait(self) -> None: ...

    assert answer(check(Waits))[0] is Verdict.CONFIRMED


def test_an_end_that_is_no_bool_is_refused() -> None:
    class Number(Candle):
        @terminal
        def nothing_is_left(self) -> bool:
            return 1 - self.left  # type: ignore[return-value]

    with pytest.raises(SpecError, match=r"@terminal nothing_is_left must return True or False"):
        check(Number)


def test_an_end_that_raises_is_told() -> None:
    class Raises(Candle):
        @terminal
        def nothing_is_left(self) -> bool:
            return [True][3 - self.left]

    verdict, detail = answer(check(Raises))
    assert verdict is Verdict.REFUTED
    assert detail == "@terminal raised IndexError: list index out of range"


def test_an_end_depends_on_the_state_alone() -> None:
    answers = iter([True, False] * 20)

    class Moody(Candle):
        @terminal
        def nothing_is_left(self) -> bool:
            return next(answers)

    with pytest.raises(SpecError, match=r"@terminal nothing_is_left .* is deterministic"):
        check(Moody)


def test_an_end_alone_is_no_property() -> None:
    class Bare(Spec):
        left: int = start(int)

        @action
        def stay(self) -> None: ...

        @terminal
        def nothing_is_left(self) -> bool:
            return self.left == 0

    with pytest.raises(SpecError, match="states no property"):
        check(Bare)


def test_no_deadlock_is_judged_alone_if_it_is_asked_for_alone() -> None:
    result = check(Candle, only=["no_deadlock"])
    assert [one.name for one in result.properties] == ["no_deadlock"]
    assert result.verdict is Verdict.REFUTED


def test_a_state_that_no_task_could_ask_is_no_deadlock() -> None:
    class Broken(Candle):
        @action(when=lambda spec: 3 // spec.left > 0)
        def burn(self) -> None:
            self.left -= 1

    result = check(Broken)
    assert result["no_action_fails"].verdict is Verdict.REFUTED
    assert answer(result)[0] is Verdict.UNFINISHED  # nobody knows what follows it


def test_a_planted_fault_is_found_by_a_deadlock() -> None:
    class TurnedUp(int):
        pass

    class Wheel(Spec):
        n: int = start(int)

        @action(when=lambda spec: spec.n < 5)
        def turn(self) -> None:
            self.n = (self.n + 1) % 5

        @invariant
        def in_range(self) -> bool:
            return self.n >= 0

    @fault(Wheel, "n", refuted_by="no_deadlock")
    def it_sticks() -> int:
        """It starts where it cannot be turned."""
        return 5

    found = check_fault(Fault(Wheel, "n", it_sticks, "no_deadlock", 10))
    assert (found.caught, found.steps) == (True, 0)
    missed = check_fault(Fault(Wheel, "n", int, "no_deadlock", 10))
    assert missed.verdict is Verdict.VACUOUS


MODULE = """
    from structsync.checking import Spec, action, invariant, start

    class Candle(Spec):
        left: int = start(lambda: 3)

        @action(when=lambda spec: spec.left > 0)
        def burn(self):
            self.left -= 1

        @invariant
        def it_is_not_owed(self):
            return self.left >= 0
    """


def test_the_command_shows_the_way_into_a_deadlock(tmp_path: Path) -> None:
    file = tmp_path / "candle.py"
    file.write_text("\n".join(line[4:] for line in MODULE.splitlines()))
    result = CliRunner().invoke(main, ["check", str(file)])
    assert result.exit_code == 1
    assert "candle.Candle: no_deadlock (built-in) is refuted in 3 steps" in result.output
