"""What a fingerprint may leave out (who is who, ghosts, text for people), and where it gives up."""

from __future__ import annotations

import array
import contextlib
import functools
import hashlib
import io
import logging
import operator
import re
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any, SupportsIndex, TypeVar

import pytest
import trio
from trio.lowlevel import checkpoint

from structsync.testing import ExploredRun, Verdict, explore
from structsync.testing._execution.execution import Execution
from structsync.testing._execution.schedule import Choice
from structsync.testing._state.expanders import expander, number_of
from structsync.testing._state.fingerprint import Fingerprinter, Opaque

from .conftest import Program, run_once, states, workers

# ==== what is the same ====


class Arrives:
    """Lets tasks run in a given order, then takes the fingerprint and ends the execution."""

    def __init__(self, symmetry: bool, *names: str) -> None:
        self._names = names
        self._look = Fingerprinter(symmetry=symmetry, exact=True)
        self.seen = b""

    def choose(self, execution: Execution, options: tuple[Choice, ...]) -> Choice | None:
        step = len(execution.choices)
        if step < len(self._names):
            return Choice("run", self._names[step])
        self.seen = self._look(execution)
        return None


def after(program: Program, symmetry: bool, *names: str) -> bytes:
    arrives = Arrives(symmetry, *names)
    run_once(program, arrives)
    return arrives.seen


FIRST = ("main", "worker#0", "worker#1")
SECOND = ("main", "worker#1", "worker#0")


def test_like_tasks_may_change_places() -> None:
    """The one holds the permit and the other waits for it, or the other way round."""
    assert after(workers(2), True, *FIRST) == after(workers(2), True, *SECOND)
    assert after(workers(2), True, *FIRST[:2]) == after(workers(2), True, *SECOND[:2])


def test_without_symmetry_they_may_not() -> None:
    assert after(workers(2), False, *FIRST) != after(workers(2), False, *SECOND)


def test_tasks_that_know_which_they_are_are_not_alike() -> None:
    async def numbered() -> None:
        lock = trio.Lock()

        async def worker(n: int) -> None:
            async with lock:
                await checkpoint()
            del n

        async with trio.open_nursery() as nursery:
            nursery.start_soon(worker, 0)
            nursery.start_soon(worker, 1)

    assert after(numbered, True, *FIRST) != after(numbered, True, *SECOND)


def test_tasks_that_another_task_knows_are_not_alike() -> None:
    async def registered() -> None:
        lock, register = trio.Lock(), dict[str, trio.lowlevel.Task]()

        async def worker() -> None:
            register.setdefault("first", trio.lowlevel.current_task())
            async with lock:
                await checkpoint()
            await checkpoint()

        async with trio.open_nursery() as nursery:
            nursery.start_soon(worker)
            nursery.start_soon(worker)

    assert after(registered, True, *FIRST) == after(registered, True, *SECOND)
    behind = (*FIRST, "worker#0"), (*FIRST, "worker#0", "worker#0")
    assert after(registered, True, *behind[0]) != after(registered, True, *behind[1])


@pytest.mark.unmeasured
def test_symmetry_makes_fewer_states_of_like_workers_and_the_same_verdict() -> None:
    few, many = (
        explore(workers(3), search="states", cancels=0, symmetry=symmetry)
        for symmetry in (True, False)
    )
    assert few.verdict is many.verdict is Verdict.CONFIRMED
    assert few.states < many.states


@pytest.mark.unmeasured
def test_both_kinds_of_hash_tell_the_same_states_apart() -> None:
    exact = explore(workers(3), search="states", cancels=1, cancel="tasks", hashing="exact")
    short = explore(workers(3), search="states", cancels=1, cancel="tasks", hashing="128")
    assert (exact.states, exact.executions) == (short.states, short.executions)
    # All that is written of a state, which is some hundred bytes, instead of sixteen.
    assert exact.memory > short.memory + 300 * exact.states


# ==== what is left out ====


def writes_a_log(log: Callable[[ExploredRun], list[int]]) -> Program:
    async def program(x: ExploredRun) -> None:
        written = log(x)

        async def worker(n: int) -> None:
            await checkpoint()
            written.append(n)
            await checkpoint()

        async with trio.open_nursery() as nursery:
            nursery.start_soon(worker, 1)
            nursery.start_soon(worker, 2)

    return program


def test_a_ghost_is_no_part_of_the_state() -> None:
    ghostly = explore(writes_a_log(lambda x: x.ghost([])), search="states", cancels=0)
    real = explore(writes_a_log(lambda x: []), search="states", cancels=0)
    assert ghostly.verdict is real.verdict is Verdict.CONFIRMED
    assert ghostly.states < real.states


def test_a_ghost_is_handed_back_as_it_is() -> None:
    async def program(x: ExploredRun) -> bool:
        log: list[int] = []
        await checkpoint()
        return x.ghost(log) is log

    assert len(states(program)) > 0


class Summed:
    """Its two numbers matter by their sum alone, and it says so."""

    def __init__(self, one: int, two: int) -> None:
        self.one, self.two = one, two

    def __explore_state__(self) -> object:
        return self.one + self.two


def holds(thing: object) -> Program:
    async def program() -> None:
        held = thing
        await checkpoint()
        del held

    return program


def test_a_class_may_say_itself_what_its_state_is() -> None:
    assert last_of(Summed(1, 2)) == last_of(Summed(2, 1))
    assert last_of(Summed(1, 2)) != last_of(Summed(2, 2))


def last_of(thing: object) -> bytes:
    return states(holds(thing))[-1]


