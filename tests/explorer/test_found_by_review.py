"""What a review of the explorer found, each as the smallest program that shows it.

The plain search tries every schedule, so what it reaches is what there is; a search that takes two
states for one and reaches less has taken different states for the same.
"""

from __future__ import annotations

import argparse
import collections
import configparser
import contextvars
import dataclasses
import functools
import io
import itertools
import queue
import random
import threading
import types
import weakref
from collections.abc import Callable
from math import inf
from typing import Any, ClassVar
from unittest import mock

import pytest
import trio
import trio.testing
from trio.lowlevel import checkpoint

from structsync.checking import Verdict
from structsync.testing import (
    ExploredRun,
    ExploreUsageError,
    NondeterminismError,
    Settings,
    explore,
)
from structsync.testing._exploration import with_handle
from structsync.testing._search.result import Outcomes
from structsync.testing._search.search import explore_outcomes

from .conftest import Program, abba, python, two_checkpoints


def outcomes(program: Program, **settings: Any) -> Outcomes:
    """Return what is reached, by states unless something else is asked for."""
    found = explore_outcomes(with_handle(program), Settings(**{"search": "states"} | settings))
    assert found.complete
    return found


async def both(first: Program, second: Program) -> None:
    async with trio.open_nursery() as nursery:
        nursery.start_soon(first)
        nursery.start_soon(second)


async def look_around() -> None:
    """Have something to choose, so that the states before it are compared."""
    await both(checkpoint, checkpoint)


# ==== States that differ where a fingerprint did not look ====

Write = Callable[[str], object]
Read = Callable[[], object]
PLACES: list[Any] = []


def place(write: Write, read: Read, name: str, *, missed: str = "") -> None:
    """Name a place for a value: how it is written there, and read."""
    marks = [pytest.mark.xfail(strict=True, raises=AssertionError, reason=missed)] if missed else []
    PLACES.append(pytest.param(write, read, id=name, marks=marks))


ELSEWHERE: Any = types.ModuleType("elsewhere")
ELSEWHERE.value = None
place(lambda v: setattr(ELSEWHERE, "value", v), lambda: ELSEWHERE.value, "attribute of a module")


class Base:
    registry: ClassVar[collections.Counter[str]] = collections.Counter()


class Derived(Base):
    def __call__(self, value: str) -> None:
        LATEST[:] = [value]

    def put(self, value: str) -> None:
        self.registry.clear()
        self.registry[value] = 1


LATEST = [""]
DERIVED: Any = Derived()
place(DERIVED.put, lambda: [*DERIVED.registry], "variable of a base class")
place(lambda v: DERIVED(v), lambda: LATEST[0], "what an object that is called refers to")


def with_default(value: str = "", kept: list[str] = [""]) -> str:  # noqa: B006 - that it is kept is the point
    if value:
        kept[:] = [value]
    return kept[0]


def factory() -> tuple[Write, Read]:
    kept = [""]
    return lambda v: kept.__setitem__(0, v), lambda: kept[0]


def local_class() -> Any:
    kept = [""]

    class Local:
        @property
        def value(self) -> str:
            return kept[0]

        def __call__(self, value: str) -> None:
            kept[0] = value

    return Local()


WRITE, READ = factory()
LOCAL = local_class()
ANY_FUNCTION: Any = factory
place(lambda v: with_default(v), lambda: with_default(), "mutable default")
place(lambda v: WRITE(v), lambda: READ(), "closure of a global function")
place(lambda v: LOCAL(v), lambda: LOCAL.value, "what methods of a local class close over")
place(lambda v: setattr(ANY_FUNCTION, "mark", v), lambda: ANY_FUNCTION.mark, "function attribute")


@functools.singledispatch
def dispatch(_: object) -> object:
    return None


place(
    lambda v: dispatch.register(Base, str if v == "a" else repr),
    lambda: dispatch.dispatch(Base) is str,
    "registry of a generic function",
)


def write_global(name: str) -> Write:
    return lambda value: globals().__setitem__(name, {"a": factory, "b": local_class}[value])


HANDLER: Callable[[], Any] = factory
place(write_global("HANDLER"), lambda: HANDLER.__name__, "global that holds a function")


class Mapped(collections.defaultdict[str, str]):
    value = ""


class Chance(random.Random):
    value = ""


class Slotted(Exception):
    __slots__ = ("value",)


