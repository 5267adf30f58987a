"""`structsync explore`, as a process of its own: what it finds, what it prints, how it ends."""

from __future__ import annotations

import dataclasses
import json
import os
import pty
import re
import shlex
import signal
import subprocess
import sys
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
from click.testing import CliRunner

from structsync.report import from_json
from structsync.testing import Settings, _runner
from structsync.testing._command.command import explore as command

from ..children import environment, structsync_command  # noqa: TID252 - the one home of how a child is started

PROGRAM = """
    import trio
    from structsync.testing import explore

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

    async def of_any_arguments(*orders, **others):
        await crossing("ab", "ab")

    @explore(cancels=0)
    async def test_one_order():
        await crossing("ab", "ab")

    class TestOfAClass:
        @explore(executions=1)
        async def test_cut_short(self, x):
            x.watch()
            await crossing("ab", "ab")

    async def any_order():
        await crossing("ab", "ba")

    async def not_cancelled():
        "A task that is cancelled alone leaves the others waiting forever."
        done = trio.Event()

        async def setter():
            await trio.lowlevel.checkpoint()
            done.set()

        async with trio.open_nursery() as nursery:
            nursery.start_soon(setter)
            nursery.start_soon(done.wait)

    async def endless():
        print("endless")
        await crossing(*["ab"] * 9)

    def plain():
        pass

    async def with_parameters(first, second):
        pass
"""
WITH_FIXTURE = """
    from structsync.testing import explore

    @explore()
    async def test_with_a_fixture(pool):
        pass
"""

CLASSES = """
    import trio
    from structsync.testing import explore

    async def together():
        async with trio.open_nursery() as nursery:
            for _ in range(2):
                nursery.start_soon(trio.lowlevel.checkpoint)

    class Asks:
        def __init__(self, number):
            self.number = number

        @explore(cancels=0)
        async def test_method(self):
            await together()

    class TestOfAClass:
        @explore(cancels=0)
        async def test_method(self):
            await together()

        @staticmethod
        @explore(cancels=0)
        async def test_static():
            await together()
"""
BARE = """
    from classes import explore, together

    at_once = explore(together)
"""
CALLS = """
    from unittest.mock import call
    from classes import explore, together

    test_function = explore(cancels=0)(together)
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A working directory with programs to explore."""
    (tmp_path / "program.py").write_text(dedent(PROGRAM))
    (tmp_path / "needs.py").write_text(dedent(WITH_FIXTURE))
    (tmp_path / "broken.py").write_text("import nowhere_at_all\n")
    (tmp_path / "classes.py").write_text(dedent(CLASSES))
    (tmp_path / "bare.py").write_text(dedent(BARE))
    (tmp_path / "calls.py").write_text(dedent(CALLS))
    (tmp_path / "leaves.py").write_text("import sys\nsys.exit(0)\n")
    (tmp_path / "programs").mkdir()
    return tmp_path


def explore(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return structsync_command("explore", *arguments, cwd=folder)


def in_json(folder: Path, *arguments: str) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(explore(folder, *arguments, "--json").stdout)
    return document


# ==== targets and exit codes ====


@pytest.mark.parametrize(
    ("target", "code", "verdict"),
    [
        ("program:test_one_order", 0, "confirmed"),
        ("program.py:test_one_order", 0, "confirmed"),
        ("program:of_any_arguments", 0, "confirmed"),
        ("program:any_order", 1, "refuted"),
        ("program.py:TestOfAClass.test_cut_short", 2, "not finished"),
    ],
)
def test_the_exit_code_is_the_verdict(folder: Path, target: str, code: int, verdict: str) -> None:
    ran = explore(folder, target)
    assert ran.returncode == code, ran.stderr
    assert re.search(rf"^{verdict} +{re.escape(target)} *$", ran.stdout, re.MULTILINE)


def test_a_module_stands_for_all_decorated_functions_in_it(folder: Path) -> None:
    found = in_json(folder, "program")
    names = ["program:test_one_order", "program:TestOfAClass.test_cut_short"]
    assert [one["test"] for one in found["explored"]] == names
    assert found["exit_code"] == 2


def test_a_module_of_a_package_is_found_by_file_and_by_name(folder: Path) -> None:
    package = folder / "package"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "common.py").write_text(dedent(PROGRAM))
    (package / "tests.py").write_text("from .common import test_one_order as test_here\n")
    by_file = explore(package, "tests.py:test_here")
    assert by_file.returncode == 0, by_file.stderr
    assert explore(folder, "package.tests").returncode == 0


