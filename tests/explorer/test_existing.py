"""What the search of ``--explore-all`` takes for a failure of a test, and what it does not."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Awaitable, Callable

import pytest
import trio
import trio.testing

from structsync.testing import Exploration, ReplayError, Verdict
from structsync.testing._execution.clock import MovedClock, in_execution
from structsync.testing._execution.schedule import Schedule
from structsync.testing._existing import SETTINGS, ExistingTest, run_existing
from structsync.testing._search.existing import NotExplored

Test = Callable[[], Awaitable[object]]


def explored(
    test: Test, *, sweep: bool = False, replay: str | None = None, **settings: object
) -> Exploration:
    existing = ExistingTest(
        name="test",
        function=test,
        arguments={},
        instance=None,
        fixtures=(),
        start_over=lambda: None,
    )
    asked = dataclasses.replace(SETTINGS, **{"seconds": None, **settings})  # type: ignore[arg-type]
    return run_existing(existing, asked, sweep=sweep, replay=replay)


async def in_order(expected: list[list[str]]) -> None:
    """Two tasks note their names; only these orders are right."""
    seen = []

    async def note(name: str) -> None:
        await trio.lowlevel.checkpoint()
        seen.append(name)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(note, "a")
        nursery.start_soon(note, "b")
    assert seen in expected


async def crowd(number: int = 6) -> None:
    """Too many schedules for all of them."""

    async def works() -> None:
        for _ in range(3):
            await trio.lowlevel.checkpoint()

    async with trio.open_nursery() as nursery:
        for _ in range(number):
            nursery.start_soon(works)


@pytest.mark.parametrize("right", [["a", "b"], ["b", "a"]])
def test_an_order_in_which_the_test_fails_is_found_and_replayed(right: list[str]) -> None:
    """Also if it is the plain order that fails, and another one passes."""

    async def test() -> None:
        await in_order([right])

    found = explored(test)
    assert found.verdict is Verdict.REFUTED
    assert found.failure is not None
    assert found.failure.replayed == "same"
    again = explored(test, replay=found.failure.token)
    assert again.failure is not None
    assert again.failure.message == found.failure.message


def test_a_test_with_few_schedules_is_confirmed() -> None:
    async def test() -> None:
        await in_order([["a", "b"], ["b", "a"]])

    found = explored(test)
    assert found.verdict is Verdict.CONFIRMED
    assert 2 <= found.executions <= 20


def test_a_test_of_one_task_has_one_schedule() -> None:
    found = explored(trio.lowlevel.checkpoint)
    assert (found.verdict, found.executions) == (Verdict.CONFIRMED, 1)


def test_a_test_with_many_schedules_says_what_the_sample_is_worth() -> None:
    found = explored(crowd, executions=40, seed=7)
    assert found.verdict is Verdict.UNFINISHED
    assert found.executions == 40
    assert "stopped after executions=40: 30 schedules by priorities at random" in found.covered
    assert found.covered.count("seed=7") == 1


def test_a_rare_order_is_found_by_priorities() -> None:
    """The second of two goes first in each round, which trio itself does once in 512 runs."""

    async def test() -> None:
        seen = []

        async def works(name: str) -> None:
            for _ in range(9):
                seen.append(name)
                await trio.lowlevel.checkpoint()

        async with trio.open_nursery() as nursery:
            nursery.start_soon(works, "a")
            nursery.start_soon(works, "b")
        assert seen != ["b", "a"] * 9

    found = explored(test, executions=60)
    assert found.verdict is Verdict.REFUTED
    assert found.failure is not None
    # Every schedule is tried among the first 15, as far as that goes.
    assert found.failure.execution > 15


def test_what_fails_in_every_schedule_is_not_explored() -> None:
    async def test() -> None:
        await in_order([])

    with pytest.raises(
        NotExplored, match=r"in each of 31 executions.*error: AssertionError"
    ) as got:
        explored(test)
    assert isinstance(got.value.__cause__, AssertionError)


def test_what_differs_the_second_time_is_not_explored() -> None:
    runs = []

    async def test() -> None:
        runs.append(1)
        assert len(runs) == 1

    with pytest.raises(
        NotExplored, match=r"did not do the same the second time.*passed once, error"
    ):
        explored(test)


def test_a_failure_that_an_execution_has_left_behind_is_none() -> None:
    broken: list[int] = []

    async def test() -> None:
        assert not broken
        try:
            await in_order([["a", "b"]])
        except AssertionError:
            broken.append(1)

    with pytest.raises(NotExplored, match="something outlives an execution"):
        explored(test)


def test_what_the_plain_schedule_refuses_is_not_explored() -> None:
    async def test() -> None:
        time.time()

    with pytest.raises(NotExplored, match=r"time\.time\(\) at .*test_existing\.py"):
        explored(test)


def test_a_test_without_an_end_in_sight_is_not_explored() -> None:
    with pytest.raises(NotExplored, match="it takes more than max_steps=10 steps"):
        explored(crowd, max_steps=10)


def test_a_schedule_without_an_end_is_no_failure() -> None:
    """Only who goes on and on, while another one could end it, is not done within the steps."""

    async def test() -> None:
        done = False

        async def ends() -> None:
            nonlocal done
            done = True

        async with trio.open_nursery() as nursery:
            nursery.start_soon(ends)
            while not done:
                await trio.lowlevel.checkpoint()

    found = explored(test, order="any", max_steps=12, executions=200)
    assert found.verdict is Verdict.UNFINISHED


@pytest.mark.parametrize("right", [[["a", "b"], ["b", "a"]], [["a", "b"]]])
def test_a_lock_that_is_held_at_the_end_is_held_on_purpose(right: list[list[str]]) -> None:
    """It hides no other failure."""

    async def test() -> None:
        lock = trio.Lock()
        await in_order(right)
        await lock.acquire()

    found = explored(test)
    assert found.verdict is (Verdict.CONFIRMED if len(right) == 2 else Verdict.REFUTED)


# ==== cancellations ====


async def with_a_bad_end() -> None:
    try:
        await in_order([["a", "b"], ["b", "a"]])
    except BaseException:  # noqa: BLE001 - a group of Cancelled
        raise ValueError("of the end") from None


def test_a_sweep_cancels_the_whole_test_at_each_step() -> None:
    assert explored(with_a_bad_end).verdict is Verdict.CONFIRMED
    found = explored(with_a_bad_end, sweep=True)
    assert found.failure is not None
    assert found.failure.message == "ValueError: of the end"
    schedule = Schedule.parse(found.failure.token)
    assert [choice.kind for _, choice in schedule.deviations] == ["scope"]
    again = explored(with_a_bad_end, replay=found.failure.token)
    assert again.failure is not None


def test_a_sweep_cancels_nothing_else() -> None:
    """What a test says about its own scopes is right as long as no task cancels them."""

    async def test() -> None:
        with trio.CancelScope() as scope:
            await in_order([["a", "b"], ["b", "a"]])
        assert not scope.cancelled_caught

    assert explored(test, sweep=True).verdict is Verdict.CONFIRMED


@pytest.mark.parametrize("in_a_task", [False, True])
def test_what_a_cancelled_test_asserts_at_its_end_is_no_failure(in_a_task: bool) -> None:
    """It says what is true if no task cancels the test; any other error counts."""

    def test_that(fails: Callable[[], object]) -> Test:
        async def works() -> None:
            done = False
            try:
                await trio.lowlevel.checkpoint()
                done = True
            finally:
                if not done:
                    fails()

        async def test() -> None:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(works)

        return test if in_a_task else works

    def asserts() -> None:
        raise AssertionError

    def breaks() -> None:
        raise KeyError

    assert explored(test_that(asserts), sweep=True).verdict is Verdict.CONFIRMED
    assert explored(test_that(breaks), sweep=True).verdict is Verdict.REFUTED


def test_a_sweep_that_is_cut_short_says_so() -> None:
    found = explored(crowd, sweep=True, executions=10)
    assert found.verdict is Verdict.UNFINISHED
    assert "stopped after executions=10, cancelled in the first 5 of " in found.covered


def test_a_token_that_does_not_fit_is_an_error() -> None:
    with pytest.raises(ReplayError):
        explored(crowd, replay="x1t:3rnobody:6.91e8")


# ==== clocks ====


def with_a_clock(test: Callable[[trio.testing.MockClock | MovedClock], Awaitable[object]]) -> None:
    """Run it with the clock of a fixture, in plain trio and in an execution: the same must be true."""
    plain = trio.testing.MockClock()
    trio.run(test, plain, clock=plain)

    async def execution() -> None:
        clock = in_execution(trio.testing.MockClock())
        assert isinstance(clock, MovedClock)
        await test(clock)

    found = explored(execution)
    assert found.verdict is Verdict.CONFIRMED, found.failure


def test_a_mock_clock_stands_still_until_it_is_moved() -> None:
    async def test(clock: trio.testing.MockClock | MovedClock) -> None:
        woke = []

        async def sleeper() -> None:
            await trio.sleep(5)
            woke.append(trio.current_time())

        async with trio.open_nursery() as nursery:
            nursery.start_soon(sleeper)
            await trio.testing.wait_all_tasks_blocked()
            assert (clock.current_time(), woke) == (0, [])
            clock.jump(3)
            await trio.testing.wait_all_tasks_blocked()
            assert (clock.current_time(), woke) == (3, [])
            clock.jump(3)
            await trio.testing.wait_all_tasks_blocked()
            assert woke == [6]
        clock.autojump_threshold = 0
        await trio.sleep(1000)
        assert (clock.rate, clock.autojump_threshold, clock.current_time()) == (0, 0, 1006)

    with_a_clock(test)


def test_a_mock_clock_has_the_errors_of_the_real_one() -> None:
    async def test(clock: trio.testing.MockClock | MovedClock) -> None:
        with pytest.raises(ValueError, match="rate must be >= 0"):
            clock.rate = -1
        with pytest.raises(ValueError, match="time can't go backwards"):
            clock.jump(-1)

    with_a_clock(test)


def test_a_clock_that_runs_passes_the_time_when_no_task_can_run() -> None:
    async def test() -> None:
        clock = in_execution(trio.testing.MockClock())
        assert isinstance(clock, MovedClock)
        clock.rate = 1000
        await trio.sleep(5)

    assert explored(test).verdict is Verdict.CONFIRMED


def test_a_test_that_waits_for_a_clock_that_stands_still_is_a_deadlock() -> None:
    async def test() -> None:
        in_execution(trio.testing.MockClock())
        await trio.sleep(5)

    with pytest.raises(NotExplored, match="no order decides: deadlock"):
        explored(test)
