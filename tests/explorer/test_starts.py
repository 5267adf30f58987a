"""Whether all executions of a test begin alike, or one leaves something behind for the next."""

from __future__ import annotations

import collections
import functools
import io
import itertools
import random
import types
import weakref
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
import trio
from trio.lowlevel import checkpoint

from structsync.testing import Exploration, ExploredRun, Verdict, explore
from structsync.testing._state import expanders, starts

from .parallel_programs import with_a_semaphore


class Board:
    total = 0

    def __init__(self) -> None:
        self.first = 0
        self.used = 0


class Lazy:
    """Does not let itself be looked at."""

    @property
    def __dict__(self) -> dict[str, Any]:  # type: ignore[override]
        raise RuntimeError("not yet")


DONE = False
LOG: list[int] = []
SEEN: set[object] = set()
TABLE: dict[str, int] = {}
BOARD = Board()
LAZY = Lazy()
NUMBERS = itertools.count()
ALIVE: weakref.WeakSet[Board] = weakref.WeakSet()
HERE = types.SimpleNamespace(words="", lock=None)


async def is_done_once() -> None:
    global DONE
    await checkpoint()
    DONE = True


async def knows_what_is_here() -> None:
    await checkpoint()
    assert HERE.lock is not None


async def goes_on_writing() -> None:
    await checkpoint()
    LOG.append(len(LOG))


async def sees() -> None:
    await checkpoint()
    SEEN.add(len(SEEN))


async def sees_objects() -> None:
    await checkpoint()
    SEEN.add(BOARD)


async def looks_up() -> None:
    await checkpoint()
    TABLE["a"] = 1


async def counts_in_a_class() -> None:
    await checkpoint()
    Board.total += 1


async def counts_in_an_object() -> None:
    await checkpoint()
    BOARD.used += 1


async def takes_a_number() -> None:
    await checkpoint()
    next(NUMBERS)


async def says_much() -> None:
    await checkpoint()
    HERE.words += "x" * 100


async def puts_there_what_was_nothing() -> None:
    await checkpoint()
    HERE.lock = trio.Lock()


LEFT: list[tuple[Callable[[], Awaitable[None]], str]] = [
    (is_done_once, "DONE: False then True"),
    (goes_on_writing, "LOG: [] then [0]"),
    (sees, "SEEN: {} then {0}"),
    (sees_objects, "SEEN: {} then {...}"),
    (looks_up, "TABLE: dict of 0 then dict of 1"),
    (counts_in_a_class, "Board.total: 0 then 1"),
    (counts_in_an_object, "BOARD.used: 0 then 1"),
    (takes_a_number, "NUMBERS"),
    (says_much, f"HERE['words']: '' then '{'x' * 59}..."),
    (puts_there_what_was_nothing, "HERE['lock']: None then trio.Lock"),
]


