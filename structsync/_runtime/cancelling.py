"""What trio's cancellation of a sleeping task does to the queue: it ends the wait, unless a grant came first."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from trio.lowlevel import Abort, Task, checkpoint_if_cancelled

from structsync._core.queue.group import Member
from structsync._core.queue.request import PENDING, Request

from .transitions import of_this_thread
from .waking import wake, wake_cancelled

RaiseCancel = Callable[[], Any]
# What an abort does to the core: the requests that it lets in, or None if it comes too late.
Stop = Callable[[Request[Any]], "list[Request[Any]] | None"]
# The same of a wait outside of any queue: whether it ends by that, or has ended or goes on.
StopWaiting = Callable[[RaiseCancel], bool]


def is_cancelled() -> bool:
    """Return whether the current task would get ``Cancelled`` at a checkpoint now; does not yield."""
    check = checkpoint_if_cancelled()  # noqa: ASYNC105 - driven by hand
    try:
        check.send(None)
    except StopIteration:
        return False
    check.close()  # it was going to sleep until it is cancelled
    return True


def abort(request: Request[Any], raise_cancel: RaiseCancel) -> Abort:
    """Withdraw the request of a task that trio wants to cancel, unless it has ended by then."""
    return abort_by(request.primitive._core.withdraw, request, raise_cancel)


def abort_by(stop: Stop, request: Request[Any], raise_cancel: RaiseCancel) -> Abort:
    """Stop the wait of a task that trio wants to cancel, unless it has ended by then."""
    transitions = request.primitive._transitions
    if not transitions.mark._is_owned():  # a request that may outlive its run
        transitions = of_this_thread()
    if transitions.running:
        # A guard, an observer or a finalizer cancelled a scope in the middle of a step. The
        # cancellation is carried out right after it; until then a grant may still win.
        transitions.later.append(partial(_abort_late, stop, request, raise_cancel))
        return Abort.FAILED
    transitions.running = True
    try:
        ended = stop(request)
        if ended is None:
            standing = request.group.standing if isinstance(request, Member) else request
            if request.parked and standing.status is not PENDING:
                # The code of a user dropped or lost what settle() returned; nothing else will ever wake this task.
                wake(transitions, standing.primitive, [standing])
            return Abort.FAILED
        request.parked = False
        transitions.wakes(request.waiter)
        if request.status is not PENDING:
            ended.insert(0, request)
        wake(transitions, request.primitive, ended)
        return Abort.SUCCEEDED
    finally:
        transitions.running = False
        if transitions.later:
            transitions.carry_out()


def _abort_late(stop: Stop, request: Request[Any], raise_cancel: RaiseCancel) -> None:
    if request.parked and abort_by(stop, request, raise_cancel) is Abort.SUCCEEDED:
        wake_cancelled(request.waiter, raise_cancel)


def end_wait(stop: StopWaiting, task: Task, raise_cancel: RaiseCancel) -> Abort:
    """End a wait outside of any queue that trio wants to cancel, unless it has ended by then."""
    transitions = of_this_thread()
    if transitions.running:  # as in abort_by()
        transitions.later.append(partial(_end_wait_late, stop, task, raise_cancel))
        return Abort.FAILED
    if not stop(raise_cancel):
        return Abort.FAILED
    transitions.wakes(task)
    return Abort.SUCCEEDED


def _end_wait_late(stop: StopWaiting, task: Task, raise_cancel: RaiseCancel) -> None:
    if end_wait(stop, task, raise_cancel) is Abort.SUCCEEDED:
        wake_cancelled(task, raise_cancel)
