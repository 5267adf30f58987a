"""A program that goes round forever under some schedules only."""

from __future__ import annotations

from functools import partial
from typing import Literal

import pytest
import trio
from trio.lowlevel import checkpoint

from structsync.testing import Settings, Verdict, explore
from structsync.testing._exploration import with_handle
from structsync.testing._search import endless
from structsync.testing._search.search import explore_outcomes

STEPS = 200  # more than enough, and soon over


async def who_looks_first_looks_forever() -> None:
    first: list[str] = []

    async def set_it() -> None:
        first.append("setter")

    async def look() -> None:
        first.append("looker")
        while first[0] != "setter":
            await checkpoint()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(set_it)
        nursery.start_soon(look)


@pytest.mark.parametrize("cancels", [0, 1])
@pytest.mark.parametrize("hashing", ["128", "exact"])
def test_a_program_that_goes_round_forever_in_one_order_is_refuted(
    cancels: int, hashing: Literal["128", "exact"]
) -> None:
    """With a cancellation it would end, but no task owes it one."""
    failure = explore(
        who_looks_first_looks_forever, cancels=cancels, hashing=hashing, max_steps=STEPS
    ).failure
    assert failure is not None
    assert (failure.kind, failure.deviations, failure.replayed) == ("endless", 1, "same")
    again = explore(
        who_looks_first_looks_forever, cancels=cancels, max_steps=STEPS, replay=failure.token
    )
    assert again.failure is not None
    assert again.failure.kind == "endless"


async def who_looks_looks_until_it_is_set(rounds: int = 1) -> None:
    there: list[str] = []

    async def set_it() -> None:
        await checkpoint()
        there.append("setter")

    async def look() -> None:
        while not there:
            for _ in range(rounds):
                await checkpoint()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(look)
        nursery.start_soon(set_it)


@pytest.mark.unmeasured
@pytest.mark.parametrize("cancels", [0, 1])
@pytest.mark.parametrize("rounds", [1, 16, 17])
def test_a_loop_that_can_be_left_at_any_time_is_no_failure(cancels: int, rounds: int) -> None:
    found = explore(
        partial(who_looks_looks_until_it_is_set, rounds), search="states", cancels=cancels
    )
    assert found.verdict is Verdict.CONFIRMED


async def the_second_of_two_turns_goes_round(period: int) -> None:
    """Where it goes round nothing is left to choose."""
    turns: list[str] = []

    async def turn(name: str) -> None:
        turns.append(name)
        await checkpoint()
        while turns == ["b", "a"]:
            for _ in range(period):
                await checkpoint()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(turn, "a")
        nursery.start_soon(turn, "b")


@pytest.mark.unmeasured
@pytest.mark.parametrize("period", [1, 5, 16, 40])
def test_a_round_of_any_length_is_found(period: int) -> None:
    failure = explore(
        partial(the_second_of_two_turns_goes_round, period), cancels=0, max_steps=STEPS
    ).failure
    assert failure is not None
    assert failure.kind == "endless"


def test_a_search_that_keeps_no_ways_would_miss_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endless.ReachabilityMap, "endless", lambda self: frozenset())
    assert explore(who_looks_first_looks_forever).verdict is Verdict.CONFIRMED


def test_the_search_goes_on_with_more_deviations_until_it_is_there(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(endless, "FEW", 1)
    failure = explore(who_looks_first_looks_forever, cancels=0, max_steps=STEPS).failure
    assert failure is not None
    assert failure.kind == "endless"


def test_it_is_an_outcome_where_all_are_collected() -> None:
    test = with_handle(who_looks_first_looks_forever)
    by_states, plainly = (
        explore_outcomes(test, Settings(cancels=0, max_steps=STEPS, search=search))
        for search in ("states", "plain")
    )
    assert by_states.outcomes == plainly.outcomes
    assert len(by_states.outcomes) == 2


def test_a_search_that_was_stopped_says_nothing_about_rounds() -> None:
    found = explore(who_looks_first_looks_forever, executions=2)
    assert found.verdict is Verdict.UNFINISHED
