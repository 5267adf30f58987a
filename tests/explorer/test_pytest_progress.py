"""When the progress of a search is shown; the time is the one that the search tells."""

from __future__ import annotations

import contextlib
import io

import pytest

from structsync.testing import Progress
from structsync.testing._runner import ProgressLine


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def times_shown(config: pytest.Config, file: io.StringIO, seconds: list[float]) -> list[float]:
    """Return at which of these times something was written."""
    reporter = pytest.TerminalReporter(config, file)
    line = ProgressLine("test", reporter, contextlib.nullcontext, lambda: None)
    shown = []
    for time in seconds:
        before = file.tell()
        line.update(Progress(executions=10, states=5, steps=20, seconds=time))
        if file.tell() > before:
            shown.append(time)
    line.end()
    return shown


def test_a_terminal_shows_a_search_from_the_second_second_on(pytestconfig: pytest.Config) -> None:
    times = [0.0, 0.5, 1.9, 2.0, 2.1, 2.3, 2.4, 2.6]
    assert times_shown(pytestconfig, Terminal(), times) == [2.0, 2.3, 2.6]


def test_a_log_gets_a_line_every_ten_seconds(pytestconfig: pytest.Config) -> None:
    file = io.StringIO()
    times = [0.5, 9.9, 10.0, 11.0, 19.9, 20.5, 29.0, 31.0]
    assert times_shown(pytestconfig, file, times) == [10.0, 20.5, 31.0]
    assert file.getvalue().splitlines() == [
        "exploring test: 10 executions, 5 states, 1/s, 10 s",
        "exploring test: 10 executions, 5 states, 0/s, 20 s",
        "exploring test: 10 executions, 5 states, 0/s, 31 s",
    ]


def test_a_short_search_shows_nothing_and_leaves_the_line_of_the_test_alone(
    pytestconfig: pytest.Config,
) -> None:
    file = Terminal()
    assert times_shown(pytestconfig, file, [0.1, 1.0]) == []
    assert file.getvalue() == ""


def test_a_line_is_no_longer_than_the_terminal_is_wide(
    pytestconfig: pytest.Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A longer one would wrap, and stay when it is written over."""
    monkeypatch.setenv("COLUMNS", "40")
    file = Terminal()
    times_shown(pytestconfig, file, [2.0])
    pieces = [piece for line in file.getvalue().split("\n") for piece in line.split("\r")]
    assert max(map(len, pieces)) == 39
