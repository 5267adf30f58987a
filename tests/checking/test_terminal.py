"""What a run looks like on terminals of several widths, while it lasts and when it is over."""

import io
from collections.abc import Sequence
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from rich.console import Console

from structsync.checking import FaultResult, Loaded, Progress, PropertyResult, Verdict
from structsync.checking import Result as Checked
from structsync.checking._nearest import nearest
from structsync.checking._overall import Overall
from structsync.checking._suite import Run
from structsync.checking._terminal import SearchLine, print_runs
from structsync.cli import main

SPEC = "buffer_by_priority.BufferByPriorityWithBatchesSpec"
PROPERTIES = [
    PropertyResult("no_action_fails", "built-in", Verdict.CONFIRMED),
    PropertyResult("grants_follow_the_queue", "step", Verdict.REFUTED),
    PropertyResult("items_are_conserved", "invariant", Verdict.VACUOUS, "no state has its trigger"),
    PropertyResult(
        "a_queued_request_is_served", "leads_to", Verdict.UNFINISHED, "ended by the bound of 500"
    ),
]
FAULTS = [
    FaultResult("faults.Lost", SPEC, "items_are_conserved", Verdict.REFUTED, "It loses.", 9, 9, 1),
    FaultResult("faults.Fine", SPEC, "items_are_conserved", Verdict.VACUOUS, "No bug.", 9, 9, 1),
]


def printed(
    width: int,
    properties: Sequence[PropertyResult] = tuple(PROPERTIES),
    faults: Sequence[FaultResult] = tuple(FAULTS),
    spec: str = SPEC,
) -> str:
    result = Checked(spec, tuple(properties), 501, 999, 7, 1.0, 300.0, None)
    run = Run(Loaded(Path(), True, {}, {}), (result,), tuple(faults), ())
    console = Console(width=width, record=True, file=io.StringIO())
    print_runs(console, [run], [], 1.0)
    return console.export_text()


@pytest.mark.parametrize("width", [60, 80, 160, 240])
def test_verdicts_and_names_are_whole_on_every_terminal(width: int) -> None:
    text = printed(width)
    for verdict in Verdict:
        assert verdict.value in text
    for one in PROPERTIES:
        assert one.name in text
    assert "ended by the bound of 500" in text
    assert max(map(len, text.splitlines())) <= width


def test_a_sentence_has_a_line_of_its_own_where_a_column_would_be_narrower_than_24() -> None:
    lines = [line.strip() for line in printed(80).splitlines()]
    assert f"{SPEC}: 501 states, depth 7" in lines
    assert "cannot fail   items_are_conserved (invariant)" in lines
    assert "no state has its trigger" in lines
    assert lines.index("planted faults") < lines.index("It loses.")


def test_a_wide_terminal_has_a_table() -> None:
    text = printed(240)
    assert "detail" in text
    assert any("items_are_conserved" in one and "no state has" in one for one in text.splitlines())


def test_short_sentences_need_no_more_room_than_they_have() -> None:
    short = [PropertyResult("fits", "step", Verdict.CONFIRMED)]
    text = printed(80, short, (), "wheel.Wheel")
    assert "verdict" in text
    assert "depth 7" in text


# ==== while it lasts ====


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def overall(kinds: dict[str, str], transitions: dict[str, float]) -> tuple[Overall, Clock]:
    clock = Clock()
    return Overall(kinds, transitions, clock), clock


def take(plan: Overall, clock: Clock, name: str, seconds: float) -> None:
    plan.starts(name)
    clock.now += seconds
    plan.ends(name)


def test_the_time_left_goes_by_the_transitions_on_record() -> None:
    plan, clock = overall(dict.fromkeys("abc", "spec"), {"a": 100, "b": 300})
    assert str(plan) == "1 of 3"
    take(plan, clock, "a", 2)
    plan.starts("b")
    assert str(plan) == "2 of 3, about 0:10 left"  # b as on record, c like the two on average
    clock.now += 5
    assert str(plan) == "2 of 3, about 0:05 left"
    clock.now += 95
    assert str(plan) == "2 of 3, about 0:00 left"


