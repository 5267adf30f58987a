"""The command: what it runs, what it prints, how it ends."""

import io
import json
import os
import signal
import subprocess
import sys
import tomllib
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
from click.testing import CliRunner, Result
from rich.console import Console

from structsync.checking import Progress, SpecError, _load
from structsync.checking._load import load, shipped_specs
from structsync.checking._terminal import SearchLine
from structsync.cli import main

from ..children import structsync_command  # noqa: TID252 - the one home of how a child is started
from .wheel import SOURCE as GOOD

TOYS = Path(__file__).parent / "toys"

FAULTY = """
    @fault(Wheel, "n", refuted_by="in_range")
    def fine():
        "No bug at all."
        return 0
    """

WRONG = (
    GOOD
    + """
    class Wrong(Wheel):
        @invariant
        def is_not_three(self):
            return self.n != 3
    """
)


def run(*arguments: object) -> Result:
    return CliRunner().invoke(main, ["check", *map(str, arguments)])


def run_process(*arguments: object) -> subprocess.CompletedProcess[str]:
    return structsync_command("check", *map(str, arguments), cwd=Path.cwd())


def write(folder: Path, text: str, name: str = "wheel.py") -> Path:
    file = folder / name
    file.write_text(dedent(text), encoding="utf-8")
    return file


def test_exit_code_zero_means_all_confirmed(tmp_path: Path) -> None:
    result = run(write(tmp_path, GOOD))
    assert result.exit_code == 0
    assert "wheel.Wheel" in result.output
    assert "1 specification: 4 confirmed; no fault was planted" in result.output
    assert "bytes per state" in result.output


def test_exit_code_one_means_something_is_refuted(tmp_path: Path) -> None:
    result = run(write(tmp_path, WRONG))
    assert result.exit_code == 1
    assert "is_not_three (invariant) is refuted in 3 steps" in result.output


def test_exit_code_one_means_a_fault_was_not_found(tmp_path: Path) -> None:
    file = write(tmp_path, GOOD + FAULTY)
    result = run(file)
    assert result.exit_code == 1
    assert "a check that cannot fail" in result.output
    assert run(file, "--no-faults").exit_code == 0


@pytest.mark.parametrize("bound", [("--max-states", 3), ("--seconds", 0)])
def test_exit_code_two_means_not_finished(tmp_path: Path, bound: tuple[str, int]) -> None:
    result = run(write(tmp_path, GOOD), *bound)
    assert result.exit_code == 2
    assert "not finished" in result.output


def test_a_refutation_wins_over_what_is_not_finished(tmp_path: Path) -> None:
    assert run(write(tmp_path, WRONG), "--max-states", 4).exit_code == 1


@pytest.mark.parametrize(
    "arguments",
    [
        ["--max-states", "0"],
        ["--nonsense"],
        ["nowhere.py"],
        [__file__],
        ["--only", "nothing", TOYS],
    ],
)
def test_exit_code_64_means_wrong_usage(arguments: list[object]) -> None:
    result = run(*arguments)
    assert result.exit_code == 64
    assert "Error: " in result.output


def test_a_command_is_needed() -> None:
    assert CliRunner().invoke(main, []).exit_code == 64
    assert CliRunner().invoke(main, ["--help"]).exit_code == 0


def test_a_spec_that_cannot_be_run_is_named(tmp_path: Path) -> None:
    file = write(tmp_path, GOOD.replace("start(int)", "start(list)"))
    result = run(file)
    assert result.exit_code == 64
    assert "wheel.Wheel: a state consists of immutable values" in result.output


def test_a_fault_that_cannot_be_run_is_named(tmp_path: Path) -> None:
    result = run(write(tmp_path, GOOD + FAULTY.replace("return 0", "return []")))
    assert result.exit_code == 64
    assert "wheel.fine: a state consists of immutable values" in result.output


