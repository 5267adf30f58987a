"""What an explored test, a stateful machine and their results are to a type checker."""

from __future__ import annotations

from collections.abc import Callable
from typing import assert_type

import pytest
import trio
from hypothesis import settings
from hypothesis.stateful import Bundle, rule, run_state_machine_as_test

import structsync
from structsync.report import Counterexample
from structsync.testing import (
    Exploration,
    ExplorationFailed,
    ExploredRun,
    ExploreUsageError,
    Failure,
    MachineFailed,
    NondeterminismError,
    NotExhaustive,
    NotExhaustiveWarning,
    Partition,
    Progress,
    ReplayError,
    RuleTask,
    ScheduledStateMachine,
    Settings,
    Verdict,
    explore,
    sweep,
)


async def two_workers(x: ExploredRun) -> None:
    semaphore = structsync.Semaphore(1, max_value=1)

    async def worker() -> None:
        async with semaphore:
            with x.exclusive("inside"):
                await trio.lowlevel.checkpoint()

    async with trio.open_nursery() as nursery:
        for _ in range(2):
            nursery.start_soon(worker)


@explore(cancels=0)
async def test_a_decorated_function_is_a_plain_test(x: ExploredRun) -> None:
    await two_workers(x)


@sweep()
async def test_so_is_one_that_is_swept(x: ExploredRun) -> None:
    await two_workers(x)


def test_an_exploration_tells_the_types_of_what_it_found() -> None:
    seen = list[Progress]()
    found = assert_type(
        explore(two_workers, cancels=0, order="any", progress=seen.append), Exploration
    )
    assert_type(found.verdict, Verdict)
    assert_type(found.settings, Settings)
    assert_type(found.failure, Failure | None)
    assert_type(found.shard, Partition | None)
    assert_type(found.executions, int)
    assert_type(found.notes, tuple[str, ...])
    assert found.verdict is Verdict.CONFIRMED
    found.check()
    assert_type(sweep(two_workers), Exploration)
    assert_type([one.seconds for one in seen], list[float])
    assert_type(test_a_decorated_function_is_a_plain_test, Callable[..., None])


def shown(failure: Failure) -> tuple[Counterexample, BaseException | None, str]:
    return failure.counterexample, failure.error, failure.token


def test_each_error_is_one_of_the_errors_that_a_caller_expects() -> None:
    with pytest.raises(ExploreUsageError):
        explore(trio.lowlevel.checkpoint)
    with pytest.raises(ReplayError):
        explore(two_workers, replay="nonsense")
    errors: list[type[Exception]] = [NondeterminismError, NotExhaustive, MachineFailed]
    failed: type[AssertionError] = ExplorationFailed
    warning: type[Warning] = NotExhaustiveWarning
    assert issubclass(failed, AssertionError)
    assert issubclass(warning, Warning)
    assert all(issubclass(error, Exception) for error in errors)


class Visits(ScheduledStateMachine, cancels=1):
    """Rules that start tasks, and cancel them by their handles."""

    visits = Bundle[RuleTask]("visits")

    def __init__(self) -> None:
        super().__init__()
        self.semaphore = structsync.Semaphore(1, max_value=1)

    @rule(target=visits)
    def visit(self) -> RuleTask:
        return assert_type(self.start(self.come_and_go), RuleTask)

    @rule(visit=visits)
    def leave(self, visit: RuleTask) -> None:
        visit.cancel()

    async def come_and_go(self) -> None:
        async with self.semaphore:
            await trio.lowlevel.checkpoint()

    # Hypothesis's own returns None, and mypy compares with that.
    async def teardown(self) -> None:  # type: ignore[override]
        await self.settle()
        assert_type(self.is_quiescent, bool)
        assert_type(self.get_root_nursery(), trio.Nursery)


def test_a_machine_is_one_of_hypothesis() -> None:
    run_state_machine_as_test(Visits, settings=settings(max_examples=3))