def test_faults_count_when_one_of_them_has_ended() -> None:
    plan, clock = overall({"a": "spec", "b": "spec", "x": "fault", "y": "fault"}, {})
    take(plan, clock, "a", 90)
    assert str(plan) == "2 of 4, at least 1:30 left"
    take(plan, clock, "b", 90)
    take(plan, clock, "x", 7)
    assert str(plan) == "4 of 4, about 0:07 left"
    take(plan, clock, "y", 7)
    assert str(plan) == ""


def test_searches_at_once_share_the_time_that_is_left() -> None:
    plan, clock = overall(dict.fromkeys("abcd", "spec"), {})
    plan.lanes = 2
    plan.starts("a")
    plan.starts("b")
    clock.now += 8
    plan.starts("a")  # still
    plan.ends("a")
    assert str(plan) == "2 of 4, about 0:08 left"  # c and d at once, and nothing more of b
    plan.ends("no task")
    assert plan.weight("no task") == 0


def test_a_run_of_one_search_says_nothing_of_the_others() -> None:
    plan, clock = overall({"a": "spec"}, {})
    assert str(plan) == ""
    take(plan, clock, "something else", 1)
    assert str(plan) == ""


def test_the_progress_line_says_how_far_the_whole_run_is() -> None:
    console = Console(force_terminal=True, record=True, width=160, file=io.StringIO())
    plan, clock = overall(dict.fromkeys("abc", "spec"), {})
    take(plan, clock, "a", 60)
    with SearchLine(console) as line:
        line.overall = plan
        line.start("b")
        line.update(Progress(1000, 500, 3000, 7, 0.5))
        line._progress.refresh()
    text = console.export_text()
    assert "depth 7" in text
    assert "2 of 3, about 2:00 left" in text


# ==== the command ====

TWO = """
from structsync.checking import Spec, action, fault, invariant, start

class Wheel(Spec):
    n: int = start(int)

    @action
    def turn(self):
        self.n = (self.n + 1) % 5

    @invariant
    def in_range(self):
        return self.n < LIMIT

class Disc(Wheel):
    pass

@fault(Wheel, "n", refuted_by="in_range")
def fine():
    "No bug at all."
    return 0

@fault(Wheel, "n", refuted_by="in_range")
def far():
    "A bug."
    return 99
"""


def run(folder: Path, limit: int, *arguments: str) -> Result:
    file = folder / "wheel.py"
    file.write_text(f"LIMIT = {limit}\n{TWO}", encoding="utf-8")
    return CliRunner().invoke(main, ["check", str(file), *arguments])


def test_fail_fast_starts_nothing_after_a_refutation(tmp_path: Path) -> None:
    done = run(tmp_path, 3, "--fail-fast")
    assert done.exit_code == 1
    assert "not finished: wheel.Disc was not started" in done.output
    assert "wheel.far was not started" in done.output
    assert "was not started" not in run(tmp_path, 3).output


def test_fail_fast_starts_nothing_after_a_fault_that_was_not_found(tmp_path: Path) -> None:
    done = run(tmp_path, 5, "--fail-fast")
    assert done.exit_code == 1
    assert "wheel.far was not started" in done.output
    assert "wheel.Disc was not started" not in done.output


def test_fail_fast_goes_on_while_all_is_green(tmp_path: Path) -> None:
    assert run(tmp_path, 5, "--fail-fast", "--only", "far").exit_code == 0
    assert run(tmp_path, 5, "--fail-fast", "--no-faults").exit_code == 0


def test_a_name_that_matches_nothing_gets_the_nearest_ones(tmp_path: Path) -> None:
    done = run(tmp_path, 5, "--only", "weel.Fnie")
    assert done.exit_code == 64
    assert "none of 4 names contains 'weel.Fnie'; the nearest: wheel.fine" in done.output


def test_the_nearest_names_are_few_and_a_part_of_a_name_is_enough() -> None:
    names = [f"buffer.Spec{number}" for number in range(50)] + ["semaphore_faults.Greedy[served]"]
    assert nearest("gredy", names)[0] == "semaphore_faults.Greedy[served]"
    assert len(nearest("Spec", names)) == 5
