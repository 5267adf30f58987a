"""The one error of a specification that cannot be checked as it stands."""

from __future__ import annotations

import traceback


class SpecError(Exception):
    """A specification breaks a rule of the language; the message names the rule, the values and a fix."""


#: What ends a program, or a generator; in a specification it is an error like any other.
ENDS_THE_PROGRAM: tuple[type[BaseException], ...] = (SystemExit, GeneratorExit)

#: Whatever code of a specification may raise; but not Ctrl-C, and not the end of a budget.
ANY_ERROR: tuple[type[BaseException], ...] = (Exception, *ENDS_THE_PROGRAM)


def where_raised(error: BaseException) -> str:
    """Return the file and the line in which an error was raised."""
    frame = traceback.extract_tb(error.__traceback__)[-1]
    return f"{frame.filename}, line {frame.lineno}"
