"""Ctrl-C during a search: it ends, keeps what it has found, and says so in the result. An alarm ends it too."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator

import pytest
import trio

from structsync.checking import Verdict
from structsync.testing import ExploredRun, Progress, explore

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


# ==== an alarm, as that of pytest-timeout ====


class TimeIsOver(BaseException):
    """What the handler of the alarm raises, as pytest.fail() does."""


@pytest.fixture
def alarm() -> Iterator[None]:
    def ring(number: int, frame: object) -> None:
        raise TimeIsOver

    before = signal.signal(signal.SIGALRM, ring)
    yield
    assert signal.getsignal(signal.SIGALRM) is ring
    signal.signal(signal.SIGALRM, before)


class Rings:
    """Raises the alarm in the third execution, once."""

    executions = 0

    def __explore_state__(self) -> object:
        return "is no part of a state"

    def starts(self) -> None:
        self.executions += 1

    def is_time(self) -> bool:
        if self.executions == 3:
            self.executions += 1
            signal.raise_signal(signal.SIGALRM)
        return True


@pytest.mark.usefixtures("alarm")
def test_an_alarm_ends_a_search_with_its_own_error() -> None:
    rings = Rings()

    async def program() -> None:
        rings.starts()
        await two_checkpoints()
        rings.is_time()

    with pytest.raises(TimeIsOver):
        explore(program, search="plain")


@pytest.mark.usefixtures("alarm")
def test_an_alarm_in_a_predicate_is_no_violation() -> None:
    rings = Rings()

    async def program(x: ExploredRun) -> None:
        rings.starts()
        x.always(rings.is_time)
        await two_checkpoints()

    with pytest.raises(TimeIsOver):
        explore(program, search="plain")


@pytest.mark.usefixtures("alarm")
def test_an_alarm_that_the_test_swallows_ends_the_search_all_the_same() -> None:
    rings = Rings()

    async def program() -> None:
        rings.starts()
        await two_checkpoints()
        try:
            rings.is_time()
        except BaseException:  # noqa: BLE001 - as careless code does
            await trio.lowlevel.checkpoint()

    with pytest.raises(TimeIsOver):
        explore(program, search="plain")


def test_a_search_in_a_thread_leaves_alarms_alone() -> None:
    found = []
    thread = threading.Thread(target=lambda: found.append(explore(two_checkpoints, cancels=0)))
    thread.start()
    thread.join()
    assert found[0].verdict is Verdict.CONFIRMED
