"""``explore``: every schedule of an async test, and every cancellation."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any, Unpack, overload

from . import _runner
from ._errors import ExploreUsageError, NondeterminismError, ReplayError
from ._execution.engine import Engine
from ._execution.execution import AsyncTest
from ._execution.schedule import Schedule
from ._report.failures import failure_of, starvation_of
from ._result import Exploration
from ._search.choosers import Following, Replaying
from ._search.runs import Progress, Runs
from ._search.search import (
    Found,
    fingerprinter,
    search,
)
from ._search.starvation import Closing
from ._settings import NAMES, Options, Settings

#: Of a test whose tasks run for ever the first so many steps are tried twice before the search.
LOOK_STEPS = 100

Decorator = Callable[[Callable[..., Awaitable[object]]], Callable[..., None]]


@overload
def explore(**settings: Unpack[Options]) -> Decorator: ...
@overload
def explore(
    fn: Callable[..., Awaitable[object]],
    *,
    replay: str | None = None,
    progress: Callable[[Progress], None] | None = None,
    **settings: Unpack[Options],
) -> Exploration: ...
def explore(
    fn: Callable[..., Awaitable[object]] | None = None,
    *,
    replay: str | None = None,
    progress: Callable[[Progress], None] | None = None,
    **settings: Unpack[Options],
) -> Exploration | Decorator:
    """Run an async test under every schedule, and with cancellations at every point.

    With a function as its argument it explores at once and returns the result. Without, it is a
    decorator, ``@explore(cancels=1)``, that makes a test function which explores and fails with the
    schedule that breaks the test; parameters, fixtures and classes of pytest work as with any test.

    Args:
      fn: an async function, with one parameter ``x`` if it wants the handle
          (:class:`ExploredRun`); the program under test. It is called anew for each execution.
      replay: a token from a failure's report: run this one schedule only.
      progress: called now and then with a :class:`Progress`.
      settings: fields of :class:`Settings`, such as ``cancels=2``.

    Raises:
      TypeError: if ``fn`` is not an async function, or a setting does not exist.
      ValueError: if a setting has a value that it cannot have.
      ExploreUsageError: if there is nothing to explore: no task is spawned.
      ReplayError: if the token is none, or the test has changed since.
      NondeterminismError: if something besides the schedule decides what the test does.
    """
    if unknown := sorted(settings.keys() - NAMES):
        known = ", ".join(sorted(NAMES))
        raise TypeError(f"explore() has no setting {unknown[0]!r}; there are {known}")
    asked = Settings(**settings)
    if fn is not None:
        _check_async(fn)
        inner, asked = getattr(fn, "__structsync_explored__", (fn, asked))
        return run(inner, replace(asked, **settings), replay=replay, progress=progress)
    if replay is not None or progress is not None:
        raise TypeError("replay= and progress= belong to explore(fn, ...), not to the decorator")

    def decorate(fn: Callable[..., Awaitable[object]]) -> Callable[..., None]:
        _check_async(fn)

        @functools.wraps(fn)
        def explored(*args: Any, **kwargs: Any) -> None:
            __tracebackhide__ = True
            _runner.run_test(fn, asked, args, kwargs, fn.__qualname__).check()

        signature = inspect.signature(fn)
        others = [one for name, one in signature.parameters.items() if name != _runner.HANDLE]
        vars(explored)["__signature__"] = signature.replace(parameters=others)
        vars(explored)["__structsync_explored__"] = (fn, asked)
        del vars(explored)["__wrapped__"]  # pytest would look at the async one behind it
        return explored

    return decorate


@overload
def sweep(**settings: Unpack[Options]) -> Decorator: ...
@overload
def sweep(fn: Callable[..., Awaitable[object]], **settings: Unpack[Options]) -> Exploration: ...
def sweep(
    fn: Callable[..., Awaitable[object]] | None = None, **settings: Unpack[Options]
) -> Exploration | Decorator:
    """Run one schedule of an async test with a cancellation at each of its steps in turn.

    Much cheaper than exploring: as many executions as there are steps and things to cancel. It
    finds what a cancellation leaves behind, not what needs an unusual order besides. With a
    function it returns an :class:`Exploration`; without, it is a decorator, as :func:`explore`.

    Args:
      fn: as for :func:`explore`.
      settings: fields of :class:`Settings`; ``search`` is ``"sweep"``, ``cancels`` is 1.

    Raises:
      Exception: as :func:`explore`.
    """
    settings["search"] = "sweep"
    return explore(**settings) if fn is None else explore(fn, **settings)


def _check_async(fn: object) -> None:
    if getattr(fn, "__structsync_explored__", None) is None and not _is_async(fn):
        raise TypeError(f"explore() needs an async function, not {fn!r}; write 'async def'")


def _is_async(fn: object) -> bool:
    inner = fn.func if isinstance(fn, functools.partial) else fn
    return inspect.iscoroutinefunction(inner) or inspect.iscoroutinefunction(
        getattr(inner, "__call__", None)  # noqa: B004 - an object whose call is async
    )


def run(
    fn: Callable[..., Awaitable[object]],
    settings: Settings,
    *,
    replay: str | None = None,
    progress: Callable[[Progress], None] | None = None,
    name: str | None = None,
) -> Exploration:
    """Explore a function with no parameter, or the handle; see :func:`explore`."""
    test = with_handle(fn)
    title = str(name or getattr(fn, "__qualname__", repr(fn)))
    runs = Runs(test, settings, progress=progress)
    with runs.open():
        if replay is not None:
            found = _replayed(runs, replay)
        else:
            first = _check_worth(runs)
            found = search(runs) if first is None else Found(first, 1, 0, 0, "no execution ends")
        failure = None
        if found.failed is not None:
            failure = failure_of(runs, found, title)
        elif found.starvation is not None:
            failure = starvation_of(runs, found.starvation, title)
    return Exploration(
        test=title,
        settings=settings,
        executions=runs.executions,
        states=found.states,
        steps=runs.steps,
        seconds=runs.seconds,
        memory=found.memory,
        unfinished=found.unfinished,
        failure=failure,
        interrupted=bool(runs.interrupt),
    )


def with_handle(fn: Callable[..., Awaitable[object]]) -> AsyncTest:
    """Return a function that takes the handle, whether or not ``fn`` does.

    Raises:
      ExploreUsageError: if ``fn`` has more parameters.
    """
    required = [
        one
        for one in inspect.signature(fn).parameters.values()
        if one.default is one.empty and one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD)
    ]
    if len(required) > 1 or any(one.kind is one.KEYWORD_ONLY for one in required):
        names = ", ".join(one.name for one in required)
        raise ExploreUsageError(
            f"the function has the parameters ({names}), but nobody gives it more than the handle "
            "x; bind the others with functools.partial, or write @explore() with parentheses to "
            "decorate a test, which gets them from pytest"
        )
    return fn if required else lambda _: fn()


def _check_worth(runs: Runs) -> Engine | None:
    """Refuse a test in which there is nothing to choose, or which differs from one to the next.

    Returns the first execution if it does not end: in a search all of them would be cut where they
    come back to a state, and none would be wrong.
    """
    stop = LOOK_STEPS if runs.settings.liveness else None
    first = runs.execute(Following((), go_on=True, stop=stop))
    assert first.ending is not None
    if not first.branched and not first.ending.failed:
        raise ExploreUsageError(
            "no task was spawned and nothing can be cancelled, so all schedules are the same: "
            "start at least two tasks in a nursery"
        )
    again = runs.execute(Following(first.choices, go_on=True, stop=stop))
    assert again.ending is not None
    if again.choices != first.choices or again.ending.signature != first.ending.signature:
        raise NondeterminismError(
            "under the same schedule the test ended differently the second time: "
            f"{first.ending.kind} {first.ending.message}, then {again.ending.kind} "
            f"{again.ending.message}; something outlives an execution: a global variable, a fixture"
        )
    runs.executions = 0
    runs.steps = 0
    return first if first.ending.kind == "endless" else None


def _replayed(runs: Runs, token: str) -> Found:
    schedule = Schedule.parse(token)
    runs.settings = replace(runs.settings, order=schedule.order)  # type: ignore[arg-type]
    chooser = Replaying(schedule)
    if runs.settings.liveness:
        chooser = Closing(schedule, fingerprinter(runs.settings))
    engine = runs.execute(chooser)
    made = Schedule.of(schedule.order, engine.choices, engine.firsts)
    if made.checksum != schedule.checksum:
        raise ReplayError(
            "this schedule no longer applies: its deviations are possible, but the steps between "
            f"them are others than when {token!r} was made (the test changed); explore again"
        )
    failed = engine if engine.ending is not None and engine.ending.failed else None
    starvation = None
    if isinstance(chooser, Closing) and failed is None:
        starvation = chooser.starvation(engine.choices)
    return Found(failed, 1, 0, 0, "one schedule was replayed", starvation)