SIMPLE = types.SimpleNamespace(value="")
PARSED = argparse.Namespace(value="")
OF_THREAD = threading.local()
PARTIAL: Any = functools.partial(len)
MAPPED = Mapped(str)
CHANCE = Chance(1)
STOP = StopIteration()
SLOTTED: Any = Slotted()
place(lambda v: setattr(SIMPLE, "value", v), lambda: SIMPLE.value, "SimpleNamespace")
place(lambda v: setattr(PARSED, "value", v), lambda: PARSED.value, "argparse.Namespace")
place(lambda v: setattr(OF_THREAD, "value", v), lambda: OF_THREAD.value, "threading.local")
place(lambda v: setattr(PARTIAL, "value", v), lambda: PARTIAL.value, "functools.partial")
place(lambda v: setattr(MAPPED, "value", v), lambda: MAPPED.value, "defaultdict with attributes")
place(lambda v: setattr(CHANCE, "value", v), lambda: CHANCE.value, "Random with attributes")
place(lambda v: setattr(STOP, "value", v), lambda: STOP.value, "StopIteration")
place(lambda v: setattr(SLOTTED, "value", v), lambda: SLOTTED.value, "exception with slots")

QUEUE: queue.Queue[str] = queue.Queue()
NUMBERS = itertools.count()
TEXT = io.StringIO()
PARSER = configparser.ConfigParser()
PARSER.add_section("s")
MOCK = mock.Mock()
PUSH = collections.deque[str]([], 1).append
REFERENCES: weakref.WeakValueDictionary[str, Any] = weakref.WeakValueDictionary()
RUN_VARIABLE = trio.lowlevel.RunVar[str]("value")
BY_DEFAULT: contextvars.ContextVar[list[str]] = contextvars.ContextVar("list", default=[""])  # noqa: B039 - that it is shared is the point


def write_text(value: str) -> None:
    TEXT.seek(0)
    TEXT.write(value)


place(lambda v: QUEUE.queue.__init__([v]), lambda: QUEUE.queue[0], "queue.Queue")


def count_from(value: str) -> None:
    global NUMBERS
    NUMBERS = itertools.count("ab".index(value))


place(count_from, lambda: next(NUMBERS), "itertools.count")
place(
    write_text,
    lambda: TEXT.getvalue(),
    "StringIO",
)
place(lambda v: PARSER.set("s", "value", v), lambda: PARSER.get("s", "value"), "ConfigParser")
place(lambda v: MOCK(v), lambda: MOCK.call_args.args, "Mock")
place(lambda v: PUSH(v), lambda: [*PUSH.__self__], "bound method of a builtin")  # type: ignore[attr-defined]
place(
    lambda v: REFERENCES.__setitem__("k", {"a": factory, "b": local_class}[v]),
    lambda: REFERENCES["k"] is factory,
    "WeakValueDictionary",
)
place(RUN_VARIABLE.set, RUN_VARIABLE.get, "RunVar")
place(
    lambda v: BY_DEFAULT.get().__setitem__(0, v),
    lambda: BY_DEFAULT.get()[0],
    "default of a context variable",
)


@pytest.mark.unmeasured
@pytest.mark.parametrize("symmetry", [True, False])
@pytest.mark.parametrize(("write", "read"), PLACES)
def test_which_value_was_written_last_is_part_of_the_state(
    write: Write, read: Read, symmetry: bool
) -> None:
    async def program() -> object:
        async def first() -> None:
            write("a")

        async def second() -> None:
            write("b")

        await both(first, second)
        await look_around()
        return read()

    plain = outcomes(program, cancels=0, search="plain").outcomes
    assert len(plain) == 2
    assert outcomes(program, cancels=0, symmetry=symmetry).outcomes == plain


async def the_nursery_that_a_task_is_in() -> list[str]:
    log: list[str] = []
    go = trio.Event()

    async def child() -> None:
        await go.wait()
        log.append("child")

    chosen: list[str] = []

    async def choose(name: str) -> None:
        chosen.append(name)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(choose, "outer")
        nursery.start_soon(choose, "inner")
    async with trio.open_nursery() as outer:
        async with trio.open_nursery() as inner:
            (outer if chosen[0] == "outer" else inner).start_soon(child)
            chosen.clear()
            await look_around()
            inner.cancel_scope.cancel()
        go.set()
    return log


