"""Which tasks are woken: those of requests that have ended; and which tasks observers are informed of then.

Only this module wakes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import outcome
import trio
from trio.lowlevel import Task, reschedule

from structsync._core.queue.group import QueueEnded, settle_transitively
from structsync._core.queue.request import BROKEN, GRANTED, Request

from .causes import error_of
from .errors import RequestWithdrawn
from .events import emit_ended
from .live import Live
from .runs import running_task
from .transitions import Transitions
from .woken import WOKEN


def wake(transitions: Transitions, live: Live[Any], ended: list[Request[Any]]) -> None:
    """Make the tasks of ended requests runnable, and inform the observers."""
    in_other_queues = resume(transitions, ended)
    if live._observers:
        emit_ended(live, ended)
    if in_other_queues:
        emit_in_other_queues(in_other_queues)


def resume(transitions: Transitions, ended: list[Request[Any]]) -> Sequence[QueueEnded] | None:
    """Make the tasks of ended requests runnable.

    Returns what else ended, because a group left other queues; it is runnable, and not emitted yet.
    None: there was no group.
    """
    for request in ended:
        if request.group is not None:
            return _resume_with_groups(transitions, ended)
        if request.parked:
            waiter = request.waiter
            if request.status is GRANTED and (
                waiter is not transitions.parking or has_parked(transitions, waiter)
            ):
                request.parked = False
                reschedule(waiter, WOKEN)
            else:
                _resume(transitions, request)
    return None


def _resume_with_groups(
    transitions: Transitions, ended: list[Request[Any]]
) -> Sequence[QueueEnded]:
    in_other_queues = settle_transitively(ended)
    for _, others in ((None, ended), *in_other_queues):
        for request in others:
            if request.parked:
                _resume(transitions, request)
    return in_other_queues


def _resume(transitions: Transitions, request: Request[Any]) -> None:
    request.parked = False
    result = WOKEN if request.status is GRANTED else outcome.Error(error_of_ended(request))
    wake_task(transitions, request.waiter, result)


def wake_task(transitions: Transitions, task: Task, result: outcome.Outcome[Any] = WOKEN) -> None:
    """Make a task runnable that has parked, or decided to."""
    if task is not transitions.parking or has_parked(transitions, task):
        reschedule(task, result)
    else:
        soon = trio.lowlevel.current_trio_token().run_sync_soon
        soon(wake_task, transitions, task, result)


def has_parked(transitions: Transitions, task: Task | None) -> bool:
    """Return whether the task that decided last to park, and is to be woken, has parked by now.

    It has not where a finalizer runs between the two: trio cannot wake it yet.
    """
    if task is running_task():
        return False
    transitions.parking = None
    return True


def wake_cancelled(task: Task, raise_cancel: Callable[[], Any]) -> None:
    """Wake a task whose request was withdrawn because the task is cancelled."""
    reschedule(task, outcome.capture(raise_cancel))


def emit_in_other_queues(in_other_queues: Sequence[QueueEnded]) -> None:
    for queue, ended in in_other_queues:
        if queue.primitive._observers:
            emit_ended(queue.primitive, ended)


def error_of_ended(request: Request[Any]) -> BaseException:
    """Return the error of a request that ended without a grant."""
    if request.status is BROKEN:
        return error_of(request.cause)
    return RequestWithdrawn("this request was withdrawn; make a new one")


def wake_accepted(transitions: Transitions, accepted: Sequence[Request[Any]]) -> None:
    """Make the tasks runnable that wait until a request is accepted into a queue, still pending."""
    for request in accepted:
        if request.parked:
            request.parked = False
            wake_task(transitions, request.waiter)
