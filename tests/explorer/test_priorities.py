"""Schedules by priorities: what they find, how often, and what is claimed where they find nothing."""

from __future__ import annotations

import re
from typing import Any

import pytest
import trio
from trio.lowlevel import checkpoint

from structsync.testing import ExploredRun, Settings, Verdict, explore
from structsync.testing._exploration import with_handle
from structsync.testing._search import sampling, search
from structsync.testing._search.priorities import RandomPriorities, UnseenStates
from structsync.testing._search.runs import Runs
from structsync.testing._state.identity import Opaque


async def the_last_of_many_comes_first() -> None:
    """One of 3,628,800 orders in ten is wrong: random steps seldom hold nine tasks up for so long."""
    arrived = list[int]()

    async def arrives(number: int) -> None:
        for _ in range(4):
            await checkpoint()
        arrived.append(number)

    async with trio.open_nursery() as nursery:
        for number in range(10):
            nursery.start_soon(arrives, number)
    assert arrived[0] != 9


async def needs_two_changes() -> None:
    """Wrong only if the reader is held up between its two looks, and the writer between its writes."""
    first = second = 0

    async def writes() -> None:
        nonlocal first, second
        first = 1
        await checkpoint()
        second = 1

    async def reads() -> None:
        seen = second
        await checkpoint()
        assert (seen, first, second) != (0, 1, 0)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(reads)
        nursery.start_soon(writes)


def test_a_fault_of_depth_one_is_met_as_often_as_is_claimed() -> None:
    """The task with the highest priority of ten comes first: one execution in ten, far above chance."""
    for seed in range(10):
        asked = Settings(search="pct", depth=1, cancels=0, executions=60, seed=seed)
        runs = Runs(with_handle(the_last_of_many_comes_first), asked)
        with runs.open():
            assert search.search(runs).failed is not None, seed


def test_a_seed_makes_the_same_schedules_again() -> None:
    tokens = [
        explore(needs_two_changes, search="pct", cancels=0, executions=200, seed=seed).failure
        for seed in (1, 1, 2, 3, 4)
    ]
    assert None not in tokens
    numbers = [one.execution for one in tokens if one is not None]
    assert numbers[0] == numbers[1]
    assert len(set(numbers)) > 1, "the seed makes no difference"


def test_without_changes_of_priority_a_fault_that_needs_one_is_never_met() -> None:
    """What ``depth`` is: with 1 each task runs to its end before the next."""
    one = explore(needs_two_changes, search="pct", depth=1, cancels=0, executions=300)
    two = explore(needs_two_changes, search="pct", depth=2, cancels=0, executions=300)
    assert one.verdict is Verdict.UNFINISHED
    assert two.verdict is Verdict.REFUTED


def test_what_was_not_found_is_told_with_the_chance_that_it_would_have_been() -> None:
    async def is_right() -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(checkpoint)
            nursery.start_soon(checkpoint)

    found = explore(is_right, search="pct", depth=2, cancels=0, executions=100, seed=7)
    assert found.way == "sampled"
    assert found.unfinished is not None
    assert found.unfinished.startswith("stopped after executions=100: 100 schedules by priorities")
    assert "2 orderings among 3 tasks within 6 steps" in found.unfinished
    assert found.unfinished.endswith("at least 99 %; seed=7")


def test_the_chance_is_that_of_the_paper() -> None:
    chooser = RandomPriorities(seed=0, depth=3)
    chooser.actors, chooser.longest = 4, 10
    assert chooser.chance(1) == pytest.approx(1 / 400)
    assert chooser.chance(400) == pytest.approx(1 - (1 - 1 / 400) ** 400)
    chooser.depth, chooser.actors = 1, 1
    assert chooser.chance(1) == 1


def test_who_polls_is_overtaken_by_whom_it_waits_for() -> None:
    """Else an execution in which the one who polls is the first would never end."""

    async def polls() -> None:
        ready = False

        async def waits() -> None:
            while not ready:
                await checkpoint()

        async def sets() -> None:
            nonlocal ready
            ready = True

        async with trio.open_nursery() as nursery:
            nursery.start_soon(waits)
            nursery.start_soon(sets)

    found = explore(polls, search="pct", cancels=0, executions=50, max_steps=500)
    assert found.failure is None
    assert found.steps < 50 * 200


