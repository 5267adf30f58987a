"""``liveness=True``: can a task wait forever although all who can run do?"""

from __future__ import annotations

import queue
from collections.abc import Callable
from typing import Any

import pytest
import trio
from trio.lowlevel import checkpoint

import structsync
from structsync.testing import ExploredRun, Failure, ReplayError, Verdict, explore
from structsync.testing._execution.addresses import address_of
from structsync.testing._execution.engine import Engine
from structsync.testing._execution.public_engine import PublicEngine
from structsync.testing._execution.schedule import Choice, Schedule
from structsync.testing._search.choosers import Prefix
from structsync.testing._state import global_variables

from .conftest import Program, run_once
from .hidden_state import HIDDEN


class Barging:
    """A semaphore that lets a newcomer take a permit, although others were woken for it."""

    def __init__(self) -> None:
        self._value = 1
        self._waiters: list[trio.Event] = []

    async def acquire(self) -> None:
        while not self._value:
            event = trio.Event()
            self._waiters.append(event)
            await event.wait()
        self._value -= 1

    def release(self) -> None:
        self._value += 1
        if self._waiters:
            self._waiters.pop(0).set()


def loops(make: Callable[[], Any], count: int = 2) -> Program:
    """Workers that take one permit again and again."""

    async def program(x: ExploredRun) -> None:
        semaphore = make()

        async def worker() -> None:
            while True:
                x.request()
                await semaphore.acquire()
                x.progress()
                await checkpoint()
                semaphore.release()
                await checkpoint()

        async with trio.open_nursery() as nursery:
            for _ in range(count):
                nursery.start_soon(worker)

    return program


@pytest.mark.unmeasured
@pytest.mark.parametrize(
    "make",
    [lambda: trio.Semaphore(1), lambda: structsync.Semaphore(1), trio.StrictFIFOLock],
    ids=["trio's", "ours", "a fair lock"],
)
@pytest.mark.parametrize("order", ["any", "trio"])
def test_no_task_starves_at_a_fair_semaphore(make: Callable[[], Any], order: Any) -> None:
    found = explore(loops(make), liveness=True, cancels=0, order=order)
    assert found.failure is None
    assert found.verdict is Verdict.CONFIRMED
    assert ", liveness, audited: " in found.covered
    assert found.merges_audited > 0
    assert found.way == "merged"
    assert found.states > 5
    assert found.memory > 0


def starved(program: Program, **settings: Any) -> Failure:
    failure = explore(program, liveness=True, **{"cancels": 0, **settings}).failure
    assert failure is not None
    assert failure.kind == "starvation"
    return failure


def test_a_task_starves_where_others_may_barge() -> None:
    failure = starved(loops(Barging))
    assert failure.message.startswith("worker#")
    assert "can wait forever although every task that can run does: the last" in failure.message
    assert failure.replayed == "same"


@pytest.mark.unmeasured
def test_a_cancellation_that_would_end_it_is_owed_to_no_task() -> None:
    assert starved(loops(Barging), cancels=1, cancel="scopes").kind == "starvation"


def test_the_counterexample_says_where_the_cycle_begins() -> None:
    shown = starved(loops(Barging)).counterexample
    assert shown.cycle_start is not None
    assert 0 < shown.cycle_start < len(shown.steps)


def test_the_token_of_a_starvation_shows_it_again() -> None:
    failure = starved(loops(Barging))
    again = explore(loops(Barging), liveness=True, cancels=0, replay=failure.token)
    assert again.verdict is Verdict.REFUTED
    assert again.failure is not None
    assert (again.failure.kind, again.failure.token) == (failure.kind, failure.token)
    assert again.failure.message == failure.message


def test_the_token_of_a_starvation_that_is_cured_shows_nothing() -> None:
    failure = starved(loops(Barging))
    try:
        again = explore(
            loops(lambda: trio.Semaphore(1)), liveness=True, cancels=0, replay=failure.token
        )
    except ReplayError:
        return  # the schedule is not even possible any more
    assert again.failure is None


@pytest.mark.unmeasured
def test_without_marks_a_blocked_task_wants_something() -> None:
    async def program() -> None:
        semaphore = Barging()

        async def worker() -> None:
            while True:
                await semaphore.acquire()
                await checkpoint()
                semaphore.release()
                await checkpoint()

        async with trio.open_nursery() as nursery:
            nursery.start_soon(worker)
            nursery.start_soon(worker)

    # A woken task is not blocked any more, so this sees less than the marks do: no task is
    # passed over while it stands in line.
    assert explore(program, liveness=True, cancels=0).verdict is Verdict.CONFIRMED


def test_without_marks_one_who_is_never_woken_starves() -> None:
    async def program() -> None:
        async def works() -> None:
            while True:
                await checkpoint()

        async with trio.open_nursery() as nursery:
            nursery.start_soon(trio.sleep_forever)
            nursery.start_soon(works)

    assert starved(program).message.startswith("sleep_forever#0 can wait forever")


@pytest.mark.unmeasured
def test_who_gets_it_and_wants_the_next_in_one_step_does_not_starve() -> None:
    """Between two steps it always wants something, but not always the same thing."""

    async def program(x: ExploredRun) -> None:
        semaphore = trio.Semaphore(1)

        async def worker() -> None:
            while True:
                x.request()
                async with semaphore:
                    x.progress()

        async with trio.open_nursery() as nursery:
            nursery.start_soon(worker)
            nursery.start_soon(worker)

    assert explore(program, liveness=True, cancels=0).verdict is Verdict.CONFIRMED