async def the_name_of_a_task() -> list[str]:
    log: list[str] = []

    async def worker() -> None:
        await checkpoint()
        if not log:
            log.append("")
            await look_around()
            log[0] = trio.lowlevel.current_task().name

    async with trio.open_nursery() as nursery:
        nursery.start_soon(worker, name="one")
        nursery.start_soon(worker, name="two")
    return log


async def who_breaks_a_parking_lot() -> bool:
    lot, chosen = trio.lowlevel.ParkingLot(), list[int]()
    holders, go = list[trio.lowlevel.Task](), [trio.Event(), trio.Event()]

    async def holder(event: trio.Event) -> None:
        holders.append(trio.lowlevel.current_task())
        await event.wait()

    async def choose(number: int) -> None:
        chosen.append(number)

    async with trio.open_nursery() as nursery:
        for event in go:
            nursery.start_soon(holder, event)
            await trio.testing.wait_all_tasks_blocked()
        async with trio.open_nursery() as choosing:
            choosing.start_soon(choose, 0)
            choosing.start_soon(choose, 1)
        trio.lowlevel.add_parking_lot_breaker(holders[chosen[0]], lot)
        chosen.clear()
        await look_around()
        go[0].set()
        await trio.testing.wait_all_tasks_blocked()
        broken = bool(lot.broken_by)
        go[1].set()
    return broken


@pytest.mark.unmeasured
@pytest.mark.parametrize("symmetry", [True, False])
@pytest.mark.parametrize(
    "program", [the_nursery_that_a_task_is_in, the_name_of_a_task, who_breaks_a_parking_lot]
)
def test_what_trio_knows_of_a_task_is_part_of_the_state(program: Program, symmetry: bool) -> None:
    plain = outcomes(program, cancels=0, search="plain").outcomes
    assert len(plain) == 2
    assert outcomes(program, cancels=0, symmetry=symmetry).outcomes == plain


async def a_lock_that_no_task_has_any_more() -> None:
    async def worker() -> None:
        lock = trio.Lock()
        await lock.acquire()
        await checkpoint()
        lock.release()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(worker)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(checkpoint)
        nursery.start_soon(checkpoint)


def test_a_leak_is_found_even_if_no_task_reaches_the_lock_any_more() -> None:
    failure = explore(a_lock_that_no_task_has_any_more, cancels=1).failure
    assert failure is not None
    assert failure.kind == "leak"


def test_a_class_made_in_each_execution_does_not_keep_states_apart() -> None:
    async def program() -> None:
        @dataclasses.dataclass
        class Item:
            value: int = 1

        async def worker() -> None:
            await checkpoint()
            assert Item().value

        await both(worker, worker)

    assert (
        explore(program, search="states", cancels=0).states
        < explore(program, cancels=0, search="plain").executions
    )


# ==== Time ====


async def a_deadline_that_is_over_when_it_is_set() -> None:
    async def worker() -> None:
        with trio.CancelScope() as scope:
            scope.deadline = trio.current_time()
            while True:
                await checkpoint()

    await both(worker, worker)


def test_a_deadline_that_is_over_fires_although_tasks_can_run() -> None:
    found = outcomes(a_deadline_that_is_over_when_it_is_set, cancels=0)
    assert found.outcomes == {"passed: None"}


async def a_deadline_at_the_end_of_a_batch() -> list[str]:
    log: list[str] = []
    event = trio.Event()

    async def waiter() -> None:
        await event.wait()
        log.append("waiter")

    async def sleeper() -> None:
        await trio.testing.wait_all_tasks_blocked()
        with trio.move_on_after(1):
            event.set()
            await trio.sleep_forever()
        log.append("sleeper")

    await both(waiter, sleeper)
    return log


def test_who_wakes_by_an_early_deadline_is_in_the_next_batch_of_trio() -> None:
    found = outcomes(a_deadline_at_the_end_of_a_batch, cancels=0, order="trio", clock="explore")
    assert len(found.outcomes) == 2


# ==== Verdicts ====


async def no_task_ever_ends() -> None:
    async def worker() -> None:
        while True:
            await checkpoint()

    await both(worker, worker)


def test_a_test_that_never_ends_is_not_confirmed() -> None:
    failure = explore(no_task_ever_ends, cancels=0, max_steps=100).failure
    assert failure is not None
    assert failure.kind == "endless"


