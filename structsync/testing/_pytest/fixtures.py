"""Fixtures that are set up inside each execution of an explored test.

An execution is a trio program of its own: what an async fixture makes belongs to one of them, and
cannot be made before there is one. So pytest gets a placeholder, and the fixture itself is set up
in the task of the test, right before the test function, and torn down right after it.
"""

from __future__ import annotations

import copy
import inspect
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Final, NoReturn

import trio

from structsync._runtime.primitive import Primitive
from structsync.testing._errors import ExploreUsageError

_ENDED: Final = object()

#: Fixtures of pytest-trio that belong to its own way of running a test, and what to do instead.
_OF_PYTEST_TRIO = {
    "nursery": "open one in the test: async with trio.open_nursery() as nursery",
    "autojump_clock": "leave it out: here the time passes as soon as every task waits",
    "mock_clock": "leave it out: here the time passes as soon as every task waits, "
    'and with @explore(clock="explore") early as well',
}

#: What has a state that one execution would leave behind for the next one.
_STATEFUL = (
    Primitive,
    trio.CancelScope,
    trio.CapacityLimiter,
    trio.Condition,
    trio.Event,
    trio.Lock,
    trio.MemoryReceiveChannel,
    trio.MemorySendChannel,
    trio.Semaphore,
    trio.StrictFIFOLock,
    trio.lowlevel.ParkingLot,
)


@dataclass(frozen=True, slots=True, eq=False)
class Placeholder:
    """Stands for the value of a fixture until an execution has one.

    Attributes:
      name: what the fixture is called.
      function: what makes the value: a coroutine function, a plain one, or a generator of either
          kind that yields the value and tears down after it.
      arguments: what the function takes, by name; may hold other placeholders.
    """

    name: str
    function: Callable[..., Any]
    arguments: Mapping[str, object]

    def __getattr__(self, attribute: str) -> NoReturn:
        # Only what was asked for with request.getfixturevalue() is still a placeholder when used.
        __tracebackhide__ = True
        raise AttributeError(
            f"the fixture {self.name!r} has a value (with {attribute!r}) inside an execution only, "
            "and not for request.getfixturevalue(): name it as a parameter"
        )


async def with_fixtures(
    fixtures: Sequence[Placeholder],
    test: Callable[..., Awaitable[object]],
    arguments: Mapping[str, object],
    instance: object = None,
) -> object:
    """Run a test with the values of its fixtures, which exist for that long; return what it does.

    The fixtures stand in the order in which they are set up; they are torn down in reverse, however
    the test ends. As in pytest, an error of the test is not raised again at the ``yield`` of a
    fixture; a cancellation is, because the scope that caught it may be the fixture's own. So what is
    to be undone also where the search abandons an execution, stands in a ``finally`` or a ``with``.

    The test and its fixtures get a copy of the instance of their class, so that no execution sees
    what another one has left there.
    """
    values = {id(instance): copy.copy(instance)}
    async with AsyncExitStack() as stack:
        for one in fixtures:
            running = _Running(one.name, one.function, _filled(one.arguments, values))
            values[id(one)] = await stack.enter_async_context(running)
        return await test(**_filled(arguments, values))


def _filled(arguments: Mapping[str, object], values: Mapping[int, object]) -> dict[str, object]:
    return {name: values.get(id(value), value) for name, value in arguments.items()}


class _Running:
    """One fixture in one execution."""

    def __init__(
        self, name: str, function: Callable[..., Any], arguments: Mapping[str, object]
    ) -> None:
        self._name = name
        self._made: object = function(**arguments)

    async def __aenter__(self) -> object:
        if isinstance(self._made, AsyncGenerator | Generator):
            value = await _step(self._made)
            if value is _ENDED:
                raise RuntimeError(f"the fixture {self._name!r} ended without a yield")
            return value
        return await self._made if inspect.iscoroutine(self._made) else self._made

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool:
        if not isinstance(self._made, AsyncGenerator | Generator):
            return False
        # Cancelled, and a group with one in it, are no Exception.
        thrown = None if isinstance(error, Exception) else error
        try:
            value = await _step(self._made, thrown)
        except BaseException as raised:
            if raised is not thrown:
                raise
            return False
        if value is not _ENDED:
            raise RuntimeError(f"the fixture {self._name!r} yields more than once")
        return thrown is not None


async def _step(
    made: AsyncGenerator[object, None] | Generator[object, None, object],
    error: BaseException | None = None,
) -> object:
    """Go on to the next ``yield`` and return its value, or _ENDED."""
    try:
        if isinstance(made, AsyncGenerator):
            return await (anext(made) if error is None else made.athrow(error))
        return next(made) if error is None else made.throw(error)
    except (StopIteration, StopAsyncIteration):
        return _ENDED


def belongs_to_an_execution(function: Callable[..., object], arguments: Sequence[object]) -> bool:
    """Return whether a fixture can be set up inside an execution only."""
    return (
        inspect.iscoroutinefunction(function)
        or inspect.isasyncgenfunction(function)
        or any(isinstance(one, Placeholder) for one in arguments)
        # pytest_trio.trio_fixture: plain, and to be called by a task
        or hasattr(function, "_force_trio_fixture")
    )


def placeholder(
    name: str,
    function: Callable[..., Any],
    arguments: Mapping[str, object],
    instance: object,
) -> Placeholder:
    """Return the placeholder for a fixture; a method is called on (a copy of) this instance."""
    if inspect.ismethod(function):
        function = function.__func__
        first = next(iter(inspect.signature(function).parameters))
        arguments = {first: instance, **arguments}
    return Placeholder(name, function, arguments)


def refuse_pytest_trio(name: str, function: Callable[..., object]) -> None:
    """Raise ExploreUsageError for a fixture that works in tests that pytest-trio runs only."""
    if function.__module__.partition(".")[0] == "pytest_trio" and name in _OF_PYTEST_TRIO:
        raise ExploreUsageError(
            f"the fixture {name!r} of pytest-trio does not work in an explored test; "
            f"{_OF_PYTEST_TRIO[name]}"
        )


def refuse_state(name: str, value: object) -> None:
    """Raise ExploreUsageError for the value of a fixture that executions must not share."""
    for one in value if isinstance(value, tuple) else (value,):
        if isinstance(one, _STATEFUL):
            raise ExploreUsageError(
                f"the fixture {name!r} makes one {type(one).__name__} for all executions of the "
                "test, and each would find what the one before has left: write it as an async "
                "function (async def), which is set up anew in each execution"
            )