@pytest.mark.unmeasured
def test_who_wants_nothing_does_not_starve() -> None:
    async def program(x: ExploredRun) -> None:
        async def works() -> None:
            while True:
                x.request()
                await checkpoint()
                x.progress()
                await checkpoint()

        async with trio.open_nursery() as nursery:
            nursery.start_soon(trio.sleep_forever)
            nursery.start_soon(works)

    assert explore(program, liveness=True, cancels=0).failure is None


def test_time_that_could_pass_must_pass_where_nothing_else_can_happen() -> None:
    async def program() -> None:
        async def works() -> None:
            while True:
                await checkpoint()

        async with trio.open_nursery() as nursery:
            nursery.start_soon(trio.sleep, 1)
            nursery.start_soon(works)

    # The clock of this search stands while a task can run, and a task always can.
    assert starved(program).message.startswith("sleep#0 can wait forever")


def test_a_deadlock_is_found_on_the_way() -> None:
    async def program() -> None:
        left, right = trio.Lock(), trio.Lock()

        async def worker(*locks: trio.Lock) -> None:
            while True:
                async with locks[0], locks[1]:
                    await checkpoint()

        async with trio.open_nursery() as nursery:
            nursery.start_soon(worker, left, right)
            nursery.start_soon(worker, right, left)

    failure = explore(program, liveness=True, cancels=0).failure
    assert failure is not None
    assert failure.kind == "deadlock"


def test_where_states_are_not_told_apart_no_starvation_is_claimed() -> None:
    opaque = queue.SimpleQueue[int]()

    async def program(x: ExploredRun) -> None:
        held = [opaque]
        await loops(Barging)(x)
        del held

    found = explore(program, liveness=True, cancels=0)
    assert found.verdict is Verdict.UNFINISHED
    assert found.unfinished is not None
    assert "SimpleQueue: states not compared, so no starvation is found" in found.unfinished


def test_an_unfinished_graph_says_nothing_of_starvation() -> None:
    found = explore(loops(Barging), liveness=True, cancels=0, executions=3)
    assert found.verdict is Verdict.UNFINISHED
    assert found.failure is None


def test_with_cancellations_the_graph_is_larger_and_no_task_fair_starves() -> None:
    async def program(x: ExploredRun) -> None:
        semaphore = trio.Semaphore(1)

        async def worker() -> None:
            while True:
                with trio.CancelScope():
                    x.request()
                    await semaphore.acquire()
                    x.progress()
                    try:
                        await checkpoint()
                    finally:
                        semaphore.release()
                x.progress()
                await checkpoint()

        async with trio.open_nursery() as nursery:
            nursery.start_soon(worker)
            nursery.start_soon(worker)

    plain = explore(program, liveness=True, cancels=0)
    more = explore(program, liveness=True, cancels=1)
    assert plain.verdict is more.verdict is Verdict.CONFIRMED
    assert more.states > plain.states


def test_a_starvation_that_trio_does_not_show_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """The fault: the reference calls its tasks by other names."""

    def renamed(engine: PublicEngine, task: trio.lowlevel.Task) -> None:
        Engine.task_spawned(engine, task)
        if engine.names.of.get(task) == "worker#1":
            engine._runs[address_of(task)] = Choice("run", "a borrower")

    monkeypatch.setattr(PublicEngine, "task_spawned", renamed)
    failure = starved(loops(Barging))
    assert failure.replayed == "differs: the schedule is not possible there"


def test_a_cycle_in_which_no_task_always_wants_something_is_no_starvation() -> None:
    def rounds(gets_on: bool) -> Program:
        async def program(x: ExploredRun) -> None:
            async def worker() -> None:
                x.request()
                while True:
                    await checkpoint()
                    if gets_on:
                        x.progress()

            async with trio.open_nursery() as nursery:
                nursery.start_soon(worker)
                nursery.start_soon(worker)

        return program

    names = ["main", *["worker#0", "worker#1"] * 4]
    engine = run_once(rounds(gets_on=True), Prefix([Choice("run", name) for name in names]))
    token = Schedule.of("any", engine.choices, engine.firsts).token
    kinds = {}
    for gets_on in (True, False):
        again = explore(rounds(gets_on), liveness=True, cancels=0, replay=token)
        kinds[gets_on] = again.failure.kind if again.failure else None
    assert kinds == {True: None, False: "starvation"}


def test_states_that_are_taken_for_equal_are_no_ground_to_deny_starvation(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(global_variables.Bindings, "__call__", lambda self: [])
    hidden = HIDDEN["a global path"]

    async def decides_by_what_is_hidden() -> None:
        await hidden.program()()
        if hidden.read() == "/1/2":
            await trio.lowlevel.checkpoint()

    found = explore(decides_by_what_is_hidden, liveness=True, cancels=0)
    assert found.verdict is not Verdict.CONFIRMED


def test_an_ending_that_no_state_led_to_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(global_variables.Bindings, "__call__", lambda self: [])
    hidden = HIDDEN["a global class"]

    async def goes_on_in_one_order() -> None:
        hidden.reset()

        async def worker(number: int) -> None:
            await trio.lowlevel.checkpoint()
            hidden.note(number)

        async with trio.open_nursery() as nursery:
            for number in (1, 2):
                nursery.start_soon(worker, number)
        await trio.lowlevel.checkpoint()
        if hidden.read() is bytes:
            await trio.lowlevel.checkpoint()

    found = explore(goes_on_in_one_order, liveness=True, cancels=0)
    assert found.verdict is Verdict.UNFINISHED
    assert found.unfinished is not None
    assert "leads where it never led before" in found.unfinished


def test_the_audit_is_within_the_budget() -> None:
    program = loops(lambda: trio.Semaphore(1))
    whole = explore(program, liveness=True, cancels=0)
    found = explore(program, liveness=True, cancels=0, executions=whole.searched + 2)
    assert found.unfinished == f"stopped after executions={whole.searched + 2}, in the audit"
