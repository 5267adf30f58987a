"""What pytest's command line asks of explored tests, and what it gets told."""

from __future__ import annotations

import os
import pty
import re
import shlex
import signal
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path
from textwrap import dedent

import pytest

from structsync.report import from_json

from ..children import environment  # noqa: TID252 - the one home of how a child is started
from .test_pytest_inside import HEAD, Ran, run

PROGRAM = """
    @explore(cancels=0)
    async def test_that_two_locks_are_taken_in_one_order():
        await crossing("ab", "ab")

    @pytest.mark.parametrize("second", ["ba"])
    @explore(cancels=0)
    async def test_that_two_locks_are_taken_in_any_order(second):
        await crossing("ab", second)

    @explore(executions=1)
    async def test_that_is_cut_short():
        await crossing("ab", "ab")

    def test_that_is_not_explored():
        pass

    async def crossing(*orders):
        locks = {"a": trio.Lock(), "b": trio.Lock()}

        async def worker(order):
            async with locks[order[0]]:
                print("takes", order)
                async with locks[order[1]]:
                    pass

        async with trio.open_nursery() as nursery:
            for order in orders:
                nursery.start_soon(worker, order)
"""
GREEN = "test_program.py::test_that_two_locks_are_taken_in_one_order"
RED = "test_program.py::test_that_two_locks_are_taken_in_any_order[ba]"
CUT = "test_program.py::test_that_is_cut_short"


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    """A run with reports, of which several tests look at one part each."""
    folder = tmp_path_factory.mktemp("plain")
    return run(folder, PROGRAM, "--explore-report=pictures", "--junitxml=junit.xml")


def test_the_summary_tells_the_verdict_and_what_was_covered(plain: Ran) -> None:
    assert plain.outcomes == {"passed": 3, "failed": 1, "warning": 1}, plain.printed
    lines = plain.section("schedules explored").strip().splitlines()
    # What does not fit beside the name stands below it.
    assert lines[:2] == [
        f"confirmed     {GREEN}",
        f"{'':14}exhaustive: 6 executions, order=any, cancels<=0",
    ]
    assert lines[2:4] == [
        f"refuted       {RED}",
        f"{'':14}deadlock; not exhaustive: stopped at the first failure: 4 executions, order=any, cancels<=0",
    ]
    assert lines[5:7] == [
        f"not finished  {CUT}",
        f"{'':14}not exhaustive: stopped after executions=1: 8 states, 1 execution, order=any, cancels<=1 (scopes)",
    ]
    assert len(lines) == 7


def test_a_search_that_ended_early_warns_at_the_line_of_the_test(plain: Ran) -> None:
    warnings = plain.section("warnings summary")
    number = HEAD.count("\n") + PROGRAM[: PROGRAM.index("@explore(executions=1)")].count("\n")
    assert f"test_program.py:{number + 1}: NotExhaustiveWarning: {CUT}" in warnings


def test_a_failure_shows_the_schedule_and_nothing_of_the_explorer(plain: Ran) -> None:
    shown = plain.section("FAILURES")
    assert "DEADLOCK" in shown
    assert "worker#0" in shown
    assert "structsync/testing" not in shown
    assert len(shown.splitlines()) < 60
    assert "deadlock: " in plain.section("short test summary info")


def test_a_failure_in_one_line_names_the_place_of_the_test(tmp_path: Path) -> None:
    ran = run(tmp_path, PROGRAM, RED, "--tb=line")
    number = HEAD.count("\n") + PROGRAM[: PROGRAM.index("@pytest.mark.param")].count("\n") + 1
    assert f"test_program.py:{number}: deadlock: " in ran.printed


LOOKS = """
    import pytest

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(item, call):
        report = yield
        if report.longrepr:
            print("the conftest sees", report.outcome, str(report.longrepr).splitlines()[0])
        return report
"""


@pytest.mark.slow
def test_a_conftest_sees_the_report_as_it_is_shown(tmp_path: Path) -> None:
    """Also of a test that is expected to fail."""
    program = PROGRAM.replace("@pytest.mark.param", "@pytest.mark.xfail\n    @pytest.mark.param")
    for text, outcome in ((PROGRAM, "failed"), (program, "skipped")):
        ran = run(tmp_path, text, RED, "-s", conftest=LOOKS)
        assert f"the conftest sees {outcome} deadlock: " in ran.printed


def test_the_command_in_a_failure_replays_it(plain: Ran) -> None:
    (command,) = re.findall(r"^E +(pytest .*--explore-replay.*)$", plain.printed, re.MULTILINE)
    program, *arguments = shlex.split(command)
    assert program == "pytest"
    assert arguments[0] == RED
    again = run(plain.folder, PROGRAM, *arguments)
    assert again.outcomes == {"failed": 1}
    assert "DEADLOCK" in again.section("FAILURES")


