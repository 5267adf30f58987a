"""``liveness=True`` and tasks that never park: they go round, none gets on, and the test does not end."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import trio
from trio.lowlevel import checkpoint

from structsync.testing import ExploredRun, Failure, Verdict, explore
from structsync.testing._execution.schedule import Choice, Schedule
from structsync.testing._search import starvation
from structsync.testing._search.choosers import Prefix

from .conftest import Program, run_once


async def no_time() -> None:
    await trio.sleep(0)  # noqa: ASYNC115 - what programs do


POLLS = pytest.mark.parametrize("poll", [checkpoint, no_time], ids=["checkpoint", "sleep(0)"])


def after_you(poll: Callable[[], Any] = checkpoint) -> Program:
    """Two give way to each other, in step if they like."""

    async def program() -> None:
        wants = [False, False]

        async def guest(me: int) -> None:
            wants[me] = True
            await poll()
            while wants[1 - me]:
                await poll()
                wants[me] = False
                await poll()
                wants[me] = True
                await poll()
            wants[me] = False

        async with trio.open_nursery() as nursery:
            nursery.start_soon(guest, 0)
            nursery.start_soon(guest, 1)

    return program


def livelock(program: Program, **settings: Any) -> Failure:
    failure = explore(program, liveness=True, **{"cancels": 0, **settings}).failure
    assert failure is not None
    assert failure.kind == "livelock"
    assert failure.replayed == "same"
    return failure


@POLLS
@pytest.mark.parametrize("order", ["any", "trio"])
def test_two_that_give_way_to_each_other_forever_are_found(poll: Any, order: Any) -> None:
    failure = livelock(after_you(poll), order=order)
    assert failure.message.startswith(
        "guest#0 and guest#1 loop forever and no task makes progress,"
    )
    shown = failure.counterexample
    assert shown.cycle_start is not None
    assert {step.actor for step in shown.steps[shown.cycle_start :]} == {"guest#0", "guest#1"}
    assert f"the last {len(shown.steps) - shown.cycle_start} steps repeat" in failure.message


@pytest.mark.unmeasured
def test_a_cancellation_that_would_end_it_is_owed_to_no_task() -> None:
    livelock(after_you(), cancels=1)


@pytest.mark.unmeasured
def test_the_token_of_a_livelock_shows_it_again() -> None:
    failure = livelock(after_you())
    again = explore(after_you(), liveness=True, cancels=0, replay=failure.token).failure
    assert again is not None
    assert (again.kind, again.message) == (failure.kind, failure.message)


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


def test_one_that_polls_for_what_can_come_no_more_is_found() -> None:
    assert livelock(who_looks_first_looks_forever).message.startswith("look#0 loops forever")


@POLLS
def test_a_loop_that_fairness_leads_out_of_is_no_livelock(poll: Any) -> None:
    async def program() -> None:
        there = []

        async def set_it() -> None:
            await poll()
            there.append("it")

        async def look() -> None:
            while not there:
                await poll()

        async with trio.open_nursery() as nursery:
            nursery.start_soon(look)
            nursery.start_soon(set_it)

    found = explore(program, liveness=True, cancels=0)
    assert (found.verdict, found.notes) == (Verdict.CONFIRMED, ())


def server(asks: bool) -> Program:
    """It goes round because it is meant to, and nothing ends it."""

    async def program(x: ExploredRun) -> None:
        lock = trio.StrictFIFOLock()

        async def serve() -> None:
            while True:
                if asks:
                    x.request()
                async with lock:
                    if asks:
                        x.progress()
                    await checkpoint()
                await checkpoint()

        async with trio.open_nursery() as nursery:
            nursery.start_soon(serve)
            nursery.start_soon(serve)

    return program


def test_of_a_test_that_never_ends_only_who_asks_can_be_kept_waiting() -> None:
    asking = explore(server(asks=True), liveness=True, cancels=0)
    silent = explore(server(asks=False), liveness=True, cancels=0)
    assert (asking.verdict, asking.notes) == (Verdict.CONFIRMED, ())
    assert silent.verdict is Verdict.CONFIRMED
    assert "no task calls x.request()" in silent.covered


def test_where_no_task_says_what_it_wants_and_no_task_ever_parks_all_of_them_poll() -> None:
    async def program() -> None:
        flag = False

        async def look() -> None:
            while not flag:
                await checkpoint()

        async with trio.open_nursery() as nursery:
            nursery.start_soon(look)
            nursery.start_soon(look)

    assert "look#0 and look#1 loop forever" in livelock(program).message


def works_until_told(gets_on: bool) -> Program:
    """A worker goes round until another one ends it, which a barging loop can put off forever."""

    async def program(x: ExploredRun) -> None:
        busy = stop = False

        async def worker() -> None:
            nonlocal busy
            while not stop:
                busy = True
                await checkpoint()
                if gets_on:
                    x.request()
                    x.progress()
                busy = False
                await checkpoint()

        async def ends_it() -> None:
            nonlocal stop
            while busy:
                await checkpoint()
            stop = True

        async with trio.open_nursery() as nursery:
            nursery.start_soon(worker)
            nursery.start_soon(ends_it)

    return program


def test_where_a_task_gets_on_each_time_it_is_no_livelock() -> None:
    livelock(works_until_told(gets_on=False))
    found = explore(works_until_told(gets_on=True), liveness=True, cancels=0)
    assert found.verdict is Verdict.CONFIRMED


@pytest.mark.unmeasured
def test_a_search_that_asks_only_for_those_who_are_parked_would_miss_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(starvation.TransitionMap, "livelock", lambda self: None)
    found = explore(after_you(), liveness=True, cancels=0)
    assert found.verdict is Verdict.CONFIRMED


@pytest.mark.parametrize(
    ("names", "kind"),
    [
        (["worker#0", "worker#1"] * 2, "livelock"),
        (["worker#0"] * 4, None),  # it is not fair to the other one
    ],
)
def test_a_schedule_that_closes_a_circle_shows_what_it_is(names: list[str], kind: str) -> None:
    async def program() -> None:
        async def worker() -> None:
            while True:
                await checkpoint()

        async with trio.open_nursery() as nursery:
            nursery.start_soon(worker)
            nursery.start_soon(worker)

    first = ["main", "worker#0", "worker#1"]
    engine = run_once(program, Prefix([Choice("run", name) for name in first + names]))
    token = Schedule.of("any", engine.choices, engine.firsts).token
    again = explore(program, liveness=True, cancels=0, replay=token)
    assert (again.failure and again.failure.kind) == kind
