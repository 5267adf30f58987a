"""What of an error is for the task that waits for a call, and what is for the task that carries it out."""

from __future__ import annotations

import trio

#: What ends a program, or a coroutine that is thrown away, whatever is raised beside it.
ENDING = (KeyboardInterrupt, SystemExit, GeneratorExit)


def raised_by_call(error: BaseException) -> BaseException:
    """Return the error for the task that waits for a call; raise it again if it is for the other one alone.

    A cancellation is for the scope it comes from. What was raised beside it is what the call has raised: it left that
    scope as an error of a task that no task waits for.
    """
    if isinstance(error, BaseExceptionGroup):
        told = error.split(trio.Cancelled)[1]
        if told is None or told.subgroup(ENDING) is not None:
            raise error
        return told
    if isinstance(error, (trio.Cancelled, *ENDING)):
        raise error
    return error


def first_of(error: BaseException) -> BaseException:
    """Return one error of a group: what ends a program, if there is one."""
    while isinstance(error, BaseExceptionGroup):
        error = (error.subgroup(ENDING) or error).exceptions[0]
    return error
