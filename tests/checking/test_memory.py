"""What a state takes is told as the operating system sees it, and a million of them fit into 1 GiB."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

import structsync
from structsync.checking import _memory, _search, check
from structsync.checking._budget import Budget
from structsync.checking._check import spec_search

from .wheel import Wheel

SCRIPT = """
    import json, sys
    from pathlib import Path
    from structsync.checking import Spec, action, check, leads_to, start
    from structsync.checking._memory import resident

    NAMES = tuple("abcdefghij")

    class Line(Spec):
        line: tuple[str, ...] = start(tuple)

        @action(who=lambda self: [one for one in NAMES if one not in self.line])
        def come(self, who):
            self.line += (who,)

        @action(when=lambda self: bool(self.line), fair=True)
        def serve(self):
            self.line = self.line[1:]

        @leads_to(who=("a",))
        def served(self, who):
            return who in self.line, who not in self.line

    check(Line, max_states=1_000)  # so that what every search needs is there
    before = resident()
    result = check(Line, max_states=int(sys.argv[1]))
    # of this program alone: ru_maxrss goes on from what its parent had
    status = Path('/proc/self/status').read_text()
    most = int(status.partition('VmHWM:')[2].split()[0]) * 1024 - before
    print(json.dumps([result.states, result.bytes_per_state, most]))
"""

linux_only = pytest.mark.skipif(sys.platform != "linux", reason="it tells what a process has")


@linux_only
@pytest.mark.parametrize(
    "states",
    [
        pytest.param(60_000, marks=pytest.mark.slow),
        pytest.param(1_000_000, marks=pytest.mark.nightly),
    ],
)
def test_what_is_told_is_what_the_system_gave(states: int) -> None:
    done = subprocess.run(
        [sys.executable, "-c", dedent(SCRIPT), str(states)],
        env={**os.environ, "PYTHONPATH": str(Path(structsync.__file__).parents[1])},
        capture_output=True,
        text=True,
        check=True,
    )
    seen, told, most = json.loads(done.stdout)
    assert seen > states
    assert most / seen * 1_000_000 < 2**30
    # the most there ever was has in it what the question about behaviours needs for a moment
    assert 0.5 * most < told * seen < 1.3 * most


def test_of_a_small_search_its_own_structures_are_counted() -> None:
    assert 50 < check(Wheel).bytes_per_state < 5_000


@pytest.mark.parametrize("grown", [10_000_000, 0, None])
def test_of_a_large_search_it_is_what_the_process_grew_by_or_what_is_counted(
    grown: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted = check(Wheel).bytes_per_state
    monkeypatch.setattr(_memory, "LARGE", 5)
    given = [1_000_000, None if grown is None else 1_000_000 + grown]
    for module in (_memory, _search):
        monkeypatch.setattr(module, "resident", lambda: given.pop(0))
    assert check(Wheel).bytes_per_state == (grown / 5 if grown else counted)


def test_where_the_system_does_not_tell_it_nothing_is_made_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_memory, "_STATM", tmp_path / "nothing")
    assert _memory.resident() is None


def test_a_search_that_has_not_found_its_first_state_takes_nothing_and_has_no_depth() -> None:
    search = spec_search(Wheel, Budget())
    assert (search.bytes_per_state(), search.progress().depth) == (0, 0)
