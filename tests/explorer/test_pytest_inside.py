"""Explored tests run by a real pytest in a process of its own: parameters, classes, neighbours.

What an execution does is written into a file: it must not be part of the state of the program,
which would then be a new one in each execution.
"""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent

import pytest

from ..children import environment, pytest_command  # noqa: TID252 - the one home of how a child is started

HEAD = """
    import pytest, trio, structsync
    from structsync.testing import explore

    NOTES = open("notes", "a")  # once: the explorer notes what a program itself opens

    def note(text):
        NOTES.write(text + "\\n")
        NOTES.flush()

    async def two_tasks():
        async with trio.open_nursery() as nursery:
            nursery.start_soon(trio.lowlevel.checkpoint)
            nursery.start_soon(trio.lowlevel.checkpoint)
"""


@dataclass(frozen=True)
class Ran:
    """What a pytest has printed, and how it ended."""

    code: int
    printed: str
    folder: Path

    @property
    def outcomes(self) -> dict[str, int]:
        last = re.findall(r"^=* ?(\d+ .*) in [\d.]+s", self.printed, re.MULTILINE)[-1]
        return {word.rstrip("s"): int(n) for n, word in re.findall(r"(\d+) (\w+)", last)}

    @property
    def notes(self) -> list[str]:
        return (self.folder / "notes").read_text().splitlines()

    def section(self, title: str) -> str:
        """The lines under a headline of pytest's, up to the next one."""
        parts = re.split(r"^=+ (.*?) =+$", self.printed, flags=re.MULTILINE)
        return dict(zip(parts[1::2], parts[2::2], strict=True)).get(title, "")


def run(
    folder: Path,
    program: str,
    *arguments: str,
    head: str = HEAD,
    conftest: str = "",
    autoload: bool = False,
) -> Ran:
    """Run a test file with pytest.

    Args:
      head: the first lines of the file.
      autoload: in an interpreter that has imported nothing yet, and with every plugin that is installed.
    """
    (folder / "test_program.py").write_text(dedent(head) + dedent(program), encoding="utf-8")
    (folder / "conftest.py").write_text(dedent(conftest), encoding="utf-8")
    ran = pytest_command(*arguments, cwd=folder, autoload=autoload)
    return Ran(ran.returncode, ran.stdout + ran.stderr, folder)


# ==== with and without neighbours ====

MIXED = """
    @pytest.fixture
    def three():
        return 3

    @pytest.fixture
    async def semaphore():
        return structsync.Semaphore(1, max_value=1)

    @pytest.mark.parametrize("workers", [1, 2])
    @explore()
    async def test_function(x, workers, three, semaphore):
        assert three == 3

        async def worker():
            async with semaphore:
                with x.exclusive("inside"):
                    await trio.lowlevel.checkpoint()

        async with trio.open_nursery() as nursery:
            for _ in range(workers):
                nursery.start_soon(worker)

    class TestOfAClass:
        def setup_method(self):
            self.base = 1

        @explore()
        async def test_method(self, semaphore):
            assert self.base == 1
            async with semaphore:
                await two_tasks()

    @explore(cancels=0)
    async def test_without_a_handle():
        await two_tasks()
"""

ORDINARY = """
    async def test_of_pytest_trio(autojump_clock, nursery):
        await trio.sleep(3600)
"""


@pytest.mark.parametrize(
    ("arguments", "program", "passed"),
    [
        pytest.param(["-p", "no:trio"], MIXED, 4, id="without pytest-trio", marks=pytest.mark.slow),
        pytest.param(["-p", "trio"], MIXED, 4, id="with pytest-trio", marks=pytest.mark.slow),
        pytest.param(["-o", "trio_mode=true"], MIXED + ORDINARY, 5, id="in trio_mode"),
    ],
)
def test_explored_tests_run_beside_others(
    tmp_path: Path, arguments: list[str], program: str, passed: int
) -> None:
    ran = run(tmp_path, program, "-W", "error", *arguments, autoload=True)
    assert ran.outcomes == {"passed": passed}, ran.printed
    assert ran.section("schedules explored").count("\nconfirmed ") == 4


@pytest.mark.slow
def test_a_mark_of_pytest_trio_on_the_whole_module_does_no_harm(tmp_path: Path) -> None:
    ran = run(tmp_path, "pytestmark = pytest.mark.trio\n" + dedent(MIXED), "-W", "error")
    assert ran.outcomes == {"passed": 4}, ran.printed


@pytest.mark.slow
def test_a_broken_test_fails_in_each_of_these_ways(tmp_path: Path) -> None:
    """Else the tests above would be green whatever is explored."""
    ran = run(tmp_path, MIXED.replace("async with semaphore:", "if True:"))
    assert ran.outcomes == {"failed": 1, "passed": 3}, ran.printed
    assert "test_function[2]" in ran.section("schedules explored")


def test_an_explored_test_stands_where_its_function_stands(tmp_path: Path) -> None:
    ran = run(tmp_path, MIXED, "-v")
    assert "test_program.py::test_without_a_handle PASSED" in ran.printed
    assert "structsync/testing" not in ran.printed


def test_a_test_that_skips_itself_is_skipped(tmp_path: Path) -> None:
    program = """
        @explore()
        async def test_skip():
            pytest.skip("not today")

        @explore()
        async def test_in_a_task():
            async def worker():
                pytest.xfail("not yet")
            async with trio.open_nursery() as nursery:
                nursery.start_soon(worker)
    """
    ran = run(tmp_path, program, "-rs")
    assert ran.outcomes == {"skipped": 1, "xfailed": 1}, ran.printed
    assert "not today" in ran.printed
    assert "schedules explored" not in ran.printed


def test_an_explored_test_can_be_called_without_pytest(tmp_path: Path) -> None:
    program = """
        from structsync.testing import ExplorationFailed

        @explore()
        async def test_passes():
            await two_tasks()

        @explore()
        async def test_fails():
            await two_tasks()
            raise ValueError("of the test")

        if __name__ == "__main__":
            test_passes()
            try:
                test_fails()
            except ExplorationFailed as error:
                print("cause:", repr(error.__cause__))
    """
    (tmp_path / "program.py").write_text(dedent(HEAD) + dedent(program))
    ran = subprocess.run(
        [sys.executable, "program.py"],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
        check=True,
    )
    assert ran.stdout == "cause: ValueError('of the test')\n"