@pytest.mark.parametrize(
    "name", ["program.py::test_one_order", "program.py::TestOfAClass::test_cut_short"]
)
def test_a_test_may_be_named_as_pytest_does(folder: Path, name: str) -> None:
    ran = explore(folder, name)
    assert ran.returncode in (0, 1, 2), ran.stderr
    assert name in ran.stdout


def test_several_targets_are_explored_and_the_worst_decides(folder: Path) -> None:
    ran = explore(folder, "program:test_one_order", "program:any_order", "program")
    assert ran.returncode == 1
    verdicts = re.findall(r"^(confirmed|refuted|not finished) +program:", ran.stdout, re.MULTILINE)
    assert sorted(verdicts) == ["confirmed", "confirmed", "not finished", "refuted"]


SET_UP = """
    import unittest
    import pytest
    from structsync.testing import explore

    class TestOfPytest:
        def setup_method(self):
            self.tasks = 2

        @explore()
        async def test_method(self):
            assert self.tasks == 2

    class TestOfUnittest(unittest.TestCase):
        def setUp(self):
            self.tasks = 2

        @explore()
        async def test_method(self):
            assert self.tasks == 2

    @explore()
    async def test_skip():
        pytest.skip("not today")
"""


def test_what_a_test_runner_sets_up_or_skips_is_not_explored(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(dedent(SET_UP))
    ran = structsync_command("explore", "--json", "program.py", cwd=tmp_path)
    assert ran.returncode == 2, ran.stderr
    assert json.loads(ran.stdout)["not_explored"] == {
        "program.py:TestOfPytest.test_method": "is set up by setup_method(), which pytest calls",
        "program.py:TestOfUnittest.test_method": "is a test of unittest, which sets it up",
        "program.py:test_skip": "skips itself: not today",
    }


def test_what_needs_pytest_is_named_and_nothing_is_confirmed(folder: Path) -> None:
    ran = explore(folder, "needs", "program:test_one_order")
    assert ran.returncode == 2
    assert "takes 'pool', which pytest has a value for" in ran.stdout


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ([], "Missing argument"),
        (["program.py::absent"], "program.py has no 'absent'; decorated in it: test_one_order"),
        (["program.py::test_one_order[1]"], "has parameters, which only pytest has values for"),
        (["program:absent"], "program has no 'absent'; decorated in it: test_one_order, TestOfA"),
        (["program:plain"], "program:plain is no async function but function"),
        (
            ["program:with_parameters"],
            "takes 'first', 'second', which pytest has a value for, if at all: run it there",
        ),
        (["bare:at_once"], "at_once was explored while it was imported, and is no test"),
        (
            ["nowhere"],
            "nowhere cannot be imported: ModuleNotFoundError: No module named 'nowhere'\n",
        ),
        (["."], ". is a folder: name files in it, such as *.py"),
        (["programs/"], "programs/ is a folder: name files in it, such as programs/*.py"),
        (["nowhere.py"], "there is no file nowhere.py"),
        (["leaves"], "leaves cannot be imported: SystemExit: 0 (raised in"),
        (
            ["classes:Asks.test_method"],
            "no instance of Asks for its method 'test_method': Asks() raises TypeError: ",
        ),
        (
            ["program", "--report", "program.py/pages"],
            "--report must be a folder that can be made: ",
        ),
        (["broken"], "No module named 'nowhere_at_all' (raised in"),
        (["json"], "nothing in json is decorated with @explore()"),
        (["json.py"], "there is no file json.py"),
        (["program", "--replay", "x1a::1.abcd"], "--replay is for one function, and 2 are given"),
        (["program:any_order", "--replay", "abc"], "'abc' is no schedule token"),
        (["program:any_order", "--cancels", "-1"], "cancels must be an int >= 0, not -1"),
        (["program:any_order", "--seconds", "soon"], "'soon' is neither a number nor 'none'"),
        (["program:any_order", "--order", "lifo"], "'lifo' is not one of 'any', 'trio'"),
        (["program:any_order", "--exhaustive"], "No such option"),
    ],
)
def test_wrong_usage_is_exit_code_64(folder: Path, arguments: list[str], text: str) -> None:
    ran = explore(folder, *arguments)
    assert ran.returncode == 64
    assert text in ran.stderr
    assert ran.stdout == ""


