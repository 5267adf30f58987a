"""Where a core's decision becomes sleeping and waking: the only module that does either.

The skeleton of every blocking call (C2): check for cancellation, decide, then one shielded
checkpoint; or park. Nothing lies between the decision and its end that could raise, so a raised
``Cancelled`` or ``KeyboardInterrupt`` means that nothing was taken (C1, C4).

Why no permit is lost between grant and wake: the core changes the status in the same step in which
``wake`` reschedules the task, and trio never aborts a task that has been rescheduled (grant beats
cancel). What is left to get right is a cancellation *before* the grant, and that is ``_abort``.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import partial
from math import inf
from threading import get_ident
from typing import TYPE_CHECKING, Any, cast

import outcome
import trio
from trio import current_effective_deadline
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

from . import _holdings
from ._causes import error_of
from ._core.arbiter import OutOfService
from ._core.gate import is_shut, refuse_user_code, threads
from ._core.group import Claims, Ended, Member, carry_on
from ._core.request import BROKEN, GRANTED, PENDING, Request
from ._errors import RequestWithdrawn
from ._service import check_run, out_of_service, running_task
from .events import EventKind, emit, emit_ended

if TYPE_CHECKING:
    from ._core.entry import Invocation
    from ._core.hoare import HoareConditionCore
    from ._core.lock import LockCore
    from ._core.rwlock import RWLockCore
    from .barrier import Barrier
    from .condition import Condition
    from .lock import Lock
    from .monitor import Monitor
    from .monitor_condition import MonitorCondition
    from .primitive import OwnedPrimitive, Primitive

    RaiseCancel = Callable[[], Any]
    # What an abort does to the core: the requests that it lets in, or None if it comes too late.
    Stop = Callable[[Request[Any]], list[Request[Any]] | None]


@enable_ki_protection
async def acquire(primitive: Primitive[Any], claim: Any, priority: int = 0) -> None:
    """Take the claim now or wait in line for it."""
    if threads:
        refuse_user_code()
    core = primitive._core
    if core.admissible(claim, priority):
        if primitive._thread != get_ident():
            check_run(primitive)  # admissible although others wait: a policy may pass them
        await checkpoint_if_cancelled()
        core.take(claim)  # still admissible: an uncancelled check for cancellation does not yield
        if primitive._observers:
            emit("requested", primitive, claim, current_task())
            emit("granted", primitive, claim, current_task())
        if primitive._owned:
            _holdings.hold(claim, primitive)  # type: ignore[arg-type]  # it is owned
        if primitive._skips_left:
            primitive._skips_left -= 1
            return
        primitive._skips_left = primitive._skips
        await cancel_shielded_checkpoint()
        return
    request = enqueue(primitive, claim, priority)
    primitive._skips_left = primitive._skips
    request.parked = True
    await wait_task_rescheduled(partial(_abort, primitive, request, core.withdraw))
    if primitive._owned:
        _holdings.hold(claim, primitive)  # type: ignore[arg-type]  # it is owned


@enable_ki_protection
async def enter(monitor: Monitor, invocation: Invocation) -> None:
    """Enter a monitor by an entry that synchronizers concern, or wait in line for it."""
    if threads:
        refuse_user_code()
    if monitor._thread != get_ident():
        check_run(monitor)
    await checkpoint_if_cancelled()
    with out_of_service():
        request, ended = monitor._core.arrive(invocation, current_task())
    if monitor._observers:
        emit("requested", monitor, invocation, current_task())
    wake(monitor, ended)
    if request.status is PENDING:
        request.parked = True
        await wait_task_rescheduled(partial(_abort, monitor, request, monitor._core.withdraw))
    elif request.status is GRANTED:
        await cancel_shielded_checkpoint()
    else:
        raise error_of_ended(request)


@enable_ki_protection
async def acquire_group(group: Claims) -> None:
    """Take what the group claims now, or wait in each of its lines for it."""
    if threads:
        refuse_user_code()
    for member in group.members:
        if member.home._thread != get_ident():
            check_run(member.home)
    with out_of_service():
        group.refuse()
    granted = group.admissible()
    if granted:
        await checkpoint_if_cancelled()
        group.take(granted)  # still admissible, as in acquire()
        for member in granted:
            _hold_granted(member)
        _emit_of_members(granted, "requested")
        _emit_of_members(granted, "granted")
        await cancel_shielded_checkpoint()
        return
    group.join()
    group.parked = True
    _emit_of_members(group.members, "requested")
    first = group.members[0]  # it stands for the group: the end of any member ends them all
    await wait_task_rescheduled(partial(_abort, first.home, first, first.arbiter.withdraw))
    for member in group.granted():
        _hold_granted(member)


def _hold_granted(member: Member) -> None:
    if member.home._owned:
        _holdings.hold(member.waiter, member.home)


def _emit_of_members(members: Sequence[Member], kind: EventKind) -> None:
    for member in members:
        if member.home._observers:
            emit(kind, member.home, member.claim, member.waiter)


@enable_ki_protection
def acquire_nowait(primitive: Primitive[Any], claim: Any) -> None:
    """Take the claim now or raise WouldBlock."""
    if threads:
        refuse_user_code()
    core = primitive._core
    if not core.admissible(claim):
        with out_of_service():
            core.refuse(claim)
        check_run(primitive)
        raise trio.WouldBlock
    if primitive._thread != get_ident():
        check_run(primitive)
    core.take(claim)
    if primitive._owned:
        _holdings.hold(claim, primitive)  # type: ignore[arg-type]  # it is owned
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
    if core.line and primitive._thread != get_ident():
        check_run(primitive)
    ended = core.release(claim)
    elsewhere = resume(ended) if ended else ()
    if primitive._observers:
        emit("released", primitive, claim, running_task())
        emit_ended(primitive, ended)
    if elsewhere:
        _emit_elsewhere(elsewhere)


def submit(primitive: Primitive[Any], claim: Any, priority: int) -> Request[Any]:
    """Take the claim, or a place in line for it, for a task that does not wait yet."""
    if threads:
        refuse_user_code()
    core, task = primitive._core, current_task()
    if primitive._thread != get_ident():
        check_run(primitive)
    with out_of_service():
        request = core.submit(claim, priority, task)
    if request.status is PENDING:
        primitive._thread, primitive._root = 0, current_root_task()
    if primitive._owned:
        _holdings.hold(task, cast("OwnedPrimitive[Any]", primitive))
    if primitive._observers:
        emit("requested", primitive, claim, task)
        if request.status is GRANTED:
            emit("granted", primitive, claim, task)
    return request


def enqueue(primitive: Primitive[Any], claim: Any, priority: int = 0) -> Request[Any]:
    """Put the current task into the line."""
    if primitive._thread != get_ident():
        check_run(primitive)
    try:  # as out_of_service() does, without what a context manager costs each time somebody waits
        request = primitive._core.enqueue(claim, priority, current_task())
    except OutOfService as ended:
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
        _holdings.drop(request.claim, cast("OwnedPrimitive[Any]", primitive))
    wake(primitive, [request, *ended])
    return True


async def wait_for(primitive: Primitive[Any], request: Request[Any]) -> None:
    """Sleep until a request that is in line already ends; a cancellation keeps its place."""
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
    await wait_task_rescheduled(partial(_abort, primitive, request, _keep_place))


def _keep_place(request: Request[Any]) -> list[Request[Any]] | None:
    return [] if request.status is PENDING else None


async def meet(barrier: Barrier, stop: Stop) -> int:
    """Wait until the round is full; return the number of this party in it."""
    if threads:
        refuse_user_code()
    request, core = enqueue(barrier, None), barrier._core
    # Who is cancelled already does not fill the round: it parks, and is aborted in this very step.
    if core.full and current_effective_deadline() > -inf:
        wake(barrier, core.trip())
        await cancel_shielded_checkpoint()
    else:
        request.parked = True
        await wait_task_rescheduled(partial(_abort, barrier, request, stop))
    return cast(int, request.claim)


def wake(primitive: Primitive[Any], ended: list[Request[Any]]) -> None:
    """Make the tasks of ended requests runnable, and tell the observers."""
    elsewhere = resume(ended)
    if primitive._observers:
        emit_ended(primitive, ended)
    if elsewhere:
        _emit_elsewhere(elsewhere)


def resume(ended: list[Request[Any]]) -> Sequence[Ended]:
    """Make the tasks of ended requests runnable.

    Returns what else ended, because a group left other lines; it is runnable, and not told yet.
    """
    elsewhere: Sequence[Ended] | None = None
    for request in ended:
        if elsewhere is None and request.group is not None:
            elsewhere = carry_on(ended)
        if request.parked:
            _resume(request)
    if elsewhere is None:
        return ()
    for _, others in elsewhere:
        for request in others:
            if request.parked:
                _resume(request)
    return elsewhere


def _resume(request: Request[Any]) -> None:
    request.parked = False
    if request.status is GRANTED:
        reschedule(request.waiter)
    else:
        reschedule(request.waiter, outcome.Error(error_of_ended(request)))


def _emit_elsewhere(elsewhere: Sequence[Ended]) -> None:
    for place, ended in elsewhere:
        if place.home._observers:
            emit_ended(place.home, ended)


def _abort(
    primitive: Primitive[Any], request: Request[Any], stop: Stop, raise_cancel: RaiseCancel
) -> Abort:
    """Stop the wait of a task that trio wants to cancel, unless it has ended by then."""
    if threads and is_shut():
        # A guard or an observer cancelled a scope while the core is in the middle of a step. The
        # cancellation is carried out right after it; until then a grant may still win.
        _soon(_abort_late, primitive, request, stop, raise_cancel)
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
    if request.parked and _abort(primitive, request, stop, raise_cancel) is Abort.SUCCEEDED:
        reschedule(request.waiter, outcome.capture(raise_cancel))


def _soon(function: Callable[..., object], *args: object) -> None:
    trio.lowlevel.current_trio_token().run_sync_soon(function, *args)


async def wait_notified(
    condition: Condition | MonitorCondition, lock: Lock | Monitor, claim: Any
) -> None:
    """Give the lock up, sleep until notified, and own the lock again, whatever happens."""
    if threads:
        refuse_user_code()
    task = current_task()
    with out_of_service():
        request, ended = condition._core.wait(claim, task)
    condition._thread = get_ident()
    if lock._owned:
        _holdings.drop(task, cast("OwnedPrimitive[Any]", lock))
    elsewhere = resume(ended)
    if condition._observers:
        emit("requested", condition, claim, task)
    if lock._observers:
        emit("released", lock, claim, task)
        emit_ended(lock, ended)
    _emit_elsewhere(elsewhere)
    cancelled: list[RaiseCancel] = []
    request.parked = True
    try:
        await wait_task_rescheduled(partial(_abort_wait, condition, lock, request, cancelled))
        if lock._owned:
            _holdings.hold(task, cast("OwnedPrimitive[Any]", lock))
        if cancelled:
            cancelled.pop()()
        if request.status is BROKEN:
            raise error_of(request.cause)
    finally:
        if condition._observers:
            emit_ended(condition, [request])


def _abort_wait(
    condition: Condition | MonitorCondition,
    lock: Lock | Monitor,
    request: Request[Any],
    cancelled: list[RaiseCancel],
    raise_cancel: RaiseCancel,
) -> Abort:
    """Let the waiter join the lock's line; it raises when it owns the lock."""
    if threads and is_shut():
        _soon(_abort_wait, condition, lock, request, cancelled, raise_cancel)
    elif (granted := condition._core.cancel(request)) is not None:
        cancelled.append(raise_cancel)
        wake(lock, granted)
    # Never SUCCEEDED: the task sleeps on until it owns the lock.
    return Abort.FAILED


async def signal(
    condition: MonitorCondition, monitor: Monitor, claim: Any, core: HoareConditionCore
) -> None:
    """Pass the monitor to a waiter and sleep until it is ours again, whatever happens."""
    if threads:
        refuse_user_code()
    request, ended = core.signal(claim, current_task())
    if request is None:
        await cancel_shielded_checkpoint()
        return
    request.parked = True
    resume(ended)
    if monitor._observers:
        emit("released", monitor, claim, current_task())
        emit_ended(monitor, ended)
    # What the waiter waited for has been passed on; there is no way back that a cancellation could take.
    await wait_task_rescheduled(lambda _: Abort.FAILED)


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
    _emit_elsewhere(elsewhere)


def owner_exited(primitive: OwnedPrimitive[Any], task: Task, cause: Hashable) -> None:
    """Break what the task owned, or withdraw what it left in line."""
    core = cast("LockCore | RWLockCore", primitive._core)
    wake(primitive, core.owner_exited(task, cause))


def error_of_ended(request: Request[Any]) -> BaseException:
    """Return the error of a request that ended without a grant."""
    if request.status is BROKEN:
        return error_of(request.cause)
    return RequestWithdrawn("this request was withdrawn; make a new one")
