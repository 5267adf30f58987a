"""Where a task sleeps until a log says what has become of its operation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

import outcome
from trio.lowlevel import (
    Abort,
    Task,
    cancel_shielded_checkpoint,
    current_task,
    wait_task_rescheduled,
)

from .transitions import of_this_thread
from .waking import wake_cancelled, wake_task

T = TypeVar("T")


class Pending(Generic[T]):
    """One sleep, which ends with what the log says, and with nothing else.

    A cancellation does not end it: it has ``withdraw`` called, and the log says which came first. So a
    raised ``Cancelled`` means that the operation did not happen, also in other processes (C1).

    Attributes:
      leaves_nothing: whether all that it has done is undone if the log ends before it has said which came first.
    """

    __slots__ = ("_early", "_raise_cancel", "_task", "_withdraw", "leaves_nothing")

    _task: Task | None  # that sleeps; None before it does
    _early: outcome.Outcome[T] | None  # what has ended it before
    _withdraw: Callable[[], object] | None  # None: once sent, it is not withdrawn
    _raise_cancel: Callable[[], Any] | None

    leaves_nothing: bool

    def __init__(
        self, withdraw: Callable[[], object] | None, *, leaves_nothing: bool = True
    ) -> None:
        self._task = self._early = None
        self.leaves_nothing = leaves_nothing
        self._withdraw = withdraw
        self._raise_cancel = None

    async def wait(self) -> T:
        """Sleep until the end; called once, and by no other task if it has ended before."""
        if self._early is not None:
            await cancel_shielded_checkpoint()
            return self._early.unwrap()
        self._task = current_task()
        result: T = await wait_task_rescheduled(self._abort)
        return result

    def _abort(self, raise_cancel: Callable[[], Any]) -> Abort:
        if self._withdraw is not None:
            self._raise_cancel = raise_cancel
            self._withdraw()
        return Abort.FAILED

    @property
    def is_cancelled(self) -> bool:
        """Whether a cancellation has asked for its end."""
        return self._raise_cancel is not None

    def end(self, result: outcome.Outcome[T]) -> None:
        """Wake the task; once."""
        if self._task is None:
            self._early = result
        else:
            wake_task(of_this_thread(), self._task, result)

    def end_cancelled(self) -> None:
        """Wake the task with the cancellation that asked for this."""
        assert self._task is not None, "only a task that sleeps is cancelled"
        assert self._raise_cancel is not None, "only a cancellation withdraws"
        wake_cancelled(self._task, self._raise_cancel)
