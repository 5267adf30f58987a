"""What objects contain is state: attributes, slots, contents, classes, module variables.

Each side of a difference stands at the same place of the same code; what differs is what a task
could still look at, and so must the fingerprints. How the two sides are told apart is no part of
the state: see ``other`` in conftest.py.
"""

from __future__ import annotations

import array
import collections
import dataclasses
import enum
import functools
import weakref
from typing import Any

import pytest
import trio
import trio.testing
from trio.lowlevel import checkpoint

import structsync
from structsync import deadlock_guard
from structsync.observing import trace, validating
from structsync.testing import Verdict, explore

from .conftest import HIDDEN, Differences, Side, check_it_differs, check_it_repeats, other

difference = Differences()


COUNT = 0
NUMBERS: list[int] = []


@difference
async def a_global() -> None:
    global COUNT
    COUNT = 1 if other() else 0
    await checkpoint()


@difference
async def a_global_list() -> None:
    NUMBERS[:] = [1] if other() else []
    await checkpoint()


def _reads_a_global() -> int:
    return COUNT


@difference
async def a_global_of_a_function_that_is_called() -> None:
    globals()["COUNT"] = 1 if other() else 0
    await checkpoint()
    _reads_a_global()


class Plain:
    shared: list[int] = []  # noqa: RUF012 - the state that is looked for

    def __init__(self, value: object) -> None:
        self.value = value


@difference
async def an_attribute() -> None:
    thing = Plain(other())
    await checkpoint()
    del thing


@difference
async def an_attribute_of_the_class() -> None:
    thing = Plain(1)
    Plain.shared[:] = [1] if other() else []
    await checkpoint()
    del thing


class Slotted:
    __slots__ = ("one", "two")
    one: object
    two: object


@difference
async def a_slot() -> None:
    thing = Slotted()
    thing.one = other()
    await checkpoint()


@difference
async def which_slot() -> None:
    thing = Slotted()
    setattr(thing, "one" if other() else "two", 1)
    await checkpoint()


@dataclasses.dataclass(slots=True)
class Record:
    value: int


@difference
async def a_dataclass() -> None:
    thing = Record(1 if other() else 2)
    await checkpoint()
    del thing


class Words(list[str]):
    pass


@difference
async def the_content_of_a_subclass() -> None:
    words = Words(["a"] if other() else ["b"])
    await checkpoint()
    del words


@difference
async def whether_two_functions_share_their_attributes() -> None:
    def one() -> None: ...

    def two() -> None: ...

    one.__dict__ = shared = dict[str, object]()
    two.__dict__ = shared if other() else {}
    del shared
    await checkpoint()
    del one, two


@difference
async def a_dict() -> None:
    thing = {1: "a"} if other() else {1: "b"}
    await checkpoint()
    del thing


@difference
async def the_order_of_a_dict() -> None:
    thing = {1: 0, 2: 0} if other() else {2: 0, 1: 0}
    await checkpoint()
    del thing


@difference
async def the_order_of_a_deque() -> None:
    thing = collections.deque([1, 2] if other() else [2, 1])
    await checkpoint()
    del thing


@difference
async def the_bound_of_a_deque() -> None:
    thing = collections.deque([1], maxlen=5 if other() else 6)
    await checkpoint()
    del thing


@difference
async def the_content_of_a_set() -> None:
    thing = {1, 2} if other() else {1, 3}
    await checkpoint()
    del thing


@difference
async def the_content_of_a_set_of_objects() -> None:
    thing = {Plain(1), Plain(2)} if other() else {Plain(1), Plain(3)}
    await checkpoint()
    del thing


@difference
async def a_number_or_its_equal() -> None:
    thing = 1 if other() else True
    await checkpoint()
    del thing


@difference
async def an_array() -> None:
    thing = array.array("i", [1 if other() else 2])
    await checkpoint()
    del thing


@difference
async def bytes_or_bytearray() -> None:
    thing = b"again" if other() else bytearray(b"again")
    await checkpoint()
    del thing