def test_of_a_module_only_the_class_that_is_asked_for_makes_an_instance(folder: Path) -> None:
    """And what has any attribute, as unittest.mock.call has, is not taken for a decorated function."""
    ran = explore(folder, "classes:TestOfAClass.test_method", "classes:TestOfAClass.test_static")
    assert ran.returncode == 0, ran.stderr
    assert explore(folder, "calls").returncode == 0


def test_a_file_that_another_module_hides_is_refused(folder: Path) -> None:
    (folder / "click.py").write_text(dedent(PROGRAM))
    ran = subprocess.run(
        [sys.executable, "-c", "from structsync.cli import main; main()", "explore", "click.py"],
        cwd=folder,
        env={**environment(), "PYTHONSAFEPATH": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 64
    assert "click.py would be imported as click, which is already" in ran.stderr


# ==== options ====


def test_each_setting_is_an_option_with_its_choices_and_its_default(folder: Path) -> None:
    shown = " ".join(explore(folder, "--help").stdout.split())
    for field in dataclasses.fields(Settings):
        # the exit code says the one; the other is no setting of a whole search
        if field.name not in ("exhaustive", "shard"):
            option = "--" + field.name.replace("_", "-")
            assert option in shown
            default = {"True": "on", "False": "off", "None": "none"}.get(
                str(field.default), str(field.default)
            )
            assert f"[default: {default}]" in shown.partition(option)[2]
    assert "--order [any|trio]" in shown
    assert "--executions INT|none" in shown
    assert "End after this many executions, not finished; none: no bound." in shown


@pytest.mark.slow
@pytest.mark.parametrize(
    ("option", "name", "value"),
    [
        ("--cancels=2", "cancels", 2),
        ("--cancel=tasks", "cancel", "tasks"),
        ("--no-symmetry", "symmetry", False),
        ("--executions=none", "executions", None),
        ("--seconds=60", "seconds", 60.0),
        ("--max-steps=999", "max_steps", 999),
    ],
)
def test_an_option_wins_over_the_decorator(
    folder: Path, option: str, name: str, value: object
) -> None:
    before, after = (
        in_json(folder, "program:test_one_order", *asked)["explored"][0]["settings"]
        for asked in ([], [option])
    )
    assert before["cancels"] == 0
    assert before != after
    assert after == {**before, name: value}


@pytest.mark.slow
def test_the_command_in_a_failure_replays_it_with_its_options(folder: Path) -> None:
    target = "program:not_cancelled"
    assert explore(folder, target).returncode == 0
    failed = explore(folder, target, "--cancel=tasks", "--no-symmetry", "--executions=none")
    assert failed.returncode == 1
    (command,) = re.findall("^structsync explore .*", failed.stdout, re.MULTILINE)
    assert "--cancel=tasks --no-symmetry --executions=none" in command
    again = explore(folder, *shlex.split(command)[2:])
    assert again.returncode == 1
    assert "one schedule was replayed" in again.stdout


def test_a_replay_counts_no_executions(folder: Path) -> None:
    failed = in_json(folder, "program:any_order", "--cancels=0")
    again = explore(
        folder, "program:any_order", "--replay", failed["explored"][0]["failure"]["token"]
    )
    assert again.returncode == 1
    assert "not exhaustive: one schedule was replayed: order=any" in again.stdout
    assert "executions in" not in again.stdout  # it has searched nothing


@pytest.mark.slow
def test_a_schedule_that_does_not_fail_any_more_is_no_confirmation(folder: Path) -> None:
    failed = in_json(folder, "program:any_order", "--cancels=0")
    token = failed["explored"][0]["failure"]["token"]
    program = folder / "program.py"
    # Longer by a comma: of the same size in the same second, the old bytecode would still be valid.
    program.write_text(program.read_text().replace('crossing("ab", "ba")', 'crossing("ab", "ab",)'))
    ran = explore(folder, "program:any_order", "--replay", token)
    assert ran.returncode in (2, 64)


# ==== what it prints ====


def test_json_is_all_that_is_printed_and_has_the_counterexample(folder: Path) -> None:
    """What the test itself prints goes where the errors go."""
    ran = explore(folder, "program:any_order", "--cancels=0", "--json")
    document = json.loads(ran.stdout)
    assert "takes ab" in ran.stderr
    assert document["format"] == "structsync.explore/1"
    (one,) = document["explored"]
    assert (one["verdict"], one["failure"]["kind"]) == ("refuted", "deadlock")
    shown = from_json(one["failure"]["counterexample"])
    assert shown.steps
    assert one["failure"]["token"] in shown.replay


def test_a_report_is_written_for_each_failure(folder: Path) -> None:
    ran = explore(folder, "program:any_order", "program:test_one_order", "--report", "pictures")
    files = sorted((folder / "pictures").iterdir())
    assert [one.suffix for one in files] == [".html", ".json"]
    assert f"report: pictures/{files[0].name}" in ran.stdout


def test_two_functions_whose_names_look_alike_get_reports_of_their_own(folder: Path) -> None:
    alike = ["program:any_order", "./program.py:any_order", "program.py:any_order"]
    explore(folder, *alike, "--report", "pictures")
    assert len([*(folder / "pictures").iterdir()]) == 6


def test_a_bar_shows_the_search_on_a_terminal_and_is_gone_at_the_end(folder: Path) -> None:
    ours, its = pty.openpty()
    target = "program:not_cancelled"
    command = [sys.executable, "-m", "structsync.cli", "explore", target, "--search=plain"]
    started = subprocess.Popen(
        command, cwd=folder, env={**environment(), "TERM": "xterm"}, stdout=its, stderr=its
    )
    os.close(its)
    written = b""
    while piece := _read(ours):
        written += piece
    started.wait()
    os.close(ours)
    shown = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", written.decode())
    assert re.search(r"program:not_cancelled .*[\d,]+ executions  [\d,]+ states  [\d,]+/s", shown)
    # The line is erased: what stays on the screen is the table.
    assert "\x1b[2K" in written.decode().rpartition("executions  ")[2]


def _read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, 4096)
    except OSError:  # EIO: the other end is closed
        return b""


def test_ctrl_c_ends_with_what_was_found_so_far(folder: Path) -> None:
    arguments = ["program:test_one_order", "program:endless", "program:any_order"]
    arguments += ["--executions=none", "--search=plain", "--json"]
    started = subprocess.Popen(
        [sys.executable, "-m", "structsync.cli", "explore", *arguments],
        cwd=folder,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert started.stderr is not None
    while started.stderr.readline() != "endless\n":
        pass
    started.send_signal(signal.SIGINT)
    printed, _ = started.communicate()
    document = json.loads(printed)
    verdicts = {one["test"]: one["verdict"] for one in document["explored"]}
    assert verdicts == {"program:test_one_order": "confirmed", "program:endless": "not finished"}
    assert "Ctrl-C" in document["explored"][1]["covered"]
    assert document["not_explored"] == {"program:any_order": "not started"}
    assert started.returncode == 2


def test_a_report_that_cannot_be_written_any_more_hides_no_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> list[Path]:
        raise OSError("no space left")

    (tmp_path / "program_of_one.py").write_text(dedent(PROGRAM))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(_runner, "write_report", full)
    ran = CliRunner().invoke(command, ["program_of_one:any_order", "--report", "pages"])
    assert ran.exit_code == 1, ran.output
    assert "DEADLOCK" in ran.output
    assert "report: not written: no space left" in ran.output
