"""A rule as a task, and what is wrong with it beyond its own errors."""

from __future__ import annotations

from typing import final

import trio


class MachineFailed(AssertionError):
    """The example failed although no rule and no invariant raised.

    A rule waits forever in ``settle()``, or does not end although it is cancelled; an invariant of a
    primitive does not hold; or the steps do not end.
    """

    __module__ = "structsync.testing"


@final
class RuleTask:
    """A rule that was started as a task.

    Attributes:
      name: as in the printed schedule: ``visit#0`` is the first task of the rule ``visit``.
      done: whether it has ended.
      cancelled: whether it has been cancelled.
    """

    def __init__(self) -> None:
        self.name: str = ""
        self.done: bool = False
        self.cancelled: bool = False
        self.value: object = None
        self.scope: trio.CancelScope = trio.CancelScope()

    def __repr__(self) -> str:
        return self.name

    def cancel(self) -> None:
        """Cancel the rule, whether it is parked or runnable; nothing if it has ended.

        Call it in a rule, like everything that wakes a task.
        """
        self.cancelled = True
        self.scope.cancel()


def is_cancelled(error: BaseException) -> bool:
    """Return whether there is nothing but cancellation in an error."""
    if isinstance(error, BaseExceptionGroup):
        return error.split(trio.Cancelled)[1] is None
    return isinstance(error, trio.Cancelled)


def alone(error: BaseException | None) -> BaseException | None:
    """Return the only error in a group instead of the group."""
    while isinstance(error, BaseExceptionGroup) and len(error.exceptions) == 1:
        error = error.exceptions[0]
    return error
