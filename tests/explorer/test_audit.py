"""What a search by states leaves out is looked at again before it confirms anything."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
import trio
from trio.lowlevel import checkpoint

from structsync import Semaphore
from structsync.testing import NondeterminismError, Verdict, explore
from structsync.testing._execution.schedule import Choice
from structsync.testing._search import audit, search
from structsync.testing._state import global_variables

from .conftest import NoState, workers
from .hidden_in_corners import CORNERS, LEFT_TO_THE_AUDIT
from .hidden_state import HIDDEN, LARGE


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.unmeasured] if name in LARGE else [])
        for name in HIDDEN
    ],
)
def test_a_small_program_is_searched_plainly_and_rests_on_no_state(name: str) -> None:
    found = explore(HIDDEN[name].program(), cancels=0)
    assert found.verdict is Verdict.REFUTED
    assert found.way == "plain"
    assert found.failure is not None
    assert found.failure.execution <= 15
    assert found.states == 0


@pytest.mark.unmeasured
@pytest.mark.parametrize("name", HIDDEN)
def test_what_a_state_does_not_hold_is_never_confirmed(name: str) -> None:
    found = explore(HIDDEN[name].program(), search="states", cancels=0)
    assert found.verdict is not Verdict.CONFIRMED


@pytest.mark.unmeasured
@pytest.mark.parametrize("name", LEFT_TO_THE_AUDIT)
def test_what_the_walk_leaves_out_the_audit_sees(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = LEFT_TO_THE_AUDIT[name].program()
    assert explore(program, search="states", cancels=0).verdict is Verdict.REFUTED
    monkeypatch.setattr(search, "audit", lambda *_: audit.Audit(0, 0))
    assert explore(program, search="states", cancels=0).verdict is Verdict.CONFIRMED


@pytest.mark.unmeasured
@pytest.mark.parametrize("name", CORNERS)
def test_in_a_corner_too_a_small_program_is_searched_plainly(name: str) -> None:
    hidden = CORNERS[name]
    found = explore(hidden.program(), cancels=0)
    hidden.reset()
    assert found.verdict is Verdict.REFUTED
    assert found.way == "plain"


@pytest.mark.usefixtures("blind")
@pytest.mark.parametrize("part", ["FEWEST_MERGES", "FEWEST_SCHEDULES"])
def test_either_half_of_the_audit_sees_it(part: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audit, part, 0)
    monkeypatch.setattr(audit, "SHARE", 1_000)
    found = explore(HIDDEN["a global Decimal"].program(), search="states", cancels=0)
    assert found.verdict is Verdict.REFUTED
    assert (found.schedules_audited > 0) == (part == "FEWEST_MERGES")


def the_log_is_returned() -> Callable[[], Awaitable[str]]:
    """Nothing fails; the two orders only end with different values."""
    hidden = HIDDEN["a global path"]

    async def returns_the_order() -> str:
        hidden.reset()

        async def worker(number: int) -> None:
            await checkpoint()
            hidden.note(number)

        async with trio.open_nursery() as nursery:
            for number in (1, 2):
                nursery.start_soon(worker, number)
        async with trio.open_nursery() as nursery:
            for _ in range(2):
                nursery.start_soon(checkpoint)
        return str(hidden.read())

    return returns_the_order


@pytest.mark.slow
@pytest.mark.usefixtures("blind")
def test_an_ending_that_was_never_seen_is_not_finished_and_says_how_to_help() -> None:
    found = explore(the_log_is_returned(), search="states", cancels=0)
    assert found.verdict is Verdict.UNFINISHED
    assert found.unfinished is not None
    assert "two states were taken for equal" in found.unfinished
    assert "search='plain'" in found.unfinished
    differs = "tests.explorer.hidden_state.path is PurePosixPath('/1/2') in the one and "
    assert f"{differs}PurePosixPath('/2/1') in the other" in found.unfinished


def test_of_many_merges_each_may_be_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audit, "REMEMBERED", 5)
    log = audit.MergeLog(0)
    paths = [[Choice("run", str(number))] for number in range(100)]
    for path in paths:
        log.cut(path)
    assert log.count == 100
    assert len(log.merges) == 5
    assert any(path in log.merges for path in paths[5:])


@pytest.mark.usefixtures("blind")
def test_a_whole_schedule_that_ends_as_none_did_is_not_finished(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(audit, "FEWEST_MERGES", 0)
    monkeypatch.setattr(audit, "SHARE", 1_000)
    found = explore(the_log_is_returned(), search="states", cancels=0)
    assert found.verdict is Verdict.UNFINISHED
    assert found.unfinished is not None
    assert "a schedule at random ends with" in found.unfinished
    assert found.schedules_audited > 0


async def reads_what_was_hidden() -> None:
    _order = await the_log_is_returned()()
    async with trio.open_nursery() as nursery:
        for _ in range(2):
            nursery.start_soon(checkpoint)


@pytest.mark.slow
@pytest.mark.usefixtures("blind")
def test_a_state_that_never_came_next_is_not_finished_and_says_after_which_step() -> None:
    found = explore(reads_what_was_hidden, search="states", cancels=0)
    assert found.verdict is Verdict.UNFINISHED
    assert found.unfinished is not None
    assert re.search(r"after 'run \S+' at step \d+ comes what never came", found.unfinished)


#: The same in each state, whatever is noted in it.
COUNTS = NoState()


def differs_after(executions: int, difference: Callable[[bool], Any]) -> Callable[[], Any]:
    """Return a program that is another one when it has run so often."""
    vars(COUNTS)["runs"] = 0

    async def program() -> None:
        vars(COUNTS)["runs"] += 1
        found = difference(vars(COUNTS)["runs"] > executions)
        async with trio.open_nursery() as nursery:
            for _ in range(3):
                nursery.start_soon(found)
        del found

    return program


def runs_before_the_audit(difference: Callable[[bool], Any]) -> int:
    found = explore(differs_after(1_000, difference), search="states", cancels=0)
    runs: int = vars(COUNTS)["runs"]
    return runs - found.merges_audited - found.schedules_audited


def test_an_execution_that_is_another_one_by_now_cannot_be_carried_on() -> None:
    async def one() -> None:
        await checkpoint()

    async def another() -> None:
        await checkpoint()

    before = runs_before_the_audit(lambda _: one)
    program = differs_after(before, lambda over: another if over else one)
    with pytest.raises(NondeterminismError, match="not do what it did before under the same"):
        explore(program, search="states", cancels=0)


def test_a_cut_that_is_at_an_unknown_state_by_now_is_not_finished() -> None:
    async def waits(_text: str) -> None:
        await checkpoint()

    def same_name(over: bool) -> Callable[[], Any]:
        async def one() -> None:
            await waits("another text" if over else "a text")

        return one

    program = differs_after(runs_before_the_audit(same_name), same_name)
    found = explore(program, search="states", cancels=0)
    assert found.verdict is Verdict.UNFINISHED
    assert found.unfinished is not None
    assert "where it was cut comes what never came" in found.unfinished


def test_a_different_ending_is_no_failure_where_every_schedule_is_tried() -> None:
    assert explore(the_log_is_returned(), cancels=0).verdict is Verdict.CONFIRMED


def test_the_result_says_how_it_was_searched_and_what_was_audited() -> None:
    small = explore(workers(2), cancels=0)
    assert (small.way, small.merges_audited, small.schedules_audited) == ("plain", 0, 0)
    assert "audited" not in small.covered
    merged = explore(workers(3), search="states", cancels=0)
    assert merged.way == "merged"
    assert merged.merges_audited > 0
    assert merged.schedules_audited >= audit.FEWEST_SCHEDULES
    assert f"audited: {merged.merges_audited} merges" in merged.covered
    sample = explore(workers(3), search="random", executions=20)
    assert sample.way == "sampled"


async def semaphore_of_two() -> None:
    semaphore = Semaphore(2)

    async def worker() -> None:
        async with semaphore:
            await checkpoint()

    async with trio.open_nursery() as nursery:
        for _ in range(4):
            nursery.start_soon(worker)


@pytest.mark.slow
def test_what_is_too_large_for_that_is_searched_by_states() -> None:
    found = explore(semaphore_of_two)
    assert found.verdict is Verdict.CONFIRMED
    assert found.way == "merged"


def test_an_audit_that_the_budget_ends_is_not_finished() -> None:
    whole = explore(workers(3), search="states", cancels=0)
    for executions in (whole.searched + 2, whole.executions - 2):
        found = explore(workers(3), search="states", cancels=0, executions=executions)
        assert found.verdict is Verdict.UNFINISHED
        assert found.unfinished == f"stopped after executions={executions}, in the audit"


async def goes_round_until_it_is_set() -> None:
    over = False

    async def looks() -> None:
        while not over:
            await checkpoint()

    async def sets() -> None:
        nonlocal over
        await checkpoint()
        over = True

    async with trio.open_nursery() as nursery:
        nursery.start_soon(looks)
        nursery.start_soon(looks)
        nursery.start_soon(sets)


@pytest.mark.unmeasured
def test_a_random_schedule_that_goes_round_for_long_is_no_failure() -> None:
    found = explore(goes_round_until_it_is_set, cancels=0, max_steps=30)
    assert found.verdict is Verdict.CONFIRMED
    assert found.way == "merged"


ORDER: list[int] = []


async def one_of_six_orders_is_wrong() -> None:
    ORDER.clear()

    async def worker(number: int) -> None:
        await checkpoint()
        ORDER.append(number)

    async with trio.open_nursery() as nursery:
        for number in range(3):
            nursery.start_soon(worker, number)
    async with trio.open_nursery() as nursery:
        for _ in range(2):
            nursery.start_soon(checkpoint)
    assert ORDER != [2, 0, 1]


@pytest.mark.unmeasured
def test_a_hole_in_the_walk_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(global_variables, "_of_code", {})
    monkeypatch.setattr(global_variables, "_is_data", lambda value: False)
    found = explore(one_of_six_orders_is_wrong, search="states", cancels=0)
    assert found.verdict is Verdict.REFUTED
    assert found.merges_audited > 0


@pytest.mark.usefixtures("blind")
@pytest.mark.parametrize(
    ("found", "text"),
    [(None, "no name leads to the value"), (ZeroDivisionError("x"), "compared: ZeroDivisionError")],
)
def test_a_value_that_cannot_be_named_is_said_so(
    found: Exception | None, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def difference(*_: object) -> None:
        if found is not None:
            raise found

    monkeypatch.setattr(audit, "difference", difference)
    unfinished = explore(reads_what_was_hidden, search="states", cancels=0).unfinished
    assert unfinished is not None
    assert text in unfinished