def test_json_is_all_that_is_printed(tmp_path: Path) -> None:
    file = write(tmp_path, "print('loading')\n" + dedent(WRONG + FAULTY))
    result = run_process(file, "--json")
    document = json.loads(result.stdout)
    assert "loading" in result.stderr
    assert document["exit_code"] == result.returncode == 1
    by_name = {one["spec"]: one for one in document["specs"]}
    found = {one["name"]: one for one in by_name["wheel.Wrong"]["properties"]}
    assert found["is_not_three"]["verdict"] == "refuted"
    assert len(found["is_not_three"]["counterexample"]["steps"]) == 3
    assert found["in_range"]["counterexample"] is None
    assert document["faults"][0]["caught"] is False


def test_reports_are_written_for_each_counterexample(tmp_path: Path) -> None:
    result = run(write(tmp_path, WRONG), "--report", tmp_path / "out")
    names = sorted(one.name for one in (tmp_path / "out").iterdir())
    stem = "wheel.Wrong.is_not_three"
    assert names == [f"{stem}.html", f"{stem}.json"]
    assert f"report: {tmp_path / 'out' / stem}.html" in result.output


def test_reports_of_one_name_are_all_written(tmp_path: Path) -> None:
    for folder in ("one", "two", "three"):
        (tmp_path / folder).mkdir()
        write(tmp_path / folder, WRONG)
    files = [tmp_path / folder / "wheel.py" for folder in ("one", "two", "three")]
    result = run(*files, "--report", tmp_path / "out")
    stem = "wheel.Wrong.is_not_three"
    pages = {f"{stem}.html", f"{stem}.2.html", f"{stem}.3.html"}
    assert {one.name for one in (tmp_path / "out").glob("*.html")} == pages
    assert len([*(tmp_path / "out").glob("*.json")]) == 3
    assert all(str(tmp_path / "out" / page) in result.output for page in pages)


def test_a_folder_for_reports_that_cannot_be_made_is_wrong_usage(tmp_path: Path) -> None:
    file = write(tmp_path, WRONG)
    result = run(file, "--report", Path(file) / "out")
    assert result.exit_code == 64
    assert "'--report': cannot write into" in " ".join(result.output.split())
    assert "is_not_three" not in result.output  # nothing was searched


def test_only_some_can_be_run(tmp_path: Path) -> None:
    result = run(write(tmp_path, WRONG), "--only", "Wheel")
    assert (result.exit_code, "Wrong" in result.output) == (0, False)


def test_a_folder_is_loaded_as_a_package(tmp_path: Path) -> None:
    result = run(TOYS, "--json")
    document = json.loads(result.stdout)
    assert [one["spec"] for one in document["specs"]] == [
        "ferry.Ferry",
        "lock.LockSpec",
        "peterson.Peterson",
    ]
    assert all(one["caught"] for one in document["faults"])


def test_bases_and_private_modules_are_not_run(tmp_path: Path) -> None:
    write(tmp_path, GOOD.replace("Wheel(Spec):", "_Wheel(Spec):"))
    write(tmp_path, GOOD.replace("Wheel(Spec):", "Wheel(Spec):\n        abstract = True"), "b.py")
    write(tmp_path, GOOD, "_private.py")
    with pytest.raises(SpecError, match="nothing to check"):
        load(tmp_path)
    write(tmp_path, "from .b import Wheel\nclass Real(Wheel): pass\n", "c.py")
    assert [*load(tmp_path).specs] == ["c.Real"]


def test_a_folder_with_an_init_file_is_imported_by_its_name(tmp_path: Path) -> None:
    outer = tmp_path / "outer_package_of_specs"
    inner = outer / "inner"
    inner.mkdir(parents=True)
    write(outer, "LIMIT = 5\n", "__init__.py")
    write(inner, "", "__init__.py")
    write(inner, "from .. import LIMIT\n" + dedent(GOOD))
    assert [*load(inner).specs] == ["wheel.Wheel"]
    assert [*load(outer).specs] == ["inner.wheel.Wheel"]