def test_cancellations_are_injected_at_all_steps() -> None:
    async def is_cancelled_in_the_third_wait(x: ExploredRun) -> None:
        done = 0
        x.finally_(lambda: done != 2)

        async def waits() -> None:
            nonlocal done
            for _ in range(4):
                await checkpoint()
                done += 1

        async with trio.open_nursery() as nursery:
            nursery.start_soon(waits)
            nursery.start_soon(checkpoint)

    found = explore(is_cancelled_in_the_third_wait, search="pct", executions=400)
    assert found.failure is not None


# ==== where a search does not end ====


async def too_large(workers: int = 8) -> None:
    """So many states that a few hundred executions see but a part of them."""
    held = dict[int, int]()

    async def works(number: int) -> None:
        for turn in range(3):
            held[number] = turn
            await checkpoint()

    async with trio.open_nursery() as nursery:
        for number in range(workers):
            nursery.start_soon(works, number)


@pytest.mark.slow
def test_the_rest_of_the_budget_goes_to_schedules_by_priorities() -> None:
    found = explore(too_large, cancels=0, executions=500, symmetry=False)
    assert found.verdict is Verdict.UNFINISHED
    assert found.way == "merged"
    assert found.executions == 500
    assert found.unfinished is not None
    assert "100 schedules by priorities at random found nothing" in found.unfinished
    assert "states on their way" in found.unfinished
    assert "had not been seen" in found.unfinished


def test_a_budget_of_which_too_little_would_be_left_goes_to_states_as_a_whole() -> None:
    found = explore(too_large, cancels=0, executions=10, symmetry=False)
    assert (found.executions, found.unfinished) == (10, "stopped after executions=10")


def test_what_a_search_by_states_did_not_reach_is_found_by_the_rest() -> None:
    """The fault is where depth-first search comes last: the last task is the first of all."""

    async def is_wrong_far_away() -> None:
        order = list[int]()

        async def works(number: int) -> None:
            for _ in range(2):
                order.append(number)
                await checkpoint()

        async with trio.open_nursery() as nursery:
            for number in range(5):
                nursery.start_soon(works, number)
        assert order[:2] != [4, 4]

    asked: dict[str, Any] = {"cancels": 0, "executions": 200, "symmetry": False}
    assert explore(is_wrong_far_away, **asked).failure is not None
    assert explore(is_wrong_far_away, search="states", **asked).failure is None


@pytest.mark.slow
def test_that_every_state_is_new_is_told_where_none_was_seen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The fault: what the search has seen is forgotten. The share must show it."""
    the_rest = sampling.the_rest

    async def is_half_seen() -> None:
        await too_large(workers=4)

    def unseen() -> int:
        text = explore(is_half_seen, cancels=0, executions=250, symmetry=False).unfinished
        found = re.search(r"states on their way (\d+) %", text or "")
        assert found, text
        return int(found[1])

    known = unseen()
    monkeypatch.setattr(
        search, "the_rest", lambda runs, found, seen, look: the_rest(runs, found, {}, look)
    )
    assert known < unseen() == 100


def test_where_states_cannot_be_told_apart_no_share_of_them_is_claimed() -> None:
    async def holds_what_no_task_sees() -> None:
        held = iter([1, 2, 3]), memoryview(b"x")

        async def works() -> None:
            for _ in range(3):
                await checkpoint()

        async with trio.open_nursery() as nursery:
            for _ in range(7):
                nursery.start_soon(works)
        del held

    found = explore(holds_what_no_task_sees, cancels=0, executions=300)
    assert found.unfinished is not None
    assert "schedules by priorities" in found.unfinished
    assert "on their way" not in found.unfinished


def test_a_state_that_turns_out_opaque_ends_the_count_of_unseen_ones() -> None:
    def look(execution: object) -> bytes:
        raise Opaque("something")

    chooser = RandomPriorities(0, 3)
    counter = UnseenStates(chooser, set(), look)  # type: ignore[arg-type]
    runs = Runs(with_handle(needs_two_changes), Settings(cancels=0))
    with runs.open():
        chooser.begin()
        runs.execute(counter)
    assert counter.summary() == ""
