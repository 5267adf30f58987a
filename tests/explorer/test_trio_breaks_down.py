"""An error inside of trio is a failure of the test like any other, with the schedule that leads to it."""

from __future__ import annotations

from typing import Any, get_args

import pytest
import trio
from trio.lowlevel import Abort, checkpoint, current_task, reschedule, wait_task_rescheduled

from structsync.testing import Verdict, explore
from structsync.testing._execution.engine import Engine
from structsync.testing._settings import Search

from .conftest import run_once


async def wakes_who_has_ended() -> None:
    parked: list[trio.lowlevel.Task] = []

    async def parks() -> None:
        parked.append(current_task())
        await wait_task_rescheduled(lambda _: Abort.SUCCEEDED)

    async def wakes() -> None:
        for _ in range(3):
            await checkpoint()
        for task in parked:
            reschedule(task)
            for _ in range(3):
                await checkpoint()
            reschedule(task)
            await checkpoint()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(parks)
        nursery.start_soon(wakes)


async def fails_in_the_abort() -> None:
    def abort(_: object) -> Abort:
        raise ZeroDivisionError("in the abort function")

    async def parks() -> None:
        await wait_task_rescheduled(abort)

    async with trio.open_nursery() as nursery:
        nursery.cancel_scope.cancel()
        nursery.start_soon(parks)
        nursery.start_soon(checkpoint)


async def aborts_without_a_word() -> None:
    async def parks() -> None:
        await wait_task_rescheduled(lambda _: None)  # type: ignore[arg-type,return-value]

    async with trio.open_nursery() as nursery:
        nursery.cancel_scope.cancel()
        nursery.start_soon(parks)
        nursery.start_soon(checkpoint)


BREAKS = {
    wakes_who_has_ended: "trio broke down: parks#0 was rescheduled when it had ended",
    fails_in_the_abort: "trio broke down: ZeroDivisionError: in the abort function",
    aborts_without_a_word: "trio broke down: TrioInternalError: abort function must return Abort enum",
}


@pytest.mark.unmeasured
@pytest.mark.parametrize("program", BREAKS, ids=lambda one: one.__name__)
@pytest.mark.parametrize("search", get_args(Search))
def test_it_is_a_failure_with_its_schedule(search: Any, program: Any) -> None:
    cancels = 1 if search == "sweep" else 0
    found = explore(program, search=search, cancels=cancels, executions=300)
    assert found.verdict is Verdict.REFUTED
    assert found.failure is not None
    assert found.failure.kind == "error"
    assert found.failure.token
    if search not in ("sweep", "random"):  # these come upon another schedule first
        assert found.failure.message == BREAKS[program]
        assert found.failure.replayed == "same"


async def wakes_twice() -> None:
    parked: list[trio.lowlevel.Task] = []

    async def parks() -> None:
        parked.append(current_task())
        await wait_task_rescheduled(lambda _: Abort.SUCCEEDED)

    async def wakes() -> None:
        for task in 2 * parked:
            reschedule(task)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(parks)
        nursery.start_soon(wakes)
        await checkpoint()
        await checkpoint()
        nursery.cancel_scope.cancel()


def test_an_error_that_says_nothing_says_where_in_trio_it_was_raised() -> None:
    failure = explore(wakes_twice, cancels=0).failure
    assert failure is not None
    assert failure.message == "AssertionError in trio's reschedule()"
    assert failure.replayed == "same"


@pytest.mark.parametrize("program", BREAKS, ids=lambda one: one.__name__)
def test_both_engines_say_the_same(kind: type[Engine], program: Any) -> None:
    engine = run_once(program, kind=kind, cancels=0)
    assert engine.ending is not None
    assert engine.ending.message == BREAKS[program]
