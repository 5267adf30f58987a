"""Ctrl-C during a search: it ends, keeps what it has found, and says so in the result."""

from __future__ import annotations

import signal

from structsync.checking import Verdict
from structsync.testing import Progress, explore

from .conftest import two_checkpoints, workers


def press(_: Progress) -> None:
    signal.raise_signal(signal.SIGINT)


def test_a_search_that_ctrl_c_ended_says_so() -> None:
    found = explore(workers(4), search="plain", executions=None, progress=press)
    assert found.interrupted
    assert found.verdict is Verdict.UNFINISHED
    assert found.executions == 16


def test_a_search_that_ended_otherwise_was_not_interrupted() -> None:
    """Also not if a task's own text speaks of Ctrl-C."""

    async def program() -> None:
        await two_checkpoints()
        raise ValueError("Ctrl-C")

    assert not explore(program).interrupted
    assert not explore(workers(4), executions=1).interrupted


def test_ctrl_c_shortly_before_a_failure_is_not_forgotten() -> None:
    """The search has taken the signal: no other task can know that everything is to end."""
    pressed: list[bool] = []

    async def program() -> None:
        await two_checkpoints()
        if not pressed:
            pressed.append(True)
            signal.raise_signal(signal.SIGINT)
        raise ValueError("of the test")

    found = explore(program)
    assert found.verdict is Verdict.REFUTED
    assert found.interrupted
