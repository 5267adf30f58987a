"""A child that hangs takes no later one with it."""

import os
import signal
import threading
import time
from pathlib import Path
from types import FrameType

import pytest

from .children import pytest_command

HANGS = """
import os, pathlib, time

def test_hangs():
    pathlib.Path("number").write_text(f"{os.getpid()} ")
    time.sleep(600)
"""


class Interrupted(Exception):
    """What a time limit raises in a test."""


def is_running(process: int) -> bool:
    """Return whether a process is there, and more than a number that its parent has not asked for."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")
def test_a_child_that_hangs_is_ended_and_the_next_one_runs(tmp_path: Path) -> None:
    (tmp_path / "test_program.py").write_text(HANGS)
    number = tmp_path / "number"

    def interrupt(_: int, frame: FrameType | None) -> None:
        raise Interrupted

    def when_it_hangs() -> None:
        while not (number.exists() and number.read_text().endswith(" ")):
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGUSR1)

    before = signal.signal(signal.SIGUSR1, interrupt)
    thread = threading.Thread(target=when_it_hangs)
    thread.start()
    try:
        with pytest.raises(Interrupted):
            pytest_command(cwd=tmp_path)
    finally:
        thread.join()
        signal.signal(signal.SIGUSR1, before)
    while is_running(int(number.read_text())):
        time.sleep(0.01)
    assert pytest_command("--version", cwd=tmp_path).returncode == 0
