"""Which fixtures of pytest are set up inside each execution, and which cannot be used at all."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import trio

from structsync._runtime.primitive import Primitive
from structsync.testing._errors import ExploreUsageError
from structsync.testing._execution.fixtures import Placeholder

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
