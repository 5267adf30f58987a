"""Where a core's decision becomes sleeping and waking, in one line at a time.

Only this module wakes. Only this one and :mod:`.parking_together` park.

The skeleton of every blocking call (C2): check for cancellation, decide, then one shielded
checkpoint; or park. Nothing lies between the decision and its end that could raise, so a raised
``Cancelled`` or ``KeyboardInterrupt`` means that nothing was taken (C1, C4).

Why no permit is lost between grant and wake: the core changes the status in the same step in which
``wake`` reschedules the task, and trio never aborts a task that has been rescheduled (grant beats
cancel). What is left to get right is a cancellation *before* the grant, and that is ``abort``.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import partial
from threading import get_ident
from typing import TYPE_CHECKING, Any, cast

import outcome
import trio
from trio.lowlevel import (
    Abort,
    Task,
    cancel_shielded_checkpoint,
    checkpoint_if_cancelled,
    current_root_task,
    current_task,
    enable_ki_protection,
    reschedule,
    wait_task_rescheduled,
)

from structsync._core.queue.arbiter import EndedForGood
from structsync._core.queue.group import Ended, settle_transitively
from structsync._core.queue.request import BROKEN, GRANTED, PENDING, Request
from structsync._core.queue.user_code import in_user_code, refuse_user_code, threads

from . import ownership
from .causes import error_of
from .errors import RequestWithdrawn
from .events import EventKind, emit, emit_ended
from .runs import check_run, errors_of_ended, running_task

if TYPE_CHECKING:
    from structsync._core.primitives.lock import LockCore
    from structsync._core.primitives.rwlock import RWLockCore

    from .primitive import OwnedPrimitive, Primitive

    RaiseCancel = Callable[[], Any]
    # What an abort does to the core: the requests that it lets in, or None if it comes too late.
    Stop = Callable[[Request[Any]], list[Request[Any]] | None]


@enable_ki_protection
async def acquire(primitive: Primitive[Any], claim: Any, priority: int = 0) -> None:
    """Take the claim now or wait in the queue for it."""
    if threads:
        refuse_user_code()
    core = primitive._core
    try:
        admissible = core.admissible(claim, priority)
    except BaseException:  # a guard's, and its caller may be cancelled already
        await checkpoint_if_cancelled()
        raise
    if admissible:
        if primitive._thread != get_ident():
            check_run(primitive)  # admissible although others wait: a policy may pass them
        await checkpoint_if_cancelled()
        core.take(claim)  # still admissible: an uncancelled check for cancellation does not yield
        if primitive._observers:
            emit("requested", primitive, claim, current_task())
            emit("granted", primitive, claim, current_task())
        if primitive._owned:
            ownership.hold(claim, primitive)  # type: ignore[arg-type]  # it is owned
        if primitive._skips_left:
            primitive._skips_left -= 1
            return
        primitive._skips_left = primitive._skips
        await cancel_shielded_checkpoint()
        return
    request = enqueue(primitive, claim, priority)
    primitive._skips_left = primitive._skips
    request.parked = True
    await wait_task_rescheduled(partial(abort, primitive, request, core.withdraw))
    if primitive._owned:
        ownership.hold(claim, primitive)  # type: ignore[arg-type]  # it is owned


@enable_ki_protection
def acquire_nowait(primitive: Primitive[Any], claim: Any) -> None:
    """Take the claim now or raise WouldBlock."""
    if threads:
        refuse_user_code()
    core = primitive._core
    if not core.admissible(claim):
        with errors_of_ended():
            core.refuse(claim)
        check_run(primitive)
        raise trio.WouldBlock
    if primitive._thread != get_ident():
        check_run(primitive)
    core.take(claim)
    if primitive._owned:
        ownership.hold(claim, primitive)  # type: ignore[arg-type]  # it is owned
    if primitive._observers:
        task = running_task()
        emit("requested", primitive, claim, task)
        emit("granted", primitive, claim, task)


@enable_ki_protection
def give_back(primitive: Primitive[Any], claim: Any) -> None:
    """Give the claim back and wake those whom that lets in."""
    if threads:
        refuse_user_code()
    core = primitive._core
    if core.queue and primitive._thread != get_ident():
        check_run(primitive)
    ended = core.release(claim)
    elsewhere = resume(ended) if ended else ()
    if primitive._observers:
        emit("released", primitive, claim, running_task())
        emit_ended(primitive, ended)
    if elsewhere:
        emit_elsewhere(elsewhere)


def submit(primitive: Primitive[Any], claim: Any, priority: int) -> Request[Any]:
    """Take the claim, or a position in the queue for it, for a task that does not wait yet."""
    if threads:
        refuse_user_code()
    core, task = primitive._core, current_task()
    if primitive._thread != get_ident():
        check_run(primitive)
    with errors_of_ended():
        request = core.submit(claim, priority, task)
    if request.status is PENDING:
        primitive._thread, primitive._root = 0, current_root_task()
    if primitive._owned:
        ownership.hold(task, cast("OwnedPrimitive[Any]", primitive))
    if primitive._observers:
        emit("requested", primitive, claim, task)
        if request.status is GRANTED:
            emit("granted", primitive, claim, task)
    return request


def enqueue(primitive: Primitive[Any], claim: Any, priority: int = 0) -> Request[Any]:
    """Put the current task into the queue."""
    if primitive._thread != get_ident():
        check_run(primitive)
    try:  # as out_of_service() does, without what a context manager costs each time somebody waits
        request = primitive._core.enqueue(claim, priority, current_task())
    except EndedForGood as ended:
        raise error_of(ended.cause) from None
    if primitive._observers:
        emit("requested", primitive, claim, current_task())
    return request


def withdraw(primitive: Primitive[Any], request: Request[Any]) -> bool:
    """Withdraw a request that nobody, or anybody, waits for."""
    if threads:
        refuse_user_code()
    if request.status is not PENDING:
        return False
    check_run(primitive, disturbs_sleepers_only=True)
    ended = primitive._core.withdraw(request) or []
    if primitive._owned:
        ownership.drop(request.claim, cast("OwnedPrimitive[Any]", primitive))
    wake(primitive, [request, *ended])
    return True


async def wait_for(primitive: Primitive[Any], request: Request[Any]) -> None:
    """Sleep until a request that is in the queue already ends; a cancellation keeps its place."""
    if request.parked:
        raise trio.BusyResourceError("another task already waits for this request")
    if request.status is not PENDING:
        await checkpoint_if_cancelled()
        if request.status is not GRANTED:
            raise error_of_ended(request)
        await cancel_shielded_checkpoint()
        return
    check_run(primitive)
    request.waiter = current_task()
    request.parked = True
    await wait_task_rescheduled(partial(abort, primitive, request, _keep_place))


def _keep_place(request: Request[Any]) -> list[Request[Any]] | None:
    return [] if request.status is PENDING else None


def wake(primitive: Primitive[Any], ended: list[Request[Any]]) -> None:
    """Make the tasks of ended requests runnable, and tell the observers."""
    elsewhere = resume(ended)
    if primitive._observers:
        emit_ended(primitive, ended)
    if elsewhere:
        emit_elsewhere(elsewhere)


def resume(ended: list[Request[Any]]) -> Sequence[Ended]:
    """Make the tasks of ended requests runnable.

    Returns what else ended, because a group left other queues; it is runnable, and not told yet.
    """
    elsewhere: Sequence[Ended] | None = None
    for request in ended:
        if request.group is not None and elsewhere is None:  # once for all of them
            elsewhere = settle_transitively(ended)
        if request.parked:
            _resume(request)
    for _, others in elsewhere or ():
        for request in others:
            if request.parked:
                _resume(request)
    return elsewhere or ()


def _resume(request: Request[Any]) -> None:
    request.parked = False
    if request.status is GRANTED:
        reschedule(request.waiter)
    else:
        reschedule(request.waiter, outcome.Error(error_of_ended(request)))


def emit_elsewhere(elsewhere: Sequence[Ended]) -> None:
    for place, ended in elsewhere:
        if place.home._observers:
            emit_ended(place.home, ended)


def abort(
    primitive: Primitive[Any], request: Request[Any], stop: Stop, raise_cancel: RaiseCancel
) -> Abort:
    """Stop the wait of a task that trio wants to cancel, unless it has ended by then."""
    if threads and in_user_code():
        # A guard or an observer cancelled a scope while the core is in the middle of a step. The
        # cancellation is carried out right after it; until then a grant may still win.
        soon(_abort_late, primitive, request, stop, raise_cancel)
        return Abort.FAILED
    ended = stop(request)
    if ended is None:
        return Abort.FAILED
    request.parked = False
    wake(primitive, ended if request.status is PENDING else [request, *ended])
    return Abort.SUCCEEDED


def _abort_late(
    primitive: Primitive[Any], request: Request[Any], stop: Stop, raise_cancel: RaiseCancel
) -> None:
    if request.parked and abort(primitive, request, stop, raise_cancel) is Abort.SUCCEEDED:
        reschedule(request.waiter, outcome.capture(raise_cancel))


def soon(function: Callable[..., object], *args: object) -> None:
    trio.lowlevel.current_trio_token().run_sync_soon(function, *args)


def change(
    primitive: Primitive[Any],
    transition: Callable[[], list[Request[Any]]],
    *,
    wakes: Primitive[Any] | None = None,
    told: Iterable[tuple[EventKind, Any]] = (),
) -> None:
    """Carry out a transition of the core and wake those whom it lets in.

    Those are waiters of the primitive itself, or of ``wakes``. Observers hear first what the current
    task did by it: the kinds and claims that are ``told``.
    """
    if threads:
        refuse_user_code()
    if not primitive._core.at_rest and primitive._thread != get_ident():
        check_run(primitive)
    ended, woken = transition(), wakes or primitive
    elsewhere = resume(ended)
    if primitive._observers:
        for kind, claim in told:
            emit(kind, primitive, claim, running_task())
    if woken._observers:
        emit_ended(woken, ended)
    if elsewhere:
        emit_elsewhere(elsewhere)


def owner_exited(primitive: OwnedPrimitive[Any], task: Task, cause: Hashable) -> None:
    """Break what the task owned, or withdraw what it left in the queue."""
    core = cast("LockCore | RWLockCore", primitive._core)
    wake(primitive, core.owner_exited(task, cause))


def error_of_ended(request: Request[Any]) -> BaseException:
    """Return the error of a request that ended without a grant."""
    if request.status is BROKEN:
        return error_of(request.cause)
    return RequestWithdrawn("this request was withdrawn; make a new one")
