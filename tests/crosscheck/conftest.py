"""One tally for the whole run, told at its end."""

import pytest

from .check import Tally

TALLY = pytest.StashKey[Tally]()


@pytest.fixture
def tally(request: pytest.FixtureRequest) -> Tally:
    """What all tests together have seen so far."""
    return request.config.stash.setdefault(TALLY, Tally())


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    seen = config.stash.get(TALLY, Tally())
    if seen.programs:
        terminalreporter.write_sep("-", "cross-check of random programs")
        terminalreporter.write_line(str(seen))
