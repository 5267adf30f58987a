"""What was explored is told at the end of the run."""

import pytest

from .sweeping import ASKED, DONE, FOUND, told


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if DONE or FOUND:
        terminalreporter.write_sep("-", "schedules of the primitives")
        terminalreporter.write_line(told(in_full=ASKED is not None))
