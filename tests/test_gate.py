"""`.ci/run` runs the command of the README and nothing else, and its last lines name what failed."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

GATE = Path(__file__).parents[1] / ".ci" / "run"
README = """
<!-- .ci/run executes the next block: it is the only home of the test command. -->
```sh
{command}
```
"""
# As tox prints it, one environment after the other, each in one piece.
PRINTED = """\
b: FAIL in 3 seconds
b: commands[0]> pytest -m slow
FAILED ../../../tests/core/test_x.py::test_y[FAILED 1] - assert 1 == 2
ERROR ../../../tests/test_z.py - ImportError
FAILED test_of_a_test.py::test_inside
a-1: commands[0]> pytest -m once
Timeout (0:05:30)!
  b: FAIL code 1 (3.00 seconds)
"""


@pytest.fixture
def gate(tmp_path: Path) -> Path:
    """A copy of the gate, and stand-ins for what it would install."""
    (tmp_path / ".ci").mkdir()
    (tmp_path / "bin").mkdir()
    for name in ("chromium", "tmux", "redis-server", "apt-get"):
        (tmp_path / "bin" / name).write_text("#!/bin/sh\n")
        (tmp_path / "bin" / name).chmod(0o755)
    return Path(shutil.copy(GATE, tmp_path / ".ci"))


def run(gate: Path, command: str) -> subprocess.CompletedProcess[str]:
    root = gate.parents[1]
    (root / "README.md").write_text(README.format(command=command))
    path = os.pathsep.join([str(root / "bin"), os.environ["PATH"]])
    return subprocess.run(
        ["bash", gate],
        env={**os.environ, "HOME": str(root), "PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_last_lines_name_the_tests_that_failed_and_where(gate: Path) -> None:
    (gate.parents[1] / "printed").write_text(PRINTED)
    ran = run(gate, "cat printed && exit 7")
    assert ran.returncode == 7
    assert ran.stdout == PRINTED
    assert ran.stderr.splitlines() == [
        "b: FAILED ../../../tests/core/test_x.py::test_y[FAILED 1] - assert 1 == 2",
        "b: ERROR ../../../tests/test_z.py - ImportError",
        "a-1: Timeout (0:05:30)!",
    ]


def test_where_no_test_failed_it_says_so(gate: Path) -> None:
    ran = run(gate, "exit 3")
    assert (ran.returncode, ran.stdout) == (3, "")
    assert ran.stderr == "no test failed: see the end of what tox printed\n"


def test_an_environment_that_was_left_out_fails_although_nothing_failed(gate: Path) -> None:
    report = '{"testenvs": {"py313": {"test": [1]}, "slow": {"test": []}}}'
    ran = run(gate, f"echo '{report}' > .tox/ci.json")
    assert ran.returncode == 1
    assert (
        "not run, because their Python was not found: coverage, distributed, faults, py311, py312, slow"
        in ran.stderr
    )
