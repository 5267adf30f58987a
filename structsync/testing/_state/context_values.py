"""Context variables that were set before the run: what they hold may change in place.

What a task has set itself is looked at with the task. What it has found there is the same for all tasks; of
that is looked at what code can name, and the context of :mod:`decimal`, on which all arithmetic depends.
"""

from __future__ import annotations

import contextvars
import decimal
from typing import Any

from .identity import UNSET, Expanded

_NO_CONTEXT = contextvars.Context()
_met: dict[contextvars.ContextVar[Any], None] = {}


def start() -> None:
    """Forget the variables of the last state."""
    _met.clear()


def variable(thing: Any) -> Expanded:
    _met[thing] = None
    try:
        default = _NO_CONTEXT.run(thing.get)
    except LookupError:
        default = UNSET
    return ("context variable", thing.name), [default]


def found_there(base: contextvars.Context, after: int) -> list[Any]:
    """Return the values of the variables that were met after so many, each after its variable."""
    return [part for one in [*_met][after:] if one in base for part in (one, base[one])]


def met() -> int:
    """Return how many variables were met in this state."""
    return len(_met)


def of_decimal(base: contextvars.Context) -> list[decimal.Context]:
    """Return the context of decimal numbers that was there before the run."""
    return [one for one in base.values() if isinstance(one, decimal.Context)]
