"""What a task meets in a step, in words: an error, a cancellation, the end of its sleep."""

from __future__ import annotations

import trio
from trio.lowlevel import Task

from structsync.testing._execution import frames
from structsync.testing._execution.execution import Execution
from structsync.testing._execution.names import MAIN

#: How the note of a step begins in which a task meets a cancellation.
CANCELLED = "Cancelled is raised in it"


def met_by_error(execution: Execution, task: Task, error: BaseException) -> str:
    """Say what raises an error in a task, or that its sleep is over."""
    raised = f"{type(error).__name__} is raised in it"
    if not isinstance(error, trio.Cancelled):
        return raised
    around = [*execution.scopes.round(task), (MAIN, execution.whole)]
    cancelled = [(name, scope) for name, scope in around if scope.cancel_called]
    # A sleep that ends in a scope that is cancelled does not return. Which of them a shield hides is not known here.
    hidden = any(scope.shield for _, scope in around)
    if _sleep_is_over(execution, task) and (hidden or not cancelled):
        return "its sleep is over"
    for name, scope in cancelled:
        ended = "timed out" if scope.deadline <= execution.clock.now else "is cancelled"
        return f"{raised}: {_scope(execution, name)} {ended}"
    return raised


def _sleep_is_over(execution: Execution, task: Task) -> bool:
    for frame in frames.frames_of(execution.coroutine_of(task)):
        if frame.f_code is _SLEEP_UNTIL:
            deadline = frame.f_locals.get("deadline")
            return deadline is not None and deadline <= execution.clock.now
    return False


#: Where a task is that sleeps: trio ends that by a cancellation of its own.
_SLEEP_UNTIL = trio.sleep_until.__code__


def met_by_cancel(execution: Execution, task: Task) -> str:
    """Say what a cancelled task was doing."""
    if task in execution.pool:
        return "runnable: it gets Cancelled at its next checkpoint"
    return f"parked at {frames.where(execution.coroutine_of(task))}"


def met_by_scope(execution: Execution, name: str) -> str:
    """Say where a scope was opened."""
    return f"opened at {place}" if (place := execution.scopes.opened_at(name)) else ""


def _scope(execution: Execution, name: str) -> str:
    if name == MAIN:
        return "the whole test"
    place = execution.scopes.opened_at(name)
    return f"the scope {name}" + (f", {place}," if place else "")
