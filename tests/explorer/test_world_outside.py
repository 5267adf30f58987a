"""What a program changes outside is no part of a state, so it is never confirmed in silence."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import trio
from trio.lowlevel import checkpoint

from structsync.testing import Verdict, explore
from structsync.testing._execution.current import changed_outside
from structsync.testing._execution.determinism import controlled

from ..children import environment  # noqa: TID252 - the one home of how a child is started
from .conftest import twice
from .hidden_state import HIDDEN

PIPE = os.pipe()


def folder(file: Path) -> Path:
    """Return one that is there before the test."""
    return file.parent


ACTS: dict[str, tuple[Callable[[Path], object], str]] = {
    "writes a file": (lambda file: file.write_text("x"), "opens '.*' for writing"),
    "appends to a file": (lambda file: file.open("a").close(), "opens '.*' for writing"),
    "opens a descriptor": (
        lambda file: os.close(os.open(file, os.O_CREAT | os.O_WRONLY)),
        "opens '.*' for writing",
    ),
    "makes a folder": (lambda file: file.mkdir(exist_ok=True), "makes a folder"),
    "removes a file": (lambda file: file.unlink(missing_ok=True), "removes a file"),
    "opens a database": (lambda file: sqlite3.connect(file).close(), "opens a database"),
    "sets a variable": (
        lambda file: os.environ.__setitem__("STRUCTSYNC_OUTSIDE", "1"),
        "changes the environment",
    ),
    "changes a mode": (lambda file: os.chmod(folder(file), 0o700), "changes the mode of a file"),
    "changes times": (lambda file: os.utime(folder(file), (1, 2)), "changes the times of a file"),
    "changes the mask": (lambda file: os.umask(0o22), r"calls os.umask\(\)"),
    "writes to a pipe": (lambda file: os.write(PIPE[1], b"1"), r"calls os.write\(\)"),
    "reads from a pipe": (
        lambda file: os.write(PIPE[1], b"1") and os.read(PIPE[0], 1),
        r"calls os.write\(\)",
    ),
}


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STRUCTSYNC_OUTSIDE", "0")


@pytest.mark.parametrize("name", ACTS)
def test_what_is_changed_outside_is_said_with_its_place(name: str, tmp_path: Path) -> None:
    act, what = ACTS[name]
    found = explore(twice(lambda: act(tmp_path / "file")), cancels=0)
    assert found.verdict is Verdict.UNFINISHED
    assert found.unfinished is not None
    assert pytest.raises(AssertionError, match=what).matches(AssertionError(found.unfinished))
    assert f"{Path(__file__).name}:" in found.unfinished
    assert "outside='ignore'" in found.unfinished


@pytest.mark.parametrize("name", ACTS)
def test_it_may_be_ignored(name: str, tmp_path: Path) -> None:
    act, _ = ACTS[name]
    found = explore(twice(lambda: act(tmp_path / "file")), cancels=0, outside="ignore")
    assert found.verdict is Verdict.CONFIRMED


_of_a_tool: dict[str, Any] = {"__name__": "coverage.control", "os": os}
exec("def of_a_tool(): os.umask(os.umask(0o22))", _of_a_tool)

HARMLESS: dict[str, Callable[[], object]] = {
    "what a tool does by itself": _of_a_tool["of_a_tool"],
    "reading a file": lambda: Path(__file__).read_text(encoding="utf-8"),
    "a database in memory": lambda: sqlite3.connect(":memory:").close(),
    "an import": lambda: __import__("wave"),
    "reading the environment": lambda: os.environ.get("HOME"),
}


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.unmeasured] if name == "an import" else [])
        for name in HARMLESS
    ],
)
def test_what_changes_nothing_outside_is_confirmed(name: str) -> None:
    found = explore(twice(HARMLESS[name]), cancels=0)
    assert found.verdict is Verdict.CONFIRMED, found.unfinished


def test_what_an_import_writes_for_the_next_one_is_no_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "imported_while_exploring.py").write_text("x = 1\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    found = explore(twice(lambda: __import__("imported_while_exploring")), cancels=0)
    assert [*tmp_path.glob("__pycache__/*.pyc")]
    assert found.verdict is Verdict.CONFIRMED


def test_what_a_library_does_in_a_task_of_its_own_is_noted_without_a_place(tmp_path: Path) -> None:
    """Nor is a line of this test on the stack, as where the command or pytest explores."""

    async def program() -> None:
        stack = contextlib.AsyncExitStack()
        stack.callback(os.makedirs, tmp_path / "folder", exist_ok=True)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(stack.aclose)
            nursery.start_soon(checkpoint)

    with ThreadPoolExecutor() as pool:
        found = pool.submit(explore, program, cancels=0).result()
    assert found.verdict is Verdict.UNFINISHED
    assert found.unfinished is not None
    assert "makes a folder in a library's code, which it does not call itself" in found.unfinished


MEASURED = """
import trio
from structsync.testing import explore

@explore(cancels=0)
async def test_two_of_them() -> None:
    async def imports() -> None:
        __import__("wave")

    async with trio.open_nursery() as nursery:
        nursery.start_soon(imports)
        nursery.start_soon(imports)
"""


def test_what_measures_coverage_is_no_part_of_a_program(tmp_path: Path) -> None:
    """It remembers files, and where each test is one of its contexts it opens its database meanwhile."""
    (tmp_path / "test_measured.py").write_text(MEASURED)
    (tmp_path / "coveragerc").write_text("[run]\ndynamic_context = test_function\n")
    measured = [sys.executable, "-m", "coverage", "run", "--rcfile", "coveragerc"]
    apart = {name: "" for name in os.environ if name.startswith("COVERAGE_")}
    ran = subprocess.run(
        [*measured, "-m", "pytest", "-p", "no:cacheprovider"],
        cwd=tmp_path,
        env=environment() | apart,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "\nconfirmed  " in ran.stdout, ran.stdout


def test_what_is_done_between_executions_is_not_the_programs() -> None:
    with controlled():
        os.umask(os.umask(0o22))
        assert changed_outside() is None


def test_a_failure_stays_a_failure() -> None:
    found = explore(HIDDEN["the environment"].program(), cancels=0)
    assert found.verdict is Verdict.REFUTED


def test_one_exploration_is_not_blamed_for_another(tmp_path: Path) -> None:
    explore(twice(lambda: (tmp_path / "file").write_text("x")), cancels=0)
    assert explore(twice(lambda: None), cancels=0).verdict is Verdict.CONFIRMED
