"""What a confirmed test says besides: what its search has taken for granted."""

from __future__ import annotations

from functools import partial

import pytest
import trio
from trio.lowlevel import checkpoint

from structsync.testing import ExploredRun, Verdict, explore
from structsync.testing._execution.engine import Engine
from structsync.testing._execution.names import Scopes

from .conftest import Program, run_once


async def sleeps(*seconds: float) -> None:
    async with trio.open_nursery() as nursery:
        for one in seconds:
            nursery.start_soon(trio.sleep, one)


async def a_sleep_and_a_timeout() -> None:
    async with trio.open_nursery() as nursery:
        nursery.start_soon(trio.sleep, 1)
        nursery.start_soon(checkpoint)
        with trio.move_on_after(2):
            await trio.sleep_forever()


async def a_deadline_that_is_set_afterwards() -> None:
    async with trio.open_nursery() as nursery:
        nursery.start_soon(trio.sleep, 1)
        nursery.start_soon(checkpoint)
        with trio.CancelScope() as scope:
            scope.deadline = trio.current_time() + 2
            await trio.sleep_forever()


RACES = [partial(sleeps, 1, 2), a_sleep_and_a_timeout, a_deadline_that_is_set_afterwards]


async def guarded(*seconds: float) -> None:
    with trio.fail_after(9), trio.move_on_after(8):
        await sleeps(*seconds)


async def one_after_the_other() -> None:
    async def worker() -> None:
        await trio.sleep(1)
        await trio.sleep(1)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(worker)
        nursery.start_soon(checkpoint)


async def a_timeout_that_was_cancelled() -> None:
    async with trio.open_nursery() as nursery:
        nursery.start_soon(trio.sleep, 1)
        with trio.move_on_after(2) as scope:
            scope.cancel()
            with trio.CancelScope(shield=True):
                await trio.sleep(1)


NO_RACE = [
    partial(sleeps, 1, 1),
    partial(guarded, 1, 1),
    one_after_the_other,
    a_timeout_that_was_cancelled,
]


@pytest.mark.parametrize("program", RACES)
@pytest.mark.parametrize("cancels", [0, 1])
def test_deadlines_that_came_in_their_order_only_are_told(program: Program, cancels: int) -> None:
    found = explore(program, cancels=cancels)
    assert found.verdict is Verdict.CONFIRMED
    (note,) = found.notes
    assert note.startswith("deadlines came in their order only")
    assert found.covered.endswith(note)


@pytest.mark.parametrize("program", RACES)
def test_where_they_come_at_any_time_there_is_nothing_to_tell(program: Program) -> None:
    assert explore(program, cancels=0, clock="explore").notes == ()


@pytest.mark.parametrize("program", NO_RACE)
@pytest.mark.parametrize("cancels", [0, 1])
def test_equal_deadlines_and_the_guards_of_a_test_do_not_race(
    program: Program, cancels: int
) -> None:
    found = explore(program, cancels=cancels)
    assert (found.verdict, found.notes) == (Verdict.CONFIRMED, ())


@pytest.mark.parametrize("program", [*RACES, *NO_RACE])
def test_both_engines_see_the_same_races(program: Program, kind: type[Engine]) -> None:
    assert run_once(program, kind=kind).raced is (program in RACES)


async def the_first_message_counts(x: ExploredRun) -> None:
    """Right if the slow answer is the later one, as it is on a clock without jitter."""
    answers: list[str] = []

    async def answer(after: float, text: str) -> None:
        await trio.sleep(after)
        answers.append(text)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(answer, 1.0, "fast")
        nursery.start_soon(answer, 1.1, "slow")
        await checkpoint()
    assert answers == ["fast", "slow"]


def test_a_program_that_only_the_order_of_its_deadlines_makes_right_is_not_simply_confirmed() -> (
    None
):
    found = explore(the_first_message_counts)
    assert found.verdict is Verdict.CONFIRMED
    assert "clock='explore'" in found.covered
    assert explore(the_first_message_counts, clock="explore").failure is not None


def test_a_search_that_does_not_look_at_the_deadlines_would_say_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Scopes, "deadlines", lambda self: set())
    assert explore(the_first_message_counts).notes == ()


async def one_polls(rounds: int) -> None:
    there: list[int] = []

    async def look() -> None:
        while len(there) < rounds:
            await checkpoint()

    async def come() -> None:
        for number in range(rounds):
            await checkpoint()
            there.append(number)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(look)
        nursery.start_soon(come)


async def no_task_polls() -> None:
    lock = trio.Lock()

    async def worker() -> None:
        async with lock:
            await checkpoint()

    async with trio.open_nursery() as nursery:
        for _ in range(3):
            nursery.start_soon(worker)


@pytest.mark.unmeasured
@pytest.mark.parametrize(
    ("program", "goes_round"), [(partial(one_polls, 2), True), (no_task_polls, False)]
)
@pytest.mark.parametrize("cancels", [0, 1])
def test_where_executions_can_go_round_starvation_is_named_as_not_looked_for(
    program: Program, goes_round: bool, cancels: int
) -> None:
    found = explore(program, cancels=cancels, search="states")
    assert found.verdict is Verdict.CONFIRMED
    assert any("starvation was not looked for" in one for one in found.notes) is goes_round


def test_where_every_schedule_was_tried_each_of_them_has_ended() -> None:
    found = explore(no_task_polls, cancels=0)
    assert (found.way, found.notes) == ("plain", ())
