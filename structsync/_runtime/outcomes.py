"""Where a task sleeps until a log says what has become of its operation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

import outcome
from trio.lowlevel import Abort, Task, current_task, wait_task_rescheduled

from .transitions import of_this_thread
from .waking import wake_cancelled, wake_task

T = TypeVar("T")


class Pending(Generic[T]):
    """One sleep, which ends with what the log says, and with nothing else.

    A cancellation does not end it: it has ``withdraw`` called, and the log says which came first. So a
    raised ``Cancelled`` means that the operation did not happen, also in other processes (C1).
    """

    __slots__ = ("_raise_cancel", "_task", "_withdraw")

    _task: Task
    _withdraw: Callable[[], object]
    _raise_cancel: Callable[[], Any] | None

    def __init__(self, withdraw: Callable[[], object]) -> None:
        self._task = current_task()
        self._withdraw = withdraw
        self._raise_cancel = None

    async def wait(self) -> T:
        """Sleep until the end; called at once, by the task that has made this."""
        result: T = await wait_task_rescheduled(self._abort)
        return result

    def _abort(self, raise_cancel: Callable[[], Any]) -> Abort:
        self._raise_cancel = raise_cancel
        self._withdraw()
        return Abort.FAILED

    @property
    def is_cancelled(self) -> bool:
        """Whether a cancellation has asked for its end."""
        return self._raise_cancel is not None

    def end(self, result: outcome.Outcome[T]) -> None:
        """Wake the task; once."""
        wake_task(of_this_thread(), self._task, result)

    def end_cancelled(self) -> None:
        """Wake the task with the cancellation that asked for this."""
        assert self._raise_cancel is not None, "only a cancellation withdraws"
        wake_cancelled(self._task, self._raise_cancel)