def test_a_replay_of_a_test_that_is_cured_passes_without_a_claim(
    plain: Ran, tmp_path: Path
) -> None:
    """It is the schedule of the failure, run to the same length, that does not fail any more."""
    (token,) = re.findall(r"--explore-replay '?([^'\s]+)", plain.section("FAILURES"))
    cured = PROGRAM.replace('"ab", second', '"ab", "ab"')
    ran = run(tmp_path, cured, RED, "--explore-replay", token)
    assert "confirmed" not in ran.section("schedules explored")


def test_the_report_is_written_as_a_page_and_as_data(plain: Ran) -> None:
    files = sorted((plain.folder / "pictures").iterdir())
    assert [one.suffix for one in files] == [".html", ".json"]
    assert all("any_order_ba" in one.name for one in files)
    import json

    stored = from_json(json.loads(files[1].read_text()))
    assert stored.spec == RED
    assert "--explore-replay" in stored.replay
    assert files[0].read_text().startswith("<!")
    assert str(files[0]) in plain.section("schedules explored")


def test_a_junit_file_has_what_the_summary_has(plain: Ran) -> None:
    cases = ET.parse(plain.folder / "junit.xml").getroot().iter("testcase")
    verdicts = {
        case.attrib["name"]: one.attrib["value"]
        for case in cases
        for one in case.iter("property")
        if one.attrib["name"] == "explored_verdict"
    }
    assert list(verdicts.values()) == ["confirmed", "refuted", "not finished"]


@pytest.mark.slow
def test_quiet_runs_show_only_what_is_not_confirmed(tmp_path: Path) -> None:
    shown = run(tmp_path, PROGRAM, "-q").section("schedules explored")
    assert GREEN not in shown
    assert RED in shown
    assert CUT in shown
    green = run(tmp_path, PROGRAM, "-q", GREEN)
    assert "schedules explored" not in green.printed


@pytest.mark.parametrize(
    "asked",
    [
        pytest.param(["--explore-exhaustive"], id="option"),
        pytest.param(
            ["-o", "explore_exhaustive=true"], id="configuration file", marks=pytest.mark.slow
        ),
    ],
)
def test_what_is_not_exhaustive_can_be_made_to_fail(tmp_path: Path, asked: list[str]) -> None:
    ran = run(tmp_path, PROGRAM, *asked, GREEN, CUT)
    assert ran.outcomes == {"passed": 1, "failed": 1}, ran.printed
    assert f"E   {CUT}: not exhaustive: " in ran.section("FAILURES")


def test_options_win_over_the_settings_of_a_test(tmp_path: Path) -> None:
    ran = run(tmp_path, PROGRAM, "--explore-executions=400", "--explore-order=trio", GREEN, CUT)
    assert ran.outcomes == {"passed": 2}, ran.printed
    shown = ran.section("schedules explored")
    assert shown.count("\nconfirmed ") == 2
    assert shown.count("order=trio") == 2


OF_UNITTEST = """
    import unittest

    class TestOfUnittest(unittest.TestCase):
        def setUp(self):
            self.workers = 2

        @explore()
        async def test_method(self):
            async with trio.open_nursery() as nursery:
                for _ in range(self.workers):
                    nursery.start_soon(trio.sleep, 0)
"""


def test_options_hold_for_a_test_of_unittest_as_for_any_other(tmp_path: Path) -> None:
    bounded = ["--explore-executions=1", "--explore-exhaustive"]
    ran = run(tmp_path, OF_UNITTEST, *bounded, "-W", "error", "--junitxml=junit.xml")
    assert ran.outcomes == {"failed": 1}, ran.printed
    name = "test_program.py::TestOfUnittest::test_method"
    assert f"E   {name}: not exhaustive: " in ran.section("FAILURES")
    assert f"not finished  {name}" in ran.section("schedules explored")
    told = {one.get("name") for one in ET.parse(tmp_path / "junit.xml").iter("property")}
    assert told == {"explored", "explored_verdict"}


def test_a_token_is_replayed_in_a_test_of_unittest_too(tmp_path: Path) -> None:
    ran = run(tmp_path, OF_UNITTEST, "--explore-replay=x1a:0rnobody#1:4.0000")
    assert ran.outcomes == {"failed": 1}, ran.printed
    assert "no longer applies" in ran.section("FAILURES")


def test_a_bound_in_seconds_ends_a_search(tmp_path: Path) -> None:
    program = PROGRAM.replace('"ab", "ab"', '*["ab"] * 6').replace("cancels=0", "search='plain'")
    ran = run(tmp_path, program, "--explore-seconds=0.01", GREEN)
    assert "\nnot finished " in ran.section("schedules explored"), ran.printed


# ==== progress ====

# As if searches took long: the first line is due at once.
SOON = """
    from structsync.testing import _exploration, _runner

    _runner._FIRST_LIVE = _runner._EVERY_LIVE = _runner._EVERY_LOG = 0.0
    explore = _exploration.run

    def run(fn, settings, *, progress=None, **others):
        found = explore(fn, settings, progress=progress, **others)
        progress(found)
        return found

    _exploration.run = run
"""


