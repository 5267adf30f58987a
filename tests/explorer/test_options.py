"""The options of `structsync explore` and the settings that they stand for, without a process each."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from structsync.testing._command.command import explore
from structsync.testing._command.options import as_options, asked_for
from structsync.testing._settings import NAMES

from ..children import environment  # noqa: TID252 - the one home of how a child is started


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"cancels": 2, "cancel": "tasks", "order": "trio"},
        {"symmetry": False},
        {"symmetry": True, "liveness": True},
        {"executions": None, "seconds": None},
        {"seconds": 1.5, "max_steps": 99},
    ],
)
def test_the_options_of_settings_ask_for_just_these(settings: dict[str, Any]) -> None:
    """A command that replays a failure has to ask for what was asked for."""
    context = explore.make_context("explore", ["module", *as_options(settings)])
    given = {name: value for name, value in context.params.items() if name in NAMES}
    assert asked_for(given) == settings


@pytest.mark.unmeasured
def test_the_command_works_without_docstrings() -> None:
    ran = subprocess.run(
        [sys.executable, "-OO", "-m", "structsync.cli", "explore", "--help"],
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    assert "--max-steps" in ran.stdout
