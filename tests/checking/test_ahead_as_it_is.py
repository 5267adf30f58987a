"""Real processes that help with one search: the same outcome, and none of them is left."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

import structsync

from .test_cli import write
from .test_together import gone, without_times

posix_only = pytest.mark.skipif(sys.platform == "win32", reason="signals")

LARGE = """
    from structsync.checking import Spec, action, invariant, start

    class Large(Spec):
        x: int = start(int)
        y: int = start(int)

        @action(when=lambda self: self.x < {side})
        def right(self):
            self.x += 1

        @action(when=lambda self: self.y < {side})
        def up(self):
            self.y += 1

        @invariant
        def not_there(self):
            return self.x < 30 or self.y != 31
    """

HELPED = """
    import json, sys
    from structsync.checking import _ahead
    from structsync.cli import main

    start = _ahead.Helpers._start

    def noted(self, search, number):
        started = start(self, search, number)
        if started:
            ids = [one.process.process.pid for one in self._helpers]
            print("helped by", *ids, file=sys.stderr, flush=True)
        return started

    _ahead.Helpers._start = noted
    _ahead.PATIENCE, _ahead.SLICE = -1.0, 8
    main(["check", "--json", *sys.argv[1:]])
"""


def helped(*arguments: object) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", dedent(HELPED), *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": str(Path(structsync.__file__).parents[1])},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.parametrize("number", [2, pytest.param(3, marks=pytest.mark.slow)])
def test_processes_say_to_the_letter_what_one_says(tmp_path: Path, number: int) -> None:

    file = write(tmp_path, LARGE.format(side=40))
    alone, _ = helped(file, "-j", 1).communicate()
    output, error = helped(file, "-j", number).communicate()
    assert without_times(json.loads(output)) == without_times(json.loads(alone))
    assert len(error.splitlines()[0].split()) == 2 + number


@posix_only
@pytest.mark.parametrize("victim", ["a helper", "the owner", "no task"])
def test_nothing_is_left_when_a_search_ends_in_the_middle(tmp_path: Path, victim: str) -> None:

    file = write(tmp_path, LARGE.format(side=10**6))
    process = helped(file, "-j", 2)
    assert process.stderr is not None
    helpers = [int(one) for one in process.stderr.readline().split()[2:]]

    if victim == "no task":
        process.send_signal(signal.SIGINT)
    else:
        os.kill(helpers[0] if victim == "a helper" else process.pid, signal.SIGKILL)
    _, error = process.communicate()
    expected = {"a helper": 64, "the owner": -signal.SIGKILL, "no task": 1}
    assert process.returncode in (expected[victim], 2 if victim == "no task" else None)
    assert ("was killed by signal 9, while it helped" in error) == (victim == "a helper")
    assert gone(helpers, 20)