def test_a_name_that_is_taken_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "json"
    folder.mkdir()
    write(folder, "", "__init__.py")
    write(folder, GOOD, "decoder.py")
    with pytest.raises(SpecError, match="rename the folder"):
        load(folder / "decoder.py")


def test_a_module_that_fails_is_told_with_its_line(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match=r"ZeroDivisionError.*wheel.py, line 2"):
        load(write(tmp_path, "\n1 / 0\n"))


def test_a_changed_file_is_loaded_anew(tmp_path: Path) -> None:
    assert run(write(tmp_path, GOOD)).exit_code == 0
    assert run(write(tmp_path, WRONG)).exit_code == 1


def test_the_manifest_notices_a_smaller_state_space(tmp_path: Path) -> None:
    file = write(tmp_path, GOOD + FAULTY.replace("return 0", "return 7"))
    manifest = tmp_path / "manifest.toml"
    assert run(tmp_path, "--update-manifest").exit_code == 0
    recorded = tomllib.loads(manifest.read_text())
    assert recorded["spec"]["wheel.Wheel"]["states"] == 5
    assert recorded["spec"]["wheel.Wheel"]["properties"]["in_range"] == "confirmed"
    assert recorded["fault"]["wheel.fine"] == {"refuted_by": "in_range", "steps": 0}
    assert run(tmp_path).exit_code == 0
    write(tmp_path, GOOD.replace("% 5", "% 4") + FAULTY.replace("return 0", "return 7"))
    result = run(file)
    assert result.exit_code == 1
    assert "manifest: wheel.Wheel: states is 4, on record 5" in result.output


def test_the_manifest_notices_what_came_and_what_went(tmp_path: Path) -> None:
    file = write(tmp_path, GOOD)
    assert run(file, "--manifest", tmp_path / "other.toml").exit_code == 1
    assert run(tmp_path, "--update-manifest").exit_code == 0
    write(tmp_path, GOOD.replace("Wheel", "Disc"))
    result = run(tmp_path)
    assert "wheel.Disc is not on record" in result.output
    assert "wheel.Wheel is on record but does not exist any more" in result.output
    assert run(tmp_path, "--update-manifest").exit_code == 0
    assert run(tmp_path).exit_code == 0


def test_an_update_of_a_part_keeps_the_rest(tmp_path: Path) -> None:
    write(tmp_path, GOOD, "a.py")
    write(tmp_path, GOOD, "b.py")
    run(tmp_path, "--update-manifest")
    run(tmp_path / "a.py", "--update-manifest")
    assert {*tomllib.loads((tmp_path / "manifest.toml").read_text())["spec"]} == {
        "a.Wheel",
        "b.Wheel",
    }


def test_an_unfinished_run_is_not_recorded(tmp_path: Path) -> None:
    result = run(write(tmp_path, GOOD), "--update-manifest", "--max-states", 2)
    assert result.exit_code == 64
    assert "only a finished run can be recorded" in result.output


def test_a_property_may_have_a_name_in_any_letters(tmp_path: Path) -> None:
    write(tmp_path, GOOD.replace("in_range", "größer"))
    assert run(tmp_path, "--update-manifest").exit_code == 0
    recorded = tomllib.loads((tmp_path / "manifest.toml").read_text(encoding="utf-8"))
    assert recorded["spec"]["wheel.Wheel"]["properties"]["größer"] == "confirmed"
    assert run(tmp_path).exit_code == 0


def test_a_broken_manifest_is_written_anew_if_all_of_it_is(tmp_path: Path) -> None:
    file = write(tmp_path, GOOD)
    manifest = write(tmp_path, "states == 3", "manifest.toml")
    result = run(file, "--update-manifest")
    assert result.exit_code == 64
    assert "is not a manifest" in result.output
    assert manifest.read_text() == "states == 3"
    assert run(tmp_path, "--update-manifest").exit_code == 0
    assert run(tmp_path).exit_code == 0


