"""An execution that is given up ends without a sound, whatever the program does against it."""

from __future__ import annotations

import contextlib
import gc
import sys
import time
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest
import trio
import trio.testing
from trio.lowlevel import checkpoint

from structsync.testing import ExploredRun, Settings, explore
from structsync.testing._execution import determinism, engine
from structsync.testing._execution.engine import Engine
from structsync.testing._execution.public_engine import PublicEngine
from structsync.testing._search.choosers import Prefix

from .conftest import Program, python, run_once, two_checkpoints, workers

PATIENCE = 50


async def swallows_once() -> None:
    with contextlib.suppress(trio.Cancelled):
        await trio.sleep_forever()
    await trio.sleep_forever()


async def swallows_each() -> None:
    while True:
        with contextlib.suppress(trio.Cancelled):
            await trio.sleep_forever()


async def shields_forever() -> None:
    with trio.CancelScope(shield=True):
        await trio.sleep_forever()


async def shields_others() -> None:
    with trio.CancelScope(shield=True):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(trio.sleep_forever)
            nursery.start_soon(shields_forever)


async def sleeps_in_a_shield() -> None:
    with trio.CancelScope(shield=True):
        while True:  # noqa: ASYNC110 - the time that passes is the point
            await trio.sleep(1)


async def catches_whatever_comes() -> None:
    while True:
        with contextlib.suppress(BaseException):
            await trio.sleep_forever()


async def catches_whatever_comes_at_checkpoints() -> None:
    while True:
        with contextlib.suppress(BaseException):
            await checkpoint()


async def one_shields_and_one_never_rests() -> None:
    async with trio.open_nursery() as nursery:
        nursery.start_soon(shields_forever)
        nursery.start_soon(catches_whatever_comes_at_checkpoints)


async def waits_in_finally() -> None:
    try:
        await trio.sleep_forever()
    finally:
        with trio.CancelScope(shield=True):
            await trio.sleep(1)
            await trio.Event().wait()


async def raises_in_finally() -> None:
    try:
        await trio.sleep_forever()
    finally:
        raise ValueError("on the way out")


async def starts_others_in_finally() -> None:
    async with trio.open_nursery() as nursery:
        try:
            await trio.sleep_forever()
        finally:
            nursery.start_soon(shields_forever)


async def dies_with_a_lock() -> None:
    await trio.Lock().acquire()
    await shields_forever()


async def _items() -> AsyncGenerator[int, None]:
    try:
        yield 1
    finally:
        await checkpoint()


async def sits_in_a_generator() -> None:
    async with contextlib.aclosing(_items()) as items:
        async for _ in items:
            await shields_forever()


async def calls_one_that_catches_whatever_comes() -> None:
    await catches_whatever_comes()


async def cannot_be_aborted() -> None:
    await trio.lowlevel.wait_task_rescheduled(lambda _: trio.lowlevel.Abort.FAILED)


async def wakes_another_on_the_way_out() -> None:
    """Who was broken out of the wait has ended by then, and trio breaks down over it."""
    parked: list[trio.lowlevel.Task] = []

    async def parks() -> None:
        parked.append(trio.lowlevel.current_task())
        await cannot_be_aborted()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(parks)
        try:
            await cannot_be_aborted()
        finally:
            trio.lowlevel.reschedule(parked[0])


HABITS: tuple[Program, ...] = (
    swallows_once,
    swallows_each,
    shields_forever,
    shields_others,
    sleeps_in_a_shield,
    catches_whatever_comes,
    catches_whatever_comes_at_checkpoints,
    calls_one_that_catches_whatever_comes,
    one_shields_and_one_never_rests,
    waits_in_finally,
    raises_in_finally,
    starts_others_in_finally,
    dies_with_a_lock,
    sits_in_a_generator,
    cannot_be_aborted,
    wakes_another_on_the_way_out,
)


