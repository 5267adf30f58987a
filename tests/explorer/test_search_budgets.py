"""Where a search ends, and what it says about what it has not seen."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
import trio
from trio.lowlevel import checkpoint

import structsync
from structsync.testing import NotExhaustive, Verdict, explore
from structsync.testing._search import runs

from .conftest import two_checkpoints, workers


@pytest.mark.parametrize("search", ["plain", "states", "deviations"])
def test_a_search_ends_at_its_number_of_executions(search: Any) -> None:
    found = explore(workers(3), search=search, cancels=0, symmetry=False, executions=5)
    assert found.executions == 5
    assert found.verdict is Verdict.UNFINISHED
    assert found.unfinished is not None
    assert found.unfinished.startswith("stopped after executions=5")
    assert found.covered.startswith("not exhaustive: stopped after executions=5")


@pytest.mark.slow
@pytest.mark.parametrize("search", ["plain", "states", "sweep"])
def test_a_budget_that_is_just_enough_is_enough(search: Any) -> None:
    whole = explore(workers(2), search=search, cancels=1)
    again = explore(workers(2), search=search, cancels=1, executions=whole.executions)
    assert whole.unfinished is again.unfinished is None
    less = explore(workers(2), search=search, cancels=1, executions=whole.executions - 1)
    assert less.verdict is Verdict.UNFINISHED


def test_a_search_ends_at_its_number_of_states() -> None:
    found = explore(workers(3), cancels=0, states=4)
    assert found.unfinished == "stopped after states=4"
    assert found.states < 10


def test_a_search_ends_when_its_time_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    seconds = iter(range(10_000))
    monkeypatch.setattr(runs, "_now", lambda: float(next(seconds)))
    found = explore(workers(3), cancels=0, search="plain", seconds=12.5)
    assert found.unfinished == "stopped after seconds=12.5"
    assert 1 < found.executions < 15


def test_a_failure_is_made_smaller_only_while_there_is_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A second for each look at the clock, which is one for each execution; then three more."""
    seconds = iter(range(10_000))
    monkeypatch.setattr(runs, "_now", lambda: float(next(seconds)))
    asked: dict[str, Any] = {"cancels": 1, "search": "random", "executions": 400}
    whole = explore(fails_where_the_last_comes_first, **asked)
    assert whole.failure is not None
    hasty = explore(
        fails_where_the_last_comes_first, seconds=whole.failure.execution + 3.0, **asked
    )
    assert hasty.failure is not None
    assert hasty.executions < whole.executions
    assert "the time is over" in hasty.failure.counterexample.summary


async def fails_where_the_last_comes_first() -> None:
    order = list[str]()

    async def works(name: str) -> None:
        for _ in range(3):
            order.append(name)
            await checkpoint()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(works, "a")
        nursery.start_soon(works, "b")
    assert order[:2] != ["b", "b"]


def test_by_deviations_it_says_how_many_are_covered() -> None:
    found = explore(workers(3), cancels=0, search="deviations", executions=30)
    assert found.unfinished == (
        "stopped after executions=30; all schedules with fewer than 3 deviations were tried"
    )


def test_a_sample_is_never_exhaustive() -> None:
    found = explore(two_checkpoints, cancels=0, search="random", executions=10, seed=7)
    assert found.verdict is Verdict.UNFINISHED
    assert found.unfinished is not None
    assert found.unfinished.startswith("random sample, seed=7; stopped after executions=10: ")


def test_a_sample_says_how_much_was_not_seen() -> None:
    def share(number: int) -> int:
        found = explore(workers(number), cancels=0, search="random", executions=100)
        said = re.search(r"about (\d+) % of what chance leads to", str(found.unfinished))
        assert said is not None
        return int(said[1])

    assert share(2) == 0
    assert share(5) > 50


def test_what_ends_early_can_be_made_a_failure() -> None:
    found = explore(workers(3), cancels=0, executions=2, symmetry=False, exhaustive=True)
    with pytest.raises(NotExhaustive, match=r"not exhaustive: stopped after executions=2"):
        found.check()
    explore(workers(3), cancels=0, exhaustive=True).check()


def test_an_execution_without_an_end_is_a_failure_of_its_own() -> None:
    async def runs_forever() -> None:
        async def spins() -> None:
            while True:
                await checkpoint()

        async with trio.open_nursery() as nursery:
            nursery.start_soon(spins)
            nursery.start_soon(spins)

    for search in ("plain", "states"):
        failure = explore(runs_forever, cancels=0, search=search, max_steps=25).failure
        assert failure is not None
        assert failure.kind == "endless"
        assert failure.message == "the execution was not over after 25 steps"


def test_a_circle_is_no_failure_where_some_execution_ends() -> None:
    """It is for ``liveness`` to say whether a task must leave it."""

    async def may_go_round() -> None:
        done = False

        async def spins() -> None:
            while not done:
                await checkpoint()

        async def ends() -> None:
            nonlocal done
            await checkpoint()
            done = True

        async with trio.open_nursery() as nursery:
            nursery.start_soon(spins)
            nursery.start_soon(ends)

    assert explore(may_go_round, cancels=0, max_steps=200).verdict is Verdict.CONFIRMED


# ==== Ctrl-C ====

INTERRUPTED = """
    import os, signal, sys
    import trio
    from structsync.testing import explore

    async def program():
        async with trio.open_nursery() as nursery:
            for _ in range(5):
                nursery.start_soon(trio.sleep, 0)

    def interrupt(progress):
        if progress.executions == 32:
            os.kill(os.getpid(), signal.SIGINT)

    found = explore(program, search="plain", executions=None, cancels=0, progress=interrupt)
    sys.stdout.write(f"{found.verdict.name} {found.executions} {found.covered}")
"""


def test_ctrl_c_ends_the_search_with_what_it_found() -> None:
    command = [sys.executable, "-c", dedent(INTERRUPTED)]
    environment = {**os.environ, "PYTHONPATH": str(Path(structsync.__file__).parents[1])}
    ran = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert ran.stderr == ""
    assert ran.returncode == 0
    assert ran.stdout.startswith("UNFINISHED 32 not exhaustive: stopped by Ctrl-C: 32 executions")


def test_a_ctrl_c_in_the_test_itself_is_not_its_failure() -> None:
    async def program() -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(checkpoint)
            nursery.start_soon(checkpoint)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        explore(program)


def test_after_a_search_ctrl_c_is_what_it_was() -> None:
    before = signal.getsignal(signal.SIGINT)
    explore(two_checkpoints)
    assert signal.getsignal(signal.SIGINT) is before
