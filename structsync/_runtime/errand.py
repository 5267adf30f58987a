"""What a thread requests of a run: requested and awaited in the thread, decided and answered in the run."""

from __future__ import annotations

import contextvars
import queue
import threading
from abc import abstractmethod
from contextlib import suppress
from typing import Any

import outcome
import trio
from trio.lowlevel import (
    Abort,
    Task,
    TrioToken,
    current_task,
    current_trio_token,
    enable_ki_protection,
    wait_task_rescheduled,
)

from structsync._core.primitives.errand import ASKED, ENDED, ErrandCore

from .cancelling import RaiseCancel
from .transitions import of_this_thread
from .waking import wake_cancelled, wake_task


class Interrupted(Exception):
    """The answer to what was interrupted; the thread raises its interrupt instead."""


class _Here(threading.local):
    def __init__(self) -> None:
        self.deputies: dict[TrioToken, Any] = {}


_here = _Here()


def in_trio_run() -> bool:
    """Return whether this thread is that of a run; trio has its own function for that since 0.28 only."""
    try:
        current_trio_token()
    except RuntimeError:
        return False
    return True


class Errand:
    """One thing that a thread asks for.

    Attributes:
      core: how far it is.
      deputies: the tasks that do it, for this thread, by their runs; read and changed in the runs alone.
      context: the context of the thread, as it was then.
      host: the task that has started the thread, while it sleeps for the answer.
      scope: what to cancel to interrupt it, while it is done.
    """

    __slots__ = (
        "_raise_cancel",
        "_reply",
        "_timeout",
        "context",
        "core",
        "deputies",
        "host",
        "scope",
        "thread_name",
    )
    core: ErrandCore
    deputies: dict[TrioToken, Any]
    context: contextvars.Context
    host: Task | None
    scope: trio.CancelScope | None
    thread_name: str
    _raise_cancel: RaiseCancel | None
    _reply: queue.SimpleQueue[outcome.Outcome[Any]]
    _timeout: float | None

    def __init__(self, timeout: float | None = None, *, must: bool = False) -> None:
        self.core = ErrandCore(must=must)
        self.deputies = _here.deputies
        self.context = contextvars.copy_context()
        self.thread_name = threading.current_thread().name
        self.scope = None
        self._timeout = timeout
        self.host = None
        self._raise_cancel = None
        self._reply = queue.SimpleQueue()

    @abstractmethod
    def accept(self) -> None:
        """Have it done, or answer it; called in the run; does not raise."""

    @abstractmethod
    def undo(self, value: Any, interrupt: BaseException) -> None:
        """Undo in the thread what was done before its interrupt came; does not raise."""

    # ==== in the thread ====

    def ask(self, token: TrioToken | None) -> Any:
        """Ask the run of the token, or else that of this worker thread, and wait for the answer.

        Raises:
          RuntimeError: if a run is in this thread, or there is no token and no run that started it.
          trio.RunFinishedError: if the run has ended, before or meanwhile.
          trio.Cancelled: if that which started this worker thread is cancelled.
          BaseException: the error of what was done, or of a signal's handler in this thread.
        """
        if in_trio_run():  # in a task, or between two: of a host loop that the run is a guest of
            raise RuntimeError(
                "this would block the thread of a trio run, and nothing in that run could continue: use "
                "`async with` and `await` there, and this in other threads"
            )
        if token is not None:
            return self._ask_by_token(token)
        try:
            trio.from_thread.run(self._ask_as_host)
        except trio.RunFinishedError:
            raise
        except RuntimeError:
            raise RuntimeError(
                "this thread was not started by trio: pass token=, which the run gets from "
                "trio.lowlevel.current_trio_token()"
            ) from None
        return self._reply.get().unwrap()

    def _ask_by_token(self, token: TrioToken) -> Any:
        try:
            token.run_sync_soon(self.accept)
            answer = self._reply.get()
        except trio.RunFinishedError:
            raise
        except BaseException as interrupt:  # in the main thread: Ctrl-C
            with suppress(trio.RunFinishedError):  # then it is answered already
                token.run_sync_soon(self._interrupt_from_thread)
            answer = self._reply_at_last()
            if isinstance(answer, outcome.Value):
                self.undo(answer.value, interrupt)
            raise
        return answer.unwrap()

    def _reply_at_last(self) -> outcome.Outcome[Any]:
        while True:
            with suppress(BaseException):  # one more Ctrl-C says nothing new
                return self._reply.get()

    # ==== in the run ====

    @enable_ki_protection
    async def _ask_as_host(self) -> None:
        self.accept()
        if self.core.stage != ENDED:
            self.host = current_task()
            await wait_task_rescheduled(self._abort)

    def _abort(self, raise_cancel: RaiseCancel) -> Abort:
        self._raise_cancel = raise_cancel
        if self._interrupt():
            return Abort.SUCCEEDED
        return Abort.FAILED

    def _interrupt(self) -> bool:
        if self.core.interrupt():
            self.host = None
            self._reply.put(outcome.Error(Interrupted()))
            return True
        if self.scope is not None and self.core.stage != ENDED:
            self.scope.cancel()
        return False

    def _interrupt_from_thread(self) -> None:
        # Perhaps it was not even accepted: the interrupt may have come before.
        if not self._interrupt() and self.core.stage == ASKED:
            self.accept()

    def do_in(self, scope: trio.CancelScope) -> None:
        """Have it interrupted, and timed, by a scope that the task is in."""
        self.scope = scope
        if self._timeout is not None:
            # Set inside of the scope: what need not wait is done with a timeout of 0, too.
            scope.deadline = trio.current_time() + self._timeout
        if self.core.interrupted:
            scope.cancel()

    def why_stopped(self) -> Exception:
        """Return the error where the cancellation of its scope has stopped it."""
        if self.core.interrupted:
            return Interrupted()
        return TimeoutError(f"{self!r} did not end within {self._timeout} s")

    def answer(self, answer: outcome.Outcome[Any]) -> None:
        """Answer the thread, unless that was done before."""
        if not self.core.end():
            return
        self._reply.put(answer)
        host, self.host = self.host, None
        if host is None:
            return
        if isinstance(answer, outcome.Error) and isinstance(answer.error, Interrupted):
            assert self._raise_cancel is not None
            wake_cancelled(host, self._raise_cancel)
        else:
            wake_task(of_this_thread(), host)
