"""Where an error was raised, and what is written there."""

from __future__ import annotations

from collections.abc import Iterator
from reprlib import Repr
from types import TracebackType

from structsync.testing._execution import places
from structsync.testing._execution.origin import leaves_of
from structsync.testing._execution.under_test import is_under_test

#: Of a group so many errors are told.
MOST_ERRORS = 3
#: And of an assertion the values of so many variables.
MOST_VALUES = 4

_short = Repr()
_short.maxstring = _short.maxother = 60


def told(error: BaseException) -> Iterator[str]:
    """Yield a sentence for each error: its place, the statement, the values of its variables."""
    for leaf in list(leaves_of(error))[:MOST_ERRORS]:
        trace = _of_the_program(leaf.__traceback__)
        if trace is not None:
            code, line = trace.tb_frame.f_code, trace.tb_lineno
            statement = places.statement_at(code.co_filename, line)
            where = f"{places.path_of(code.co_filename)}:{line} in {code.co_name}"
            yield f"{type(leaf).__name__} at {where}: {statement}".rstrip(": ")
            if values := ", ".join(_values(trace, statement)):
                yield f"where {values}"


def _of_the_program(trace: TracebackType | None) -> TracebackType | None:
    """Return the innermost place in the program that an error has passed; None if it has none."""
    found = None
    while trace is not None:
        if is_under_test(trace.tb_frame.f_globals.get("__name__", "")):
            found = trace
        trace = trace.tb_next
    return found


def _values(trace: TracebackType, statement: str) -> Iterator[str]:
    local = trace.tb_frame.f_locals
    for name in list(places.names_in(statement))[:MOST_VALUES]:
        if name in local and not callable(local[name]):
            yield f"{name} = {_short.repr(local[name])}"
