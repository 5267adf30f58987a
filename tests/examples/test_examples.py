"""The programs under examples/ do what their own first lines say, and the README beside them lists them all."""

import ast
import os
import re
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
# The only home of what a program prints is the end of its own docstring.
MARK = "Prints::\n\n"
# Programs that print; a folder such as examples/ferry/ is a module with tests of its own.
PROGRAMS = sorted(EXAMPLES.glob("*.py"))


# What a program needs beside Python, as it is called; where CI is true, none is no excuse.
NEEDS = {"two_machines": ("redis-server", "valkey-server")}


def promised(source: str) -> str:
    """Return what a program says that it prints."""
    docstring = ast.get_docstring(ast.parse(source)) or ""
    before, mark, after = docstring.partition(MARK)
    assert before, "an example begins by saying what it shows"
    assert mark, f"an example ends its docstring with {MARK!r} and what it prints"
    return textwrap.dedent(after) + "\n"


def printed(program: Path) -> str:
    """Run a program as a user does, with warnings as errors."""
    ran = subprocess.run(
        [sys.executable, "-W", "error", program], capture_output=True, text=True, timeout=60
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def listed(readme: str) -> list[str]:
    """Return the programs that the table names."""
    return re.findall(r"\]\((\w+\.py)\) \|$", readme, re.MULTILINE)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.stem)
def test_an_example_prints_what_its_docstring_promises(program: Path) -> None:
    needs = NEEDS.get(program.stem, ())
    if needs and os.environ.get("CI") != "true" and not any(map(shutil.which, needs)):
        pytest.skip(f"none of {needs} was found")
    assert printed(program) == promised(program.read_text())


def test_there_are_examples_to_run() -> None:
    assert len(PROGRAMS) > 10


def test_every_row_of_the_table_is_a_program_and_every_program_has_a_row() -> None:
    table = (EXAMPLES / "README.md").read_text()
    assert sorted(listed(table)) == [program.name for program in PROGRAMS]


def test_each_row_of_the_first_readme_is_one_of_the_table() -> None:
    table = (EXAMPLES / "README.md").read_text().replace("](", "](examples/")
    rows = [line for line in (ROOT / "README.md").read_text().splitlines() if "](examples/" in line]
    shown = [line for line in rows if line.startswith("|")]
    assert shown
    assert [line for line in shown if line not in table] == []


def test_a_program_that_prints_something_else_is_found(tmp_path: Path) -> None:
    program = tmp_path / "wrong.py"
    program.write_text('"""Says one thing.\n\nPrints::\n\n    one\n"""\nprint("two")\n')
    assert printed(program) != promised(program.read_text())


def test_an_example_without_a_promise_is_refused() -> None:
    with pytest.raises(AssertionError, match="what it prints"):
        promised('"""Shows something."""')


def test_a_program_that_fails_is_found(tmp_path: Path) -> None:
    program = tmp_path / "fails.py"
    program.write_text("raise SystemExit(3)\n")
    with pytest.raises(AssertionError):
        printed(program)
