"""A position in a queue that a task takes before it waits, or without waiting: take, wait for, withdraw."""

from __future__ import annotations

from typing import Any

import trio
from trio.lowlevel import (
    cancel_shielded_checkpoint,
    checkpoint_if_cancelled,
    current_root_task,
    current_task,
)

from structsync._core.queue.request import GRANTED, PENDING, Request

from . import ownership
from .events import emit
from .live import Live
from .parking import about_to_park, park
from .runs import check_run, errors_of_ended, transitions_of
from .transitions import NOBODYS
from .waking import error_of_ended, wake


def submit(live: Live[Any], claim: Any, priority: int) -> Request[Any]:
    """Take the claim, or a position in the queue for it, for a task that does not wait yet."""
    task = current_task()
    with transitions_of(live), errors_of_ended():
        if live._touched_by is not None and claim not in live._touched_by:
            ownership.note(live, claim)
        request = live._core.submit(claim, priority, task)
        request.primitive = live
        if request.status is PENDING:
            live._transitions, live._root = NOBODYS, current_root_task()
        if live._observers:
            emit("requested", live, claim, task, request)
            if request.status is GRANTED:
                emit("granted", live, claim, task, request)
    return request


def withdraw(live: Live[Any], request: Request[Any]) -> bool:
    """Withdraw a request, whether a task waits for it or not."""
    if request.status is not PENDING:
        return False
    transitions = check_run(live, disturbs_sleepers_only=True)
    with transitions:
        ended = live._core.withdraw(request)
        if ended is None:  # a finalizer has had it granted just now
            return False
        wake(transitions, live, [request, *ended])
    return True


async def wait_for(live: Live[Any], request: Request[Any]) -> None:
    """Sleep until a request that is in the queue already ends; a cancellation keeps its position."""
    if request.parked:
        raise trio.BusyResourceError("another task already waits for this request")
    if request.status is PENDING:
        transitions = check_run(live)
        with transitions:
            if waits := request.status is PENDING:  # a finalizer may have granted it just now
                request.waiter = current_task()
                about_to_park(transitions, request)
        if waits:
            await park(request, _keep_position)
            return
    await checkpoint_if_cancelled()
    if request.status is not GRANTED:
        raise error_of_ended(request)
    await cancel_shielded_checkpoint()


def _keep_position(request: Request[Any]) -> list[Request[Any]] | None:
    return [] if request.status is PENDING else None
