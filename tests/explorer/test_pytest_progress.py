"""When the progress of a search is shown; the time is the one that the search tells."""

from __future__ import annotations

import contextlib
import io

import pytest
import trio
from rich.console import Console

from structsync.report import _progress as line_of
from structsync.testing import Progress, explore
from structsync.testing._command.command import show
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


@pytest.mark.parametrize("file", [Terminal(), io.StringIO()], ids=["terminal", "log"])
def test_a_failure_is_told_before_a_smaller_schedule_is_looked_for(
    file: io.StringIO, pytestconfig: pytest.Config
) -> None:
    reporter = pytest.TerminalReporter(pytestconfig, file)
    line = ProgressLine("test", reporter, contextlib.nullcontext, lambda: None)
    line.update(Progress(10, 5, 20, 1.0, "deadlock: all wait"))
    assert file.getvalue() == "", "it is over before anything would be shown"
    line.update(Progress(10, 5, 20, 3.0, "deadlock: all wait"))
    assert "10 executions, found deadlock: all wait; looking for a smaller" in file.getvalue()


async def fails_in_another_order() -> None:
    order: list[int] = []

    async def appends(number: int) -> None:
        order.append(number)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(appends, 1)
        nursery.start_soon(appends, 2)
    assert order == [1, 2], "the second was first"


def test_a_search_reports_its_failure_before_it_makes_it_smaller() -> None:
    seen: list[Progress] = []
    failure = explore(fails_in_another_order, cancels=0, progress=seen.append).failure
    assert failure is not None
    assert [one.failure for one in seen] == ["error: AssertionError: the second was first"]


def test_the_command_prints_a_failure_above_its_line() -> None:
    file = Terminal()
    with line_of.ProgressLine(Console(file=file, force_terminal=True, width=100)) as line:
        line.begin("a test")
        show(line, Progress(10, 5, 20, 3.0, "deadlock: all wait"))
    assert "a test: deadlock: all wait; looking for a smaller schedule" in file.getvalue()
