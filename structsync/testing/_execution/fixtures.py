"""Fixtures that are set up inside each execution of an explored test.

An execution is a trio program of its own: what an async fixture makes belongs to one of them, and
cannot be made before there is one. So the test runner gets a placeholder, and the fixture itself is
set up in the task of the test, right before the test function, and torn down right after it.
"""

from __future__ import annotations

import copy
import inspect
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Final, NoReturn

from structsync.testing._errors import ExploreUsageError

from .clock import in_execution

_ENDED: Final = object()


@dataclass(frozen=True, slots=True, eq=False)
class Placeholder:
    """Stands for the value of a fixture until an execution has one.

    Attributes:
      name: what the fixture is called.
      function: what makes the value: a coroutine function, a plain one, or a generator of either
          kind that yields the value and tears down after it.
      arguments: what the function takes, by name; may hold other placeholders.
      for_each_user: whether each other fixture that takes it, and the test, gets one of its own.
    """

    name: str
    function: Callable[..., Any]
    arguments: Mapping[str, object]
    for_each_user: bool = False

    def __getattr__(self, attribute: str) -> NoReturn:
        # Only what was asked for with request.getfixturevalue() is still a placeholder when used.
        __tracebackhide__ = True
        raise AttributeError(
            f"the fixture {self.name!r} has a value (with {attribute!r}) inside an execution only, "
            "and not for request.getfixturevalue(): name it as a parameter"
        )


def refuse_what_finalizes(instance: object) -> None:
    """Raise ExploreUsageError for an instance of which no execution can have a copy of its own."""
    if hasattr(instance, "__del__"):
        kind = type(instance).__name__
        raise ExploreUsageError(
            f"each execution has a copy of the instance of {kind}, and each copy would run {kind}.__del__() "
            "on what they all share: write the test as a function, or in a class without __del__"
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
            if not one.for_each_user:
                given = await _filled(one.arguments, values, stack)
                running = _FixtureRun(one.name, one.function, given)
                values[id(one)] = in_execution(await stack.enter_async_context(running))
        return await test(**await _filled(arguments, values, stack))


async def _filled(
    arguments: Mapping[str, object], values: Mapping[int, object], stack: AsyncExitStack
) -> dict[str, object]:
    filled = {name: values.get(id(value), value) for name, value in arguments.items()}
    for name, value in filled.items():
        if isinstance(value, Placeholder) and value.for_each_user:
            running = _FixtureRun(value.name, value.function, {})
            filled[name] = await stack.enter_async_context(running)
    return filled


class _FixtureRun:
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