def beside_another(habit: Program) -> Program:
    """A program in which a task has this habit, and a second task has nothing to do with it."""

    async def program() -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(habit)
            nursery.start_soon(checkpoint)

    return program


@pytest.fixture(autouse=True)
def short_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """These programs use up the steps that they get for unwinding, in each execution."""
    monkeypatch.setattr(engine, "UNWIND_STEPS", PATIENCE)


@pytest.fixture
def unraisable(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What Python could not raise anywhere, in words."""
    found: list[str] = []

    def note(one: Any) -> None:
        found.append(f"{one.exc_value!r} in {one.object!r}")

    monkeypatch.setattr(sys, "unraisablehook", note)
    return found


@pytest.mark.parametrize("habit", HABITS)
def test_a_failing_execution_is_unwound_without_a_sound(
    habit: Program,
    kind: type[Engine],
    unraisable: list[str],
    capfd: pytest.CaptureFixture[str],
) -> None:
    engine = run_once(beside_another(habit), kind=kind, cancels=0, max_steps=30)
    assert engine.ending is not None
    assert engine.ending.kind in ("deadlock", "endless")
    del engine
    gc.collect()
    assert unraisable == []
    assert capfd.readouterr() == ("", "")


async def leaves_a_generator_half_way() -> None:
    async def source() -> AsyncGenerator[int, None]:
        yield 1
        await checkpoint()

    generator = source()
    await anext(generator)
    await trio.sleep_forever()


def test_a_generator_that_a_task_leaves_as_it_unwinds_is_closed_without_a_sound(
    unraisable: list[str], recwarn: pytest.WarningsRecorder
) -> None:
    engine = run_once(beside_another(leaves_a_generator_half_way), cancels=0)
    assert engine.ending is not None
    assert engine.ending.kind == "deadlock"
    del engine
    gc.collect()
    assert unraisable == []
    assert [*recwarn] == []


async def checked_by_what_refers_to_it(x: ExploredRun) -> None:
    x.finally_(lambda: x is not None)
    await workers(2)()


@pytest.mark.unmeasured
@pytest.mark.parametrize("program", [workers(3), checked_by_what_refers_to_it])
def test_an_execution_that_was_cut_leaves_nothing_to_the_collector(program: Program) -> None:
    def found() -> tuple[int, int]:
        made = explore(program, search="states", cancels=1, cancel="tasks", states=20).executions
        return made, gc.collect()

    was_enabled = gc.isenabled()
    gc.disable()
    try:
        found()
        executions, left = found()
    finally:
        (gc.enable if was_enabled else gc.disable)()
    assert left < executions


def test_a_task_can_still_have_something_called_soon_on_its_way_out(kind: type[Engine]) -> None:
    called: list[str] = []

    async def program() -> None:
        token, begun = trio.lowlevel.current_trio_token(), trio.Event()
        token.run_sync_soon(begun.set)
        await begun.wait()
        try:
            await trio.sleep_forever()
        finally:
            token.run_sync_soon(called.append, "called")
            with trio.CancelScope(shield=True):
                await trio.testing.wait_all_tasks_blocked()

    run_once(program, kind=kind, cancels=0)
    assert called == ["called"]


@pytest.mark.parametrize("habit", HABITS)
def test_an_execution_that_is_cut_is_unwound_without_a_sound(
    habit: Program,
    kind: type[Engine],
    unraisable: list[str],
    capfd: pytest.CaptureFixture[str],
) -> None:
    whole = run_once(beside_another(habit), kind=kind, cancels=0, max_steps=6)
    for steps in range(len(whole.choices)):
        engine = run_once(beside_another(habit), Prefix(whole.choices[:steps]), kind=kind)
        assert engine.ending is not None
        assert engine.ending.kind == "cut"
        del engine
    del whole
    gc.collect()
    assert unraisable == []
    assert capfd.readouterr() == ("", "")


@pytest.mark.unmeasured
@pytest.mark.parametrize("habit", HABITS)
def test_an_unwound_execution_leaves_nothing_for_the_next_one(habit: Program) -> None:
    """After a program with this habit another one is explored as ever, and trio runs."""
    assert explore(beside_another(habit), cancels=0, max_steps=30).failure is not None

    async def sound() -> str:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(trio.sleep, 1)
            nursery.start_soon(checkpoint)
        return "over"

    assert explore(sound, cancels=0).failure is None
    with pytest.raises(RuntimeError, match="must be called from async context"):
        trio.lowlevel.current_task()

    async def short() -> str:
        await checkpoint()
        return "over"

    assert trio.run(short) == "over"


@pytest.mark.unmeasured
def test_not_even_at_the_end_of_the_process_is_there_a_sound() -> None:
    root = Path(__file__).parents[2]
    ran = python(
        f"""
        import sys
        sys.path.append({str(root)!r})
        from structsync.testing import explore
        from structsync.testing._execution import engine
        from tests.explorer.test_unwinding import HABITS, PATIENCE, beside_another
        engine.UNWIND_STEPS = PATIENCE
        for habit in HABITS:
            found = explore(beside_another(habit), cancels=0, max_steps=30)
            sys.stdout.write(f"{{habit.__name__}} {{found.failure.kind}} {{found.failure.replayed}}\\n")
        """,
        "-X",
        "dev",
        "-W",
        "error",
    )
    assert ran.stderr == ""
    lines = [line.split(" ", 2) for line in ran.stdout.splitlines()]
    assert [name for name, *_ in lines] == [habit.__name__ for habit in HABITS]
    assert {(found, replayed) for _, found, replayed in lines} == {
        ("deadlock", "same"),
        ("endless", "same"),
    }


def test_a_deadline_that_is_over_strikes_before_anything_else(kind: type[Engine]) -> None:
    async def program() -> None:
        with trio.CancelScope() as scope:
            scope.deadline = trio.current_time()
            await trio.sleep_forever()
        assert trio.current_time() == 0

    engine = run_once(beside_another(program), kind=kind)
    assert engine.ending is not None
    assert engine.ending.kind == "passed"


async def test_the_fixture_that_listens_hears_something(unraisable: list[str]) -> None:
    class Complains:
        def __del__(self) -> None:
            raise ValueError("cannot be raised")

    Complains()
    gc.collect()
    assert len(unraisable) == 1


@pytest.mark.parametrize("habit", [swallows_each, catches_whatever_comes, shields_forever])
def test_a_test_function_with_such_a_habit_ends_too(
    habit: Program, kind: type[Engine], unraisable: list[str]
) -> None:
    async def program() -> None:
        trio.lowlevel.spawn_system_task(checkpoint)
        await habit()

    engine = run_once(program, kind=kind, cancels=0, max_steps=30)
    assert engine.ending is not None
    assert engine.ending.kind == "deadlock"
    del engine
    gc.collect()
    assert unraisable == []
    # Nothing is watched or forbidden any more.
    assert time.time() > 0
    assert explore(two_checkpoints).failure is None


def test_a_run_that_breaks_down_leaves_nothing_forbidden(
    monkeypatch: pytest.MonkeyPatch, unraisable: list[str]
) -> None:
    """As Ctrl-C can break down the real ``trio.run`` between two steps of the test."""

    def breaks_down(engine: PublicEngine, deadline: float) -> float:
        if len(engine.choices) == 2:
            raise OSError("out of memory")
        return sleep_time(engine, deadline)

    sleep_time = PublicEngine.sleep_time
    monkeypatch.setattr(PublicEngine, "sleep_time", breaks_down)
    with determinism.controlled():
        engine = PublicEngine(Settings(), Prefix((), go_on=True), ExploredRun(), None)
        ending = engine.run(lambda x: beside_another(checkpoint)())
        assert ending.message == "trio broke down: OSError: out of memory"
        assert time.time() > 0
    # trio leaves its tasks where they stand; the collector would have them complain.
    del engine, ending
    gc.collect()
    assert unraisable == []
