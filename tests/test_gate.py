"""`.ci/run` runs the command of the README and nothing else, and its last lines name what failed."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from .children import environment
from .outcomes import Outcomes

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
        "not run, because their Python was not found: "
        "coverage, distributed, faults, oldest, py311, py312, slow" in ran.stderr
    )


REQUIRED = re.findall(r'^required="(.*)"$', GATE.read_text(), re.MULTILINE)[0]
ALL_RAN = {"testenvs": {name: {"test": [1]} for name in REQUIRED.split()}}


def ran_with(gate: Path, **outcomes: object) -> subprocess.CompletedProcess[str]:
    """Run a command after which each environment has run, and these have written what became of their tests."""
    for name, one in outcomes.items():
        folder = gate.parents[1] / ".tox" / name
        folder.mkdir(parents=True)
        (folder / "outcomes.json").write_text(json.dumps(one))
    return run(gate, f"echo '{json.dumps(ALL_RAN)}' > .tox/ci.json")


def test_a_test_that_is_skipped_in_every_environment_fails_the_gate(gate: Path) -> None:
    ran = ran_with(
        gate,
        py311={"ran": ["tests/test_a.py::one"], "skipped": {"tests/test_a.py::two": "no server"}},
        py313={"ran": [], "skipped": {"tests/test_b.py": "no msgspec"}},
    )
    assert ran.returncode == 1
    assert ran.stderr.splitlines() == [
        "skipped in every environment: tests/test_a.py::two: no server",
        "skipped in every environment: tests/test_b.py: no msgspec",
    ]


def test_one_environment_that_runs_a_test_is_enough(gate: Path) -> None:
    ran = ran_with(
        gate,
        py311={"ran": ["tests/test_a.py::one", "tests/test_b.py::x"], "skipped": {}},
        py313={
            "ran": [],
            "skipped": {"tests/test_a.py::one": "no server", "tests/test_b.py": "no msgspec"},
        },
        not_run={"ran": [], "skipped": {"tests/test_a.py::two": "an environment of another day"}},
    )
    assert (ran.returncode, ran.stderr) == (0, "")


TESTS = """
import pytest

def test_runs(): pass

def test_fails(): assert False

@pytest.mark.skipif(True, reason="as planned")
def test_left_out(): pass

def test_ends_early(): pytest.skip("no server")

@pytest.mark.xfail
def test_is_known_to_fail(): assert False
"""


@pytest.mark.parametrize("workers", ["0", "1"])
def test_what_becomes_of_tests_is_written_and_of_whole_files_too(
    tmp_path: Path, workers: str
) -> None:
    (tmp_path / "conftest.py").write_text(
        "from tests.outcomes import record_in as pytest_configure"
    )
    (tmp_path / "test_absent.py").write_text("import pytest; pytest.importorskip('no_such_module')")
    (tmp_path / "test_here.py").write_text(TESTS)
    subprocess.run(
        [sys.executable, "-m", "pytest", "--rootdir", tmp_path, "-p", "xdist", "-n", workers],
        env=environment() | {"TOX_ENV_DIR": str(tmp_path), "PYTHONPATH": str(GATE.parents[1])},
        cwd=tmp_path,
        stdout=subprocess.DEVNULL,
        check=False,
    )
    written = json.loads((tmp_path / "outcomes.json").read_text())
    ran = ["test_fails", "test_is_known_to_fail", "test_runs"]
    assert written["ran"] == [f"test_here.py::{name}" for name in ran]
    assert written["skipped"] == {
        "test_absent.py": "Skipped: could not import 'no_such_module': No module named 'no_such_module'",
        "test_here.py::test_ends_early": "Skipped: no server",
        "test_here.py::test_left_out": "Skipped: as planned",
    }


@pytest.mark.skipif("TOX_ENV_DIR" not in os.environ, reason="tox says where to write")
def test_what_becomes_of_these_tests_is_written_too(request: pytest.FixtureRequest) -> None:
    plugins = request.config.pluginmanager.get_plugins()
    assert any(isinstance(plugin, Outcomes) for plugin in plugins)
