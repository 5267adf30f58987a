"""Which tests ran in an environment of tox and which were skipped: ``.ci/run`` reads it.

A test that is skipped in each of them runs nowhere, and would be green forever.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest


class Outcomes:
    """A plugin of the process that prints, which hears of every test, whichever worker runs it."""

    def __init__(self, target: Path) -> None:
        self.target = target
        self.ran: set[str] = set()
        self.skipped: dict[str, str] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.skipped and not hasattr(report, "wasxfail"):
            self.skipped[report.nodeid] = _reason(report)
        elif report.when == "call":
            self.ran.add(report.nodeid)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.skipped:  # the whole file, where it is imported
            self.skipped[report.nodeid] = _reason(report)

    def pytest_sessionfinish(self) -> None:
        outcomes = {"ran": sorted(self.ran), "skipped": dict(sorted(self.skipped.items()))}
        self.target.write_text(json.dumps(outcomes))


def _reason(report: pytest.TestReport | pytest.CollectReport) -> str:
    return str(report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr)


def record_in(config: pytest.Config) -> None:
    """Record what becomes of the tests, if tox runs them."""
    folder = os.environ.get("TOX_ENV_DIR")
    if folder and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Outcomes(Path(folder, "outcomes.json")))
