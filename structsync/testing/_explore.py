"""``explore`` and ``sweep``: what a user calls, or decorates a test with."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any, Unpack, overload

from . import _exploration, _runner
from ._result import Exploration
from ._search.runs import Progress
from ._settings import NAMES, Options, Settings

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

    With a function as its argument it explores at once and returns the result. Without, it is a decorator,
    ``@explore(cancels=1)``, which turns the function into a test that explores it, and fails with the
    schedule that breaks it; parameters, fixtures and classes of pytest work as with any test.

    A test that skips itself in its first schedule is skipped; in a later one that ends this execution only.

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
      ReplayError: if the token is malformed, or the test has changed since.
      NondeterminismError: if something besides the schedule decides what the test does.
    """
    __tracebackhide__ = True  # of pytest: a mistake in a decorator is one of the user's line
    if unknown := sorted(settings.keys() - NAMES):
        known = ", ".join(sorted(NAMES))
        raise TypeError(f"explore() has no setting {unknown[0]!r}; there are {known}")
    try:
        asked = Settings(**settings)
    except (TypeError, ValueError) as error:
        raise error.with_traceback(None) from None
    if fn is not None:
        _check_async(fn)
        inner, asked = getattr(fn, "__structsync_explored__", (fn, asked))
        return _exploration.run(inner, replace(asked, **settings), replay=replay, progress=progress)
    if replay is not None or progress is not None:
        raise TypeError("replay= and progress= belong to explore(fn, ...), not to the decorator")

    def decorate(fn: Callable[..., Awaitable[object]]) -> Callable[..., None]:
        __tracebackhide__ = True
        _check_async(fn)

        @functools.wraps(fn)
        def explored(*args: Any, **kwargs: Any) -> None:
            __tracebackhide__ = True
            _runner.run_test(fn, asked, args, kwargs, fn.__qualname__).check()

        signature = inspect.signature(fn)
        others = [one for name, one in signature.parameters.items() if name != _exploration.HANDLE]
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

    Much cheaper than exploring: as many executions as there are steps and things to cancel. It finds what a
    cancellation leaves behind, but not what also needs an unusual order. With a function it returns an
    :class:`Exploration`; without, it is a decorator, as :func:`explore`.

    Args:
      fn: as for :func:`explore`.
      settings: fields of :class:`Settings`; ``search`` is ``"sweep"``, ``cancels`` is 1.

    Raises:
      Exception: as :func:`explore`.
    """
    __tracebackhide__ = True
    settings["search"] = "sweep"
    return explore(**settings) if fn is None else explore(fn, **settings)


def _check_async(fn: object) -> None:
    __tracebackhide__ = True
    if inspect.isasyncgenfunction(fn):
        raise TypeError(
            f"explore() needs an async function, and {fn!r} is an async generator, which nothing would "
            "iterate over: take the 'yield' out, or explore a function that iterates over it"
        )
    if getattr(fn, "__structsync_explored__", None) is None and not _is_async(fn):
        raise TypeError(f"explore() needs an async function, not {fn!r}; write 'async def'")


def _is_async(fn: object) -> bool:
    inner = fn.func if isinstance(fn, functools.partial) else fn
    return inspect.iscoroutinefunction(inner) or inspect.iscoroutinefunction(
        getattr(inner, "__call__", None)  # noqa: B004 - an object whose call is async
    )
