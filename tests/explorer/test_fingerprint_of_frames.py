"""Where code stands is state: local variables, the value stack, iterators, closures.

Each side of a difference stands at the same place of the same code; what differs is what a task
could still look at, and so must the fingerprints. How the two sides are told apart is no part of
the state: see ``other`` in conftest.py.
"""

from __future__ import annotations

import itertools
from collections.abc import AsyncIterator, Generator

import pytest
from trio.lowlevel import checkpoint

from structsync.testing import ExploredRun

from .conftest import Differences, Side, check_it_differs, check_it_repeats, other

difference = Differences()


@difference
async def a_local() -> None:
    value = 2 if other() else 1
    await checkpoint()
    del value


@difference
async def an_unbound_local() -> None:
    one = two = 1
    if other():
        del one
    else:
        del two
    await checkpoint()


@difference
async def a_last_local_that_is_none() -> None:
    value = 2 if other() else None
    await checkpoint()
    del value


async def _three() -> int:
    await checkpoint()
    return 3


@difference
async def the_value_stack() -> None:
    # The left operand is in no variable while the right one is awaited.
    _ = (1 if other() else 2) + await _three()


@difference
async def the_position_of_an_iterator() -> None:
    numbers = iter([7, 7, 7])
    next(numbers)
    if other():
        next(numbers)
    await checkpoint()


@difference
async def a_position_in_a_range() -> None:
    numbers = iter(range(9))
    next(numbers)
    if other():
        next(numbers)
    await checkpoint()


@difference
async def a_position_in_itertools() -> None:
    numbers = itertools.count(5)
    if other():
        next(numbers)
    await checkpoint()


def _steps() -> Generator[None, None, None]:
    yield
    yield


@difference
async def a_generator_half_way() -> None:
    steps = _steps()
    next(steps)
    if other():
        next(steps)
    await checkpoint()


async def _async_steps() -> AsyncIterator[None]:
    yield
    yield


@difference
async def an_async_generator_half_way() -> None:
    steps = _async_steps()
    await anext(steps)
    if other():
        await anext(steps)
    await checkpoint()
    async for _ in steps:
        pass


@difference
async def a_closure() -> None:
    count = 0

    def increase() -> None:
        nonlocal count
        count += 1

    if other():
        increase()
    functions = [increase]
    await checkpoint()
    del functions


@difference
async def a_default_argument() -> None:
    def function(given: list[int] = []) -> None:  # noqa: B006 - the state that is looked for
        given.append(1)

    if other():
        function()
    await checkpoint()


@difference
async def an_attribute_of_a_function() -> None:
    def function() -> None: ...

    vars(function)["calls"] = 1 if other() else 0
    await checkpoint()


@difference
async def a_generator_that_is_over() -> None:
    steps = _steps()
    next(steps)
    if other():
        steps.close()
    await checkpoint()


class _Sleeps:
    def __await__(self) -> Generator[object, object, object]:
        return self._wait().__await__()

    async def _wait(self) -> None:
        value = 1 if other() else 2
        await checkpoint()
        del value


@difference
async def a_coroutine_behind_await() -> None:
    await _Sleeps()


async def _waits_between() -> AsyncIterator[None]:
    value = 1 if other() else 2
    await checkpoint()
    yield
    del value


@difference
async def an_async_generator_that_waits() -> None:
    async for _ in _waits_between():
        pass


class Probed:
    async def acquire(self) -> None:
        await checkpoint()

    def release(self) -> None:
        pass


@difference
async def what_the_test_function_has_returned(x: ExploredRun) -> int:
    x.watch(thing=Probed())  # acquired when the test function has ended
    return 1 if other() else 2


@pytest.mark.unmeasured
@pytest.mark.parametrize("side", difference.sides)
@pytest.mark.parametrize("symmetry", [True, False], ids=["symmetry", "names"])
def test_a_difference_makes_a_difference(side: Side, symmetry: bool) -> None:
    check_it_differs(side, symmetry)


@pytest.mark.parametrize("side", difference.sides)
@pytest.mark.parametrize("which", [False, True])
def test_each_execution_has_the_same_states(side: Side, which: bool) -> None:
    check_it_repeats(side, which)


def test_without_a_difference_there_is_none() -> None:
    """What tells the sides is no part of the state itself: or the tables would show nothing."""

    async def no_difference() -> None:
        other()
        await checkpoint()

    with pytest.raises(AssertionError, match="makes no difference"):
        check_it_differs(no_difference, symmetry=True)
