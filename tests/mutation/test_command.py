"""The command over a toy: what is planted is found, and what is not noticed is told."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
import time
from pathlib import Path

import pytest

from . import command as command_module
from . import trial
from .conftest import Run, ToyNet
from .mutants import Mutant
from .project import Project
from .results import Store
from .score import Score
from .server import Job, run

pytestmark = pytest.mark.skipif(
    sys.version_info < (3, 12), reason="the lines are found with sys.monitoring"
)


@pytest.fixture(autouse=True)
def short_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trial, "limit", lambda seconds: 1.0 + seconds)


def find(project: Project, inside: str, operator: str) -> Mutant:
    (found,) = (
        one for one in project.mutants() if one.inside == inside and one.operator == operator
    )
    return found


def test_a_change_that_is_watched_is_noticed_by_the_item_that_runs_it(
    command: Run, project: Project
) -> None:
    _, printed = command("--id", find(project, "larger", "negated").id)
    assert "noticed" in printed
    assert "toy: larger (it is not so)" in printed


def test_a_change_that_is_only_run_survives(command: Run, project: Project) -> None:
    mutant = find(project, "looked_at_only", "+ to -")
    _, printed = command("--id", mutant.id)
    assert "\nsurvived in " in printed
    assert f"looked_at_only: {mutant.diff}" in printed


def test_a_change_of_a_head_is_noticed_by_who_looks_at_it_without_a_call(
    command: Run, project: Project
) -> None:
    _, printed = command("--id", find(project, "waits", "0 to 1").id)
    assert "toy: how it looks (it is not so)" in printed


def test_a_change_that_nothing_runs_is_told_apart(command: Run, project: Project) -> None:
    _, printed = command("--id", find(project, "no_task_calls", "no not").id)
    assert "not run in 0.0 s" in printed


def test_a_test_that_cannot_bear_to_be_watched_is_asked_all_the_same(
    command: Run, project: Project
) -> None:
    status, printed = command("--id", find(project, "shy", "no minus").id)
    assert status == 0
    assert "noticed" in printed
    assert "toy: not while lines are looked at (it is not so)" in printed


def test_an_item_that_is_red_without_any_change_is_left_out_and_is_an_error(
    command: Run, project: Project
) -> None:
    (net,) = project.nets
    assert isinstance(net, ToyNet)
    net.others["always red"] = lambda: False
    status, printed = command("--id", find(project, "looked_at_only", "+ to -").id)
    assert status == 2
    assert "red where nothing is changed: toy: always red" in printed
    assert "survived" in printed


def test_a_mutant_that_spins_and_swallows_everything_ends_by_its_limit(
    command: Run, project: Project
) -> None:
    began = time.monotonic()
    _, printed = command("--id", find(project, "count_down", "no assignment").id)
    assert "timeout" in printed
    assert "toy: a timeout" in printed
    assert time.monotonic() - began < 20


def test_what_runs_when_the_time_is_over_is_ended_and_has_no_result() -> None:
    job = Job("sleeps", lambda tell: time.sleep(60), patience=60.0)
    began = time.monotonic()
    assert list(run(iter([job]), until=began + 0.5)) == []
    assert time.monotonic() - began < 20


def test_no_process_outlives_its_mutant(
    command: Run, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a mutant started dies with it: the whole group is killed."""
    mutant = find(project, "count_down", "no assignment")
    mark = f"structsync-mutation-{time.time_ns()}"
    work = trial.job_of

    def job_with_a_child(*arguments: object) -> object:
        job = work(*arguments)  # type: ignore[arg-type]
        assert job is not None
        inner = job.work
        sleeper = [sys.executable, "-c", "import time; time.sleep(60)", mark]
        job.work = lambda tell: (subprocess.Popen(sleeper), inner(tell))[1]
        return job

    monkeypatch.setattr(command_module, "job_of", job_with_a_child)
    command("--id", mutant.id)
    ended = time.monotonic() + 10
    while mark in (left := _processes()) and time.monotonic() < ended:
        pass
    assert mark not in left


def _processes() -> str:
    """Return the command lines of all processes that are no zombies."""
    return subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout


def test_everything_is_scored_and_a_target_that_is_missed_fails(
    command: Run, project: Project
) -> None:
    status, printed = command("--all")
    (line,) = (one for one in printed.splitlines() if one.startswith("core by toy"))
    assert status == 0
    assert "not finished" not in line
    object.__setattr__(project.targets[0], "percent", 99.0)
    status, printed = command("--all")
    assert status == 1
    assert "UNDER the target 99 %" in printed


