"""``sweep``: the first-in-first-out schedule, with one cancellation at each of its steps in turn."""

from __future__ import annotations

from typing import Any

import pytest
import trio
from trio.lowlevel import checkpoint

from structsync.testing import (
    ExplorationFailed,
    ExploredRun,
    ExploreUsageError,
    Settings,
    Verdict,
    explore,
    sweep,
)
from structsync.testing._search.choosers import Trace
from structsync.testing._search.search import explore_outcomes

from .conftest import run_once, two_checkpoints, workers


def offers(program: Any, cancel: str) -> int:
    """How many cancellations the undisturbed execution offers."""
    trace = Trace()
    run_once(program, trace, cancel=cancel)
    return sum(one.kind in ("cancel", "scope") for step in trace.offered for one in step)


@pytest.mark.parametrize("cancel", ["scopes", "tasks"])
def test_each_cancellation_of_one_schedule_is_tried_once(cancel: Any) -> None:
    found = sweep(workers(3), cancel=cancel)
    assert found.verdict is Verdict.CONFIRMED
    assert found.executions == 1 + offers(workers(3), cancel)
    assert found.covered.startswith(f"swept one schedule: {found.executions} executions")


async def keeps_the_permit_when_cancelled() -> None:
    semaphore = trio.Semaphore(1, max_value=1)

    async def worker() -> None:
        await semaphore.acquire()
        await checkpoint()
        semaphore.release()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(worker)
        nursery.start_soon(worker)


def test_what_a_cancellation_leaves_behind_is_found() -> None:
    failure = sweep(keeps_the_permit_when_cancelled, cancel="tasks").failure
    assert failure is not None
    assert failure.kind in ("deadlock", "leak")
    assert failure.deviations == 1
    assert failure.replayed == "same"
    again = explore(keeps_the_permit_when_cancelled, cancel="tasks", replay=failure.token)
    assert again.failure is not None
    assert again.failure.kind == failure.kind


def test_what_fails_without_a_cancellation_is_found_first() -> None:
    async def fails() -> None:
        await two_checkpoints()
        raise KeyError

    failure = sweep(fails).failure
    assert failure is not None
    assert (failure.execution, failure.deviations) == (1, 0)


def test_what_needs_another_order_is_not_found() -> None:
    """It says so: one schedule was swept, nothing was exhausted."""

    async def program() -> None:
        order = list[int]()

        async def arrives(n: int) -> None:
            order.append(n)

        async with trio.open_nursery() as nursery:
            nursery.start_soon(arrives, 0)
            nursery.start_soon(arrives, 1)
        assert order != [1, 0]

    found = sweep(program)
    assert found.failure is None
    assert "exhaustive" not in found.covered
    assert explore(program).failure is not None


def test_a_sweep_has_a_budget() -> None:
    found = sweep(workers(3), executions=4)
    assert found.executions == 4
    assert found.verdict is Verdict.UNFINISHED
    assert found.covered.startswith("not swept one schedule: stopped after executions=4")


def test_it_is_much_cheaper_than_exploring() -> None:
    everything = explore(workers(2), cancel="tasks", search="plain")
    assert sweep(workers(2), cancel="tasks").executions * 5 < everything.executions


def test_it_decorates_a_test() -> None:
    @sweep(cancel="tasks")
    async def test_something(x: ExploredRun) -> None:
        x.watch()
        await keeps_the_permit_when_cancelled()

    with pytest.raises(ExplorationFailed):
        test_something()


def test_one_cancellation_at_a_time() -> None:
    with pytest.raises(ValueError, match="a sweep makes one cancellation at a time"):
        sweep(two_checkpoints, cancels=2)


def test_a_test_in_which_nothing_can_be_cancelled_is_refused() -> None:
    async def alone() -> None:
        await checkpoint()

    with pytest.raises(ExploreUsageError, match="nothing can be cancelled"):
        sweep(alone)


def test_all_its_outcomes_can_be_collected() -> None:
    async def program(x: ExploredRun) -> str:
        with trio.CancelScope() as scope:
            await checkpoint()
        return "cancelled" if scope.cancelled_caught else "not cancelled"

    found = explore_outcomes(program, Settings(search="sweep"))
    assert found.outcomes == {"passed: 'cancelled'", "passed: 'not cancelled'"}
    assert found.complete