def test_what_a_cancellation_says_for_people_is_left_out() -> None:
    """trio notes who cancelled, by address, which no two executions share."""

    async def program() -> None:
        with trio.CancelScope() as scope:
            scope.cancel("a reason") if hasattr(scope, "_cancel_reason") else scope.cancel()
            try:
                await checkpoint()
            except trio.Cancelled as error:
                held = error
                with trio.CancelScope(shield=True):
                    await checkpoint()
                raise held from None

    assert states(program) == states(program)


# ==== where it gives up ====


class PicklesItself(array.array):  # type: ignore[type-arg]  # it takes none before 3.12
    """What pickle would store is what its author chose, and perhaps not all of it."""

    def __reduce_ex__(self, protocol: SupportsIndex) -> tuple[Any, ...]:
        return PicklesItself, ("i",)


@functools.cache
def _remembers(value: int) -> list[int]:
    return [value]


class Refuses:
    """Like a lazy proxy that is not ready."""

    def __explore_state__(self) -> object:
        raise ZeroDivisionError("on purpose")


OPAQUE: tuple[tuple[str, Callable[[], Any]], ...] = (
    ("io.TextIOWrapper", lambda: Path(__file__).open()),  # noqa: SIM115 - closed by the test
    ("_hashlib.HASH", hashlib.sha256),
    ("memoryview", lambda: memoryview(b"a")),
    ("finalize", lambda: weakref.finalize(Summed, print)),
    ("PicklesItself", lambda: PicklesItself("i")),
    ("remembers for _remembers", lambda: _remembers),
    ("raises ZeroDivisionError: on purpose", lambda: Refuses()),
)


@pytest.mark.parametrize(("name", "make"), OPAQUE)
def test_what_cannot_be_seen_into_is_never_taken_for_equal(
    name: str, make: Callable[[], Any]
) -> None:
    with contextlib.ExitStack() as stack:
        thing = make()
        if isinstance(thing, io.IOBase):
            stack.enter_context(thing)
        with pytest.raises(Opaque, match=re.escape(name.rpartition(".")[2])):
            states(holds(thing))


@pytest.mark.parametrize(("name", "make"), OPAQUE[1:])
def test_a_search_that_cannot_tell_states_apart_says_why(
    name: str, make: Callable[[], Any]
) -> None:
    thing = make()

    async def program() -> None:
        held = [thing]
        async with trio.open_nursery() as nursery:
            for _ in range(3):
                nursery.start_soon(trio.sleep, 0)
        del held

    # Small enough to see all of it: then nothing is missing.
    found = explore(program, cancels=0, executions=None)
    assert found.unfinished is None
    assert found.states == 0
    found = explore(program, cancels=0, executions=20)
    assert found.verdict is Verdict.UNFINISHED
    assert found.unfinished is not None
    assert re.match(
        rf"cannot look into .*{name.rpartition('.')[2]}.*: states not compared; "
        r"stopped after executions=20; all schedules with fewer than \d+ deviations were tried",
        found.unfinished,
    )


def test_a_failure_is_found_beside_what_cannot_be_seen_into() -> None:
    digest = hashlib.sha256()

    async def program() -> None:
        held = [digest]
        first, second = trio.Lock(), trio.Lock()

        async def worker(*locks: trio.Lock) -> None:
            async with locks[0], locks[1]:
                pass

        async with trio.open_nursery() as nursery:
            nursery.start_soon(worker, first, second)
            nursery.start_soon(worker, second, first)
        del held

    failure = explore(program).failure
    assert failure is not None
    assert failure.kind == "deadlock"


TOOLS = {
    "a logger": logging.getLogger(__name__),
    "a pattern": re.compile("a"),
    "an item getter": operator.itemgetter(1),
    "Ellipsis": Ellipsis,
    "NotImplemented": NotImplemented,
    "a module": contextlib,
    "a function": len,
    "a method of a text": "abc".join,
    "a method of a class": list.append,
    "a class": type,
    "a property": property(len),
    "a slice": slice(1, 2),
    "a type variable": TypeVar("T"),
    "a method of a dict": {1: 2}.items,
}


@pytest.mark.parametrize("tool", TOOLS.values(), ids=TOOLS.keys())
def test_tools_are_no_obstacle(tool: object) -> None:
    assert states(holds(tool)) == states(holds(tool))


def test_an_object_of_a_class_that_hides_a_part_is_opaque() -> None:
    """A subclass of a C type is only as visible as that is."""

    class Reader(io.BufferedReader):
        pass

    with pytest.raises(Opaque), Reader(io.BytesIO()) as reader:
        states(holds(reader))


class OfAnotherKind(super):
    """What it says of itself is what the object behind it says."""


@pytest.mark.parametrize(
    "thing", [weakref.proxy(Summed), OfAnotherKind(Summed, Summed(0, 0))], ids=["weak", "super"]
)
def test_what_stands_in_front_and_does_not_tell_of_what_is_opaque(thing: object) -> None:
    """A class has no bound method, and a subclass of super() may hold more."""
    with pytest.raises(Opaque):
        states(holds(thing))


def test_a_type_is_looked_up_once() -> None:
    assert expander(Summed) is expander(Summed)


def test_objects_that_stand_for_themselves_keep_their_number() -> None:
    one, two = object(), object()
    assert number_of(one) == number_of(one)
    assert number_of(one) != number_of(two)


def test_a_token_of_the_run_is_no_obstacle() -> None:
    async def program() -> None:
        token = trio.lowlevel.current_trio_token()
        await checkpoint()
        del token

    assert states(program) == states(program)
