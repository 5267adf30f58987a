"""A test that hangs ends, and shows where: even one that swallows the exception of the time limit."""

import subprocess
import sys
import tomllib
from pathlib import Path

from .children import environment

ROOT = Path(__file__).parents[1]
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["pytest"]

# A transition that does not end, in a loop that takes what interrupts it for the error of a guard.
SPINS = """
def asks_a_guard_that_never_answers():
    while True:
        pass

def test_spins():
    while True:
        try:
            asks_a_guard_that_never_answers()
        except BaseException:
            pass
"""
# What waits for another task can be interrupted, wherever it waits.
WAITS = """
import subprocess, sys

def test_waits():
    subprocess.run([sys.executable, "-c", "while True: pass"])
"""


def run(tmp_path: Path, program: str, **limits: float) -> subprocess.CompletedProcess[str]:
    """Run a test under the settings of this suite, with other limits."""
    test = tmp_path / "test_program.py"
    test.write_text(program)
    settings = ["-c", str(ROOT / "pyproject.toml"), "--rootdir", str(tmp_path)]
    settings += [f"--override-ini={name}={limit}" for name, limit in limits.items()]
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *settings, test],
        cwd=tmp_path,
        env=environment("pytest_timeout"),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_a_test_that_swallows_its_timeout_ends_with_a_stack(tmp_path: Path) -> None:
    ran = run(tmp_path, SPINS, timeout=0.3, faulthandler_timeout=1)
    assert ran.returncode == 1
    assert "Timeout (0:00:01)!" in ran.stderr
    assert "in asks_a_guard_that_never_answers" in ran.stderr


def test_a_test_that_waits_for_a_process_ends_by_its_timeout(tmp_path: Path) -> None:
    ran = run(tmp_path, WAITS, timeout=0.5)
    assert ran.returncode == 1
    assert "Failed: Timeout (>0.5s) from pytest-timeout" in ran.stdout


def test_where_the_limit_is_longer_the_stack_comes_later() -> None:
    commands = (ROOT / "tox.ini").read_text().split("{[testenv]pytest}")
    longer = [words for line in commands if "--timeout" in (words := line.split())]
    assert longer, "this would be green by emptiness"
    for words in longer:
        limit = float(words[words.index("--timeout") + 1])
        (stack,) = [word for word in words if word.startswith("faulthandler_timeout=")]
        assert float(stack.partition("=")[2]) > limit


def test_a_stack_comes_after_the_timeout() -> None:
    assert float(SETTINGS["faulthandler_timeout"]) > float(SETTINGS["timeout"])