class Colour(enum.Enum):
    RED = 1
    BLUE = 2


@difference
async def an_enum() -> None:
    thing = Colour.RED if other() else Colour.BLUE
    await checkpoint()
    del thing


@difference
async def a_partial() -> None:
    thing = functools.partial(print, 1 if other() else 2)
    await checkpoint()
    del thing


@difference
async def a_bound_method() -> None:
    one, two = [1], [2]
    method = (one if other() else two).append
    await checkpoint()
    del method


@difference
async def a_weak_reference() -> None:
    thing = Plain(1)
    reference = weakref.ref(thing)
    vars(HIDDEN)["kept"] = None if other() else thing
    del thing
    await checkpoint()
    del reference


@difference
async def one_object_or_two_equal_ones() -> None:
    one = [1]
    pair = (one, one if other() else [1])
    await checkpoint()
    del pair


@difference
async def which_class() -> None:
    class Local:
        pass

    thing: object = Local() if other() else Plain.__new__(Plain)
    await checkpoint()
    del thing


def _with_a_property(hidden: list[int]) -> object:
    class Local:
        @property
        def value(self) -> list[int]:
            return hidden

    return Local()


@difference
async def the_closure_of_a_property() -> None:
    thing = _with_a_property([1] if other() else [2])
    await checkpoint()
    del thing


def _with_a_class_method(hidden: list[int]) -> object:
    class Local:
        @classmethod
        def value(cls) -> list[int]:
            return hidden

    return Local()


@difference
async def the_closure_of_a_class_method() -> None:
    thing = _with_a_class_method([1] if other() else [2])
    await checkpoint()
    del thing


def _with_a_method(hidden: list[int]) -> object:
    class Local:
        def value(self) -> list[int]:
            return hidden

    return Local()


@difference
async def the_closure_of_a_method() -> None:
    thing = _with_a_method([1] if other() else [2])
    await checkpoint()
    del thing


@difference
async def the_content_of_a_mixed_set() -> None:
    thing = {Plain(1), 1 if other() else 2, "a"}
    await checkpoint()
    del thing


@pytest.mark.unmeasured
@pytest.mark.parametrize("side", difference.sides)
@pytest.mark.parametrize("symmetry", [True, False], ids=["symmetry", "names"])
def test_a_difference_makes_a_difference(side: Side, symmetry: bool) -> None:
    check_it_differs(side, symmetry)


@pytest.mark.parametrize("side", difference.sides)
@pytest.mark.parametrize("which", [False, True])
def test_each_execution_has_the_same_states(side: Side, which: bool) -> None:
    check_it_repeats(side, which)


@pytest.mark.parametrize("search", ["plain", "states"])
def test_a_deadlock_guard_tells_what_it_knows_and_not_what_it_costs(search: Any) -> None:
    """Each look makes the next one cheaper, and what it knows of a primitive stands at its address."""

    async def test() -> None:
        lock = structsync.Lock()

        async def worker() -> None:
            async with lock:
                await checkpoint()

        with deadlock_guard():
            async with trio.open_nursery() as nursery:
                for _ in range(2 if search == "plain" else 3):
                    nursery.start_soon(worker)

    found = explore(test, search=search, exhaustive=True, executions=None)
    assert found.verdict is Verdict.CONFIRMED
    assert found.states < 300


async def test_what_observers_keep_of_requests_is_kept_by_the_requests() -> None:
    """By their addresses it would be another state in each execution, and no search with a guard would end."""
    lock, told = structsync.Lock(), list[Any]()
    events = validating._Events(told.append, None)
    with structsync.trace_waits(), structsync.observe(events.note):
        async with lock, trio.open_nursery() as nursery:
            nursery.start_soon(lock.acquire)
            await trio.testing.wait_all_tasks_blocked()
            (waiting,) = lock._core.queue
            assert [*trace.traces[-1]._waits.of(lock)] == [waiting]
            assert waiting in events._requests
            nursery.cancel_scope.cancel()
    assert [one.request for one in told if one.kind != "released"] == [1, 1, 2, 2]