def test_a_broken_manifest_is_told(tmp_path: Path) -> None:
    write(tmp_path, "states == 3", "manifest.toml")
    result = run(write(tmp_path, GOOD))
    assert result.exit_code == 64
    assert "is not a manifest" in result.output


@pytest.mark.parametrize("init", [None, '"""All of them."""'])
def test_the_shipped_specs_lie_beside_the_package_or_in_it(
    init: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, GOOD, "wheel_of_the_shipped_specs.py")
    if init is not None:
        write(tmp_path, init, "__init__.py")
    monkeypatch.setattr(_load, "SHIPPED", "structsync.specs_of_this_test")
    monkeypatch.setattr(_load, "_beside", lambda: tmp_path)
    try:
        for _ in range(2):
            (spec,) = shipped_specs().specs.values()
            assert spec.__module__ == "structsync.specs_of_this_test.wheel_of_the_shipped_specs"
    finally:
        for name in [one for one in sys.modules if "specs_of_this_test" in one]:
            del sys.modules[name]


def test_a_copy_without_shipped_specs_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_load, "SHIPPED", "structsync.specs_of_this_test")
    monkeypatch.setattr(_load, "_beside", lambda: tmp_path / "missing")
    result = run()
    assert result.exit_code == 64
    assert "comes without its specs" in result.output


def test_ctrl_c_leaves_the_rest_not_started(tmp_path: Path) -> None:
    pressing = """
        import signal

        class Pressing(Wheel):
            @action(when=lambda spec: spec.n == 2)
            def press(self):
                signal.raise_signal(signal.SIGINT)
        """
    file = write(tmp_path, dedent(GOOD) + dedent(pressing) + dedent(FAULTY))
    result = run(file, "--only", "")
    assert result.exit_code == 2
    assert "ended by Ctrl-C" in result.output
    assert "wheel.fine was not started" in result.output


def test_ctrl_c_while_a_module_is_loading_is_not_green(tmp_path: Path) -> None:
    result = run(write(tmp_path, "raise KeyboardInterrupt\n"))
    assert result.exit_code == 2
    assert "nothing is confirmed" in result.output


def test_progress_is_shown_on_a_terminal() -> None:
    console = Console(force_terminal=True, record=True, width=120, file=io.StringIO())
    with SearchLine(console) as line:
        line.start("wheel.Wheel")
        line.update(Progress(1000, 500, 3000, 7, 0.5))
        line._progress.refresh()
    assert "1,000 states  3,000 transitions  6,000/s  depth 7" in console.export_text()


def test_the_command_runs_as_a_process(tmp_path: Path) -> None:
    done = run_process(write(tmp_path, WRONG), "--json")
    assert (done.returncode, done.stderr) == (1, "")
    assert json.loads(done.stdout)["exit_code"] == 1


ENDLESS = """
    import pathlib
    from structsync.checking import Spec, action, invariant, start

    class Endless(Spec):
        n: int = start(int)

        @action
        def count(self):
            self.n += 1
            if self.n == 1000:
                pathlib.Path(__file__).with_suffix(".running").touch()

        @invariant
        def fine(self):
            return True
    """


@pytest.mark.skipif(os.name == "nt", reason="a console's Ctrl-C cannot be sent to one process")
def test_a_real_ctrl_c_ends_the_process_with_two(tmp_path: Path) -> None:
    file = write(tmp_path, ENDLESS)
    with subprocess.Popen(
        [sys.executable, "-m", "structsync.cli", "check", file, "--json"],
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        while not file.with_suffix(".running").exists():
            assert process.poll() is None
        process.send_signal(signal.SIGINT)
        output, _ = process.communicate()
    document: dict[str, Any] = json.loads(output)
    assert process.returncode == document["exit_code"] == 2
    assert document["specs"][0]["stopped_by"] == "Ctrl-C"