async def started_in_a_nursery() -> None:
    async def child(task_status: trio.TaskStatus[None]) -> None:
        await checkpoint()
        task_status.started()

    async with trio.open_nursery() as nursery:
        await nursery.start(child)
        await look_around()


def test_what_nursery_start_waits_for_is_not_cancelled_alone() -> None:
    assert explore(started_in_a_nursery, cancel="tasks").verdict is Verdict.CONFIRMED


async def with_a_pool(x: ExploredRun) -> None:
    class Pool:
        def acquire(self) -> int:
            return 1

        def release(self, item: int) -> None: ...

    x.watch(Pool())
    await look_around()


def test_what_has_an_acquire_of_another_kind_is_not_tried_at_the_end() -> None:
    assert explore(with_a_pool).verdict is Verdict.CONFIRMED


# ==== Errors in unusual places ====


class Unspeakable(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no words")

    __repr__ = __str__


async def fails_without_words() -> None:
    await look_around()
    raise Unspeakable


async def checks_what_fails(x: ExploredRun) -> None:
    x.always(lambda: 1 / 0)
    await look_around()


async def watches_what_has_no_words(x: ExploredRun) -> None:
    x.watch(Unspeakable())
    await look_around()
    raise AssertionError


@pytest.mark.parametrize(
    "program", [fails_without_words, checks_what_fails, watches_what_has_no_words]
)
def test_a_failure_is_told_although_code_of_the_user_fails_in_telling_it(program: Program) -> None:
    assert explore(program).verdict is Verdict.REFUTED


# ==== Where explore() is called ====


def test_exploring_inside_a_run_is_refused_and_the_run_goes_on() -> None:
    async def main() -> bool:
        with pytest.raises(ExploreUsageError):
            explore(two_checkpoints)
        await checkpoint()
        return True

    assert trio.run(main)


def test_only_one_thread_explores_at_a_time_and_nothing_stays_replaced() -> None:
    before = trio.CancelScope.__enter__, trio.lowlevel.Task.__hash__, trio.Lock.__init__
    refused: list[ExploreUsageError] = []

    def elsewhere() -> None:
        try:
            explore(abba)
        except ExploreUsageError as error:
            refused.append(error)

    async def program() -> None:
        await look_around()

    def beside(_: object) -> None:
        if not refused:
            thread = threading.Thread(target=elsewhere)
            thread.start()
            thread.join()

    explore(program, cancels=2, search="plain", progress=beside)
    assert len(refused) == 1
    assert before == (trio.CancelScope.__enter__, trio.lowlevel.Task.__hash__, trio.Lock.__init__)


def test_an_interrupt_during_the_self_test_is_not_swallowed() -> None:
    ran = python(
        """
        import signal
        from structsync.testing import explore
        from structsync.testing._search import engine_choice

        program, settings = engine_choice._PROGRAMS[0]

        async def interrupted(x):
            signal.raise_signal(signal.SIGINT)
            return await program(x)

        async def test():
            raise AssertionError("it was explored")

        engine_choice._PROGRAMS = ((interrupted, settings),)
        explore(test)
        """
    )
    assert ran.stderr.rstrip().endswith("KeyboardInterrupt")


def test_chance_that_was_imported_by_name_is_refused() -> None:
    async def program() -> None:
        await look_around()
        chance()

    with pytest.raises(NondeterminismError, match="random"):
        explore(program)


chance = random.random


async def a_deadline_that_is_over_in_the_middle_of_a_batch() -> tuple[str, ...]:
    log: list[str] = []

    async def overdue() -> None:
        with trio.CancelScope() as scope:
            scope.deadline = -inf  # after its beginning, so that the scheduler has to look at it
            await trio.lowlevel.checkpoint()
            await trio.lowlevel.checkpoint()
            log.append("never")
        log.append("cancelled")

    async def other() -> None:
        await trio.lowlevel.checkpoint()
        log.append("other")

    async with trio.open_nursery() as nursery:
        nursery.start_soon(overdue)
        nursery.start_soon(other)
    return tuple(log)


def test_a_deadline_that_is_over_fires_between_two_batches() -> None:
    found = outcomes(a_deadline_that_is_over_in_the_middle_of_a_batch, cancels=0, order="trio")
    assert found.outcomes
    assert not any("never" in one for one in found.outcomes)