@pytest.fixture(autouse=True)
def as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let each test of this file begin alike."""
    own = globals()
    for name, new in {
        "DONE": False,
        "LOG": [],
        "SEEN": set(),
        "TABLE": {},
        "BOARD": Board(),
        "NUMBERS": itertools.count(),
        "HERE": types.SimpleNamespace(words="", lock=None),
    }.items():
        monkeypatch.setitem(own, name, new)
    monkeypatch.setattr(Board, "total", 0)


def explored(*tasks: Callable[[], Awaitable[None]], **settings: Any) -> Exploration:
    async def test() -> None:
        async with trio.open_nursery() as nursery:
            for task in (*tasks, checkpoint):
                nursery.start_soon(task)

    return explore(test, cancels=0, **settings)


@pytest.mark.parametrize(("task", "what"), LEFT, ids=lambda value: getattr(value, "__name__", ""))
def test_what_an_execution_leaves_behind_for_the_next_one_is_named_and_nothing_is_confirmed(
    task: Callable[[], Awaitable[None]], what: str
) -> None:
    found = explored(task)
    assert found.verdict is Verdict.UNFINISHED
    assert found.unfinished is not None
    assert found.unfinished.startswith("an execution leaves behind what the next one begins with: ")
    assert what in found.unfinished
    assert "or say outside='ignore' if it decides nothing" in found.unfinished


def test_where_it_decides_nothing_it_can_be_ignored() -> None:
    assert explored(is_done_once, outside="ignore").verdict is Verdict.CONFIRMED


def test_what_is_a_ghost_may_be_left_behind() -> None:
    async def test(x: ExploredRun) -> None:
        x.ghost(LOG)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(goes_on_writing)
            nursery.start_soon(checkpoint)

    assert explore(test, cancels=0).verdict is Verdict.CONFIRMED


def test_what_is_left_behind_is_noticed_whatever_the_search_is() -> None:
    for search in ("states", "deviations"):
        found = explored(goes_on_writing, search=search, executions=200)
        assert found.verdict is Verdict.UNFINISHED, search


def test_what_only_some_schedules_leave_behind_is_noticed_at_the_end() -> None:
    order = list[str]()

    async def first() -> None:
        order.append("first")

    async def second() -> None:
        order.append("second")
        if order == ["second"]:
            LOG.append(1)

    async def test() -> None:
        order.clear()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(first)
            nursery.start_soon(second)

    found = explore(test, cancels=0)
    assert found.verdict is Verdict.UNFINISHED
    assert "test_starts.LOG: [] then [1]" in str(found.unfinished)


def test_what_is_in_a_closure_is_named_by_its_function() -> None:
    log = list[int]()

    async def writes() -> None:
        await checkpoint()
        log.append(1)

    assert ".writes(): [] then [1]" in str(explored(writes).unfinished)


def test_a_failure_is_a_failure_whatever_is_left_behind() -> None:
    async def fails() -> None:
        LOG.append(1)
        raise ValueError

    assert explored(fails).verdict is Verdict.REFUTED


def test_a_test_may_begin_by_making_anew_what_it_uses() -> None:
    log = list[object]()

    async def test() -> None:
        global DONE
        log.clear()
        LOG[:] = [1]
        DONE = False
        HERE.lock = trio.Lock()
        Board.total = 0
        async with trio.open_nursery() as nursery:
            for task in (is_done_once, goes_on_writing, counts_in_a_class):
                nursery.start_soon(task)
        log.append(HERE.lock)

    found = explore(test, cancels=0)
    assert found.verdict is Verdict.CONFIRMED
    assert found.executions == found.searched


def test_what_dies_with_its_execution_is_not_left_behind() -> None:
    """Nothing that is kept for the comparison keeps it alive."""

    async def registers() -> None:
        board = Board()
        ALIVE.add(board)
        await checkpoint()

    async def test() -> None:
        HERE.lock = board = Board()
        ALIVE.add(board)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(registers)
            nursery.start_soon(registers)

    assert explore(test, cancels=0).verdict is Verdict.CONFIRMED


def test_what_hides_its_contents_is_not_compared() -> None:
    @functools.lru_cache
    def known() -> object:
        return object()

    async def asks() -> None:
        await checkpoint()
        known()
        assert LAZY is not None

    assert explored(asks).verdict is Verdict.CONFIRMED


@pytest.mark.parametrize("kind", [io.StringIO, io.BytesIO, random.Random, collections.deque])
def test_what_is_looked_at_for_the_first_time_is_what_it_was(
    kind: type, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To ask a buffer for its attributes makes a dictionary of them, which is a part of what it says of itself."""
    monkeypatch.setattr(HERE, "lock", kind())
    assert explored(knows_what_is_here).verdict is Verdict.CONFIRMED


def test_a_look_that_changes_a_buffer_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def attributes_last(thing: io.StringIO) -> tuple[str, list[Any]]:
        return "buffer", [*thing.__reduce_ex__(4)[2], vars(thing)]

    monkeypatch.setitem(expanders.EXPANDERS, io.StringIO, attributes_last)
    monkeypatch.setattr(HERE, "lock", io.StringIO())
    assert explored(knows_what_is_here).verdict is Verdict.UNFINISHED


def test_texts_are_compared_without_the_addresses_in_them() -> None:
    async def test() -> None:
        HERE.words = f"{object()} in {object()!r}"
        async with trio.open_nursery() as nursery:
            nursery.start_soon(checkpoint)
            nursery.start_soon(lambda: looks_at(HERE))

    async def looks_at(what: object) -> None:
        assert what is not None

    assert explore(test, cancels=0).verdict is Verdict.CONFIRMED


def test_processes_that_search_together_are_asked_here() -> None:
    assert explore(with_a_semaphore, cancels=0, workers=2).verdict is Verdict.CONFIRMED


def test_an_object_that_became_another_one_is_called_so() -> None:
    one = [LOG, LOG, SEEN]
    before = starts.start_of(one)
    one[1] = SEEN
    assert starts.difference(before, one) is not None
