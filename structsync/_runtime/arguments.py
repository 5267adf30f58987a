"""Checks of what users pass in; the values themselves are judged by the cores."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from types import FunctionType
from typing import Any, Final

from structsync._core.queue.arbiter import Arbiter

# Which functions are no sync functions: a generator that is never run is true, and does nothing.
RUN_LATER = (
    inspect.iscoroutinefunction,
    inspect.isgeneratorfunction,
    inspect.isasyncgenfunction,
)
FLAGS_OF_THOSE = inspect.CO_COROUTINE | inspect.CO_GENERATOR | inspect.CO_ASYNC_GENERATOR

# Compared by identity, which lets 0.0 and False go on to the check.
NO_PRIORITY: Final = 0


def check_count(value: object, what: str, *, least: int = 1) -> None:
    """Raise unless ``value`` is an int (not a bool) that is at least ``least``.

    Raises:
      TypeError: if it is not an int.
      ValueError: if it is too small.
    """
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{what} must be an int, not {value!r}")
    if value < least:
        raise ValueError(f"{what} must be >= {least}, not {value}")


def check_window(seconds: object, what: str) -> None:
    """Raise unless it is a time for which to collect: a number of seconds, >= 0 and finite.

    Raises:
      TypeError: if it is no number.
      ValueError: if it is negative or not finite.
    """
    if isinstance(seconds, bool) or not isinstance(seconds, int | float):
        raise TypeError(f"{what} must be a number of seconds, not {seconds!r}")
    if not 0 <= seconds <= sys.float_info.max:  # a clock adds floats: no int beyond them
        raise ValueError(f"{what} must be >= 0 seconds and finite, not {seconds}")


def check_priority(priority: object, core: Arbiter[Any]) -> None:
    """Raise unless ``priority`` is 0, or an int and the core has priorities.

    Raises:
      TypeError: if it is not an int.
      ValueError: if the core's policy has no priorities.
    """
    if isinstance(priority, bool) or not isinstance(priority, int):
        raise TypeError(f"priority must be an int, not {priority!r}")
    if priority and not core.policy.ranked:
        raise ValueError(
            f"priority must be 0 with policy {core.policy.name!r}, not {priority}; "
            "create the primitive with policy='priority'"
        )


def not_async(what: str, found: object) -> TypeError:
    """Return the error of a function that was called, and returned no awaitable."""
    return TypeError(f"{what} must be an async function, but it returned {found!r}")


def check_name(name: object) -> str | None:
    """Return the name of a primitive; raise unless it is None or a text.

    Raises:
      TypeError: if it is neither.
    """
    if name is not None and not isinstance(name, str):
        raise TypeError(f"name must be a str or None, not {name!r}")
    return name


def check_sync(function: Callable[..., object], what: str) -> None:
    """Raise TypeError unless ``function`` is a callable whose body runs to its end when it is called."""
    # The answer for most, at a tenth of the cost: each wait for a predicate checks this. A mark that it is
    # async all the same would be an attribute.
    plain = type(function) is FunctionType and not function.__dict__
    if plain and not function.__code__.co_flags & FLAGS_OF_THOSE:
        return
    if not callable(function):
        raise TypeError(f"{what} must be callable, not {function!r}")
    call = getattr(function, "__call__", None)  # noqa: B004 - of an object whose call is async
    if any(runs_later(one) for one in (function, call) for runs_later in RUN_LATER):
        raise TypeError(
            f"{what} must be a sync function, because it runs inside one step: {function!r}"
        )