def test_a_sample_says_that_it_is_not_finished(command: Run, project: Project) -> None:
    status, printed = command("--id", find(project, "larger", "negated").id)
    assert status == 0
    assert f"not finished: 1 of {len(project.mutants())}" in printed
    assert "1 of 1 noticed, 100.0 % (20.7 to 100.0 with a certainty of 95 %)" in printed


def test_the_interval_of_a_sample_is_that_of_wilson_and_all_are_known_exactly(
    project: Project,
) -> None:
    assert Score(project.targets[0], 81, 263, 1000).interval == pytest.approx(
        (25.5, 36.6), abs=0.05
    )
    assert Score(project.targets[0], 0, 10, 1000).interval == pytest.approx((0, 27.8), abs=0.05)
    assert Score(project.targets[0], 3, 4, 4).interval == (75.0, 75.0)


def test_a_run_goes_on_where_the_last_one_ended(command: Run, project: Project) -> None:
    mutant = find(project, "larger", "negated")
    command("--id", mutant.id)
    _, printed = command("--all")
    assert f"{len(project.mutants()) - 1} mutants without a result" in printed
    _, printed = command("--all")
    assert " 0 mutants without a result" in printed


def test_results_of_other_sources_are_forgotten(command: Run, project: Project) -> None:
    command("--id", find(project, "larger", "negated").id)
    file = project.package / "core" / "maths.py"
    file.write_text(file.read_text() + "\nANSWER = 42\n")
    _, printed = command("--survivors")
    assert "nothing was run" in printed


def test_half_a_line_of_a_writer_that_was_killed_is_forgotten(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    store = Store(path, lambda item: "of today")
    store.add(trial.Result("a", "core", "f", "x", "y", "noticed", "toy", "i", "how", 1.0))
    path.write_text(path.read_text() + '{"id": "b", "par')
    assert list(Store(path, lambda item: "of today").results) == ["a"]
    assert list(Store(path, lambda item: "of tomorrow").results) == []


def test_what_a_test_noticed_holds_while_its_own_file_and_those_of_no_tests_are_the_same(
    project: Project,
) -> None:
    folder = project.root / "tests"
    for name in ("test_a.py", "test_b.py", "helpers.py"):
        (folder / name).write_text("")

    def evidence() -> list[str]:
        anew = dataclasses.replace(project)
        return [anew.evidence(item) for item in ("tests/test_a.py::test_x", "a specification")]

    noticed, survived = before = evidence()
    assert evidence() == before
    (folder / "test_b.py").write_text("# changed")
    assert evidence()[0] == noticed
    assert evidence()[1] != survived
    for name in ("test_a.py", "helpers.py"):
        before = evidence()
        (folder / name).write_text("# changed")
        assert [one == other for one, other in zip(evidence(), before, strict=True)] == [False] * 2


def test_the_seed_decides_the_order_and_is_printed(command: Run, project: Project) -> None:
    assert "seed 2026-01-01" in command("--minutes", "0", "--seed", "2026-01-01")[1]
    one, other = (command("--list", "--seed", seed)[1] for seed in ("2026-01-01", "2026-01-02"))
    assert one != other
    assert sorted(one.splitlines()) == sorted(other.splitlines())


def test_an_equivalent_mutant_is_neither_run_nor_counted(command: Run, project: Project) -> None:
    mutant = find(project, "looked_at_only", "+ to -")
    write_entry(project, mutant.after)
    _, printed = command("--all")
    assert f"of {len(project.mutants()) - 1} noticed" in printed
    assert mutant.id not in printed


def test_an_entry_that_matches_no_mutant_any_more_is_an_error(
    command: Run, project: Project
) -> None:
    write_entry(project, "return a + 17")
    status, printed = command("--survivors")
    assert status == 2
    assert "no mutant matches any more" in printed


def test_an_entry_without_a_reason_is_an_error(command: Run, project: Project) -> None:
    write_entry(project, find(project, "looked_at_only", "+ to -").after, reason=" ")
    assert command("--survivors")[0] == 2


def write_entry(project: Project, after: str, reason: str = "It is a toy.") -> None:
    project.equivalents.write_text(
        f'[[equivalent]]\nfile = "core/maths.py"\ninside = "looked_at_only"\n'
        f'before = "return a + 1"\nafter = "{after}"\nreason = "{reason}"\n'
    )