def on_a_terminal(folder: Path, *arguments: str) -> str:
    """Run pytest with a terminal of its own, and return all that it wrote to it."""
    ours, its = pty.openpty()
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *arguments]
    started = subprocess.Popen(
        command, cwd=folder, env=environment(), stdin=its, stdout=its, stderr=its
    )
    os.close(its)
    written = b""
    while piece := _read(ours):
        written += piece
    started.wait()
    os.close(ours)
    return written.decode()


def _read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, 4096)
    except OSError:  # EIO: the other end is closed
        return b""


def screen(written: str) -> str:
    """What stands on a terminal in the end: it knows line ends, returns, and one line up."""
    lines, row, column = [""], 0, 0
    # Colours, and the progress that pytest tells the window (OSC 9;4), take no place.
    plain = re.sub(r"\x1b\[[0-9;]*m|\x1b\].*?\x1b\\", "", written)
    for piece in re.findall(r"\x1b\[A|[\r\n]|[^\r\n\x1b]+", plain):
        if piece == "\n":
            row, column = row + 1, 0
            lines += [""] * (row == len(lines))
        elif piece == "\r":
            column = 0
        elif piece == "\x1b[A":
            row -= 1
        else:
            line = lines[row].ljust(column)
            lines[row] = line[:column] + piece + line[column + len(piece) :]
            column += len(piece)
    return "\n".join(line.rstrip() for line in lines)


@pytest.mark.parametrize("color", ["yes", pytest.param("no", marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    ("verbosity", "line"),
    [
        pytest.param("-v", f"{RED} FAILED", id="verbose"),
        pytest.param("--verbosity=0", "test_program.py F", id="dots", marks=pytest.mark.slow),
    ],
)
def test_a_long_search_shows_a_line_on_a_terminal_and_takes_it_away(
    tmp_path: Path, color: str, verbosity: str, line: str
) -> None:
    (tmp_path / "test_program.py").write_text(dedent(HEAD) + dedent(PROGRAM))
    (tmp_path / "conftest.py").write_text(dedent(SOON))
    written = on_a_terminal(tmp_path, RED, f"--color={color}", verbosity)
    shown = re.findall(r"\rexploring (\S+): ([\d,]+) executions, ", written)
    assert {name for name, _ in shown} == {RED}
    assert "exploring " not in screen(written)
    assert re.search(rf"^{re.escape(line)} ", screen(written), re.MULTILINE), screen(written)


def test_a_long_search_writes_lines_into_a_log(tmp_path: Path) -> None:
    ran = run(tmp_path, PROGRAM, conftest=SOON)
    assert re.search(rf"^exploring {re.escape(RED)}: \d+ executions", ran.printed, re.MULTILINE)
    assert "exploring" not in ran.section("FAILURES")
    assert "takes ba" in ran.section("FAILURES").partition("Captured stdout")[2]


@pytest.mark.parametrize(
    "arguments",
    [
        ["-q"],
        pytest.param(["-p", "no:terminal"], marks=pytest.mark.slow),
        pytest.param(["-s"], marks=pytest.mark.slow),
        pytest.param(["-p", "no:capture"], marks=pytest.mark.slow),
    ],
)
def test_progress_does_not_need_what_is_switched_off(tmp_path: Path, arguments: list[str]) -> None:
    ran = run(tmp_path, PROGRAM, *arguments, GREEN, conftest=SOON)
    assert ran.code == 0, ran.printed
    assert ("exploring" in ran.printed) == (arguments[-1] in ("-s", "no:capture"))


ENDLESS = """
    @explore(search="plain", executions=None)
    async def test_endless():
        print("endless", flush=True)
        await crossing(*["ab"] * 9)
"""


def test_ctrl_c_ends_pytest_with_what_was_found_so_far(tmp_path: Path) -> None:
    program = dedent(HEAD) + dedent(ENDLESS) + dedent(PROGRAM)
    (tmp_path / "test_program.py").write_text(program)
    started = subprocess.Popen(
        [sys.executable, "-m", "pytest", "-s", "-p", "no:cacheprovider"],
        cwd=tmp_path,
        env=environment(),
        stdout=subprocess.PIPE,
        text=True,
    )
    assert started.stdout is not None
    while "endless" not in started.stdout.readline():
        pass
    started.send_signal(signal.SIGINT)
    printed, _ = started.communicate()
    ran = Ran(started.returncode, printed, tmp_path)
    assert ran.code == pytest.ExitCode.INTERRUPTED
    assert ran.outcomes == {"passed": 1, "warning": 1}, printed[-3000:]
    shown = ran.section("schedules explored")
    assert re.search(
        r"^not finished  test_program.py::test_endless\n +.*Ctrl-C", shown, re.MULTILINE
    )


def test_a_report_that_cannot_be_written_any_more_hides_no_failure(tmp_path: Path) -> None:
    full = """
        from structsync.testing import _runner

        def write_report(*_):
            raise OSError("no space left")

        _runner.write_report = write_report
    """
    ran = run(tmp_path, PROGRAM, RED, "--explore-report=pictures", conftest=full)
    assert ran.outcomes == {"failed": 1}, ran.printed
    assert "DEADLOCK" in ran.section("FAILURES")
    assert "report: not written: no space left" in ran.printed
