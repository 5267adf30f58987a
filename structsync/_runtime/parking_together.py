"""Sleeping for more than a place in one line: groups, rounds, entries under rules, and conditions.

The skeleton is that of :mod:`.parking`, which wakes everybody. No other module parks.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from math import inf
from threading import get_ident
from typing import TYPE_CHECKING, Any, cast

import trio
from trio import current_effective_deadline
from trio.lowlevel import (
    Abort,
    cancel_shielded_checkpoint,
    checkpoint_if_cancelled,
    current_task,
    enable_ki_protection,
    wait_task_rescheduled,
)

from structsync._core.queue.request import BROKEN, GRANTED, PENDING, Request
from structsync._core.queue.user_code import in_user_code, refuse_user_code, threads

from . import ownership, parking
from .causes import error_of
from .events import EventKind, emit, emit_ended
from .runs import check_run, errors_of_ended

if TYPE_CHECKING:
    from structsync._core.monitors.entry import Invocation
    from structsync._core.monitors.hoare import HoareConditionCore
    from structsync._core.queue.group import Claims, Member
    from structsync._primitives.barrier import Barrier
    from structsync._primitives.condition import Condition
    from structsync._primitives.lock import Lock
    from structsync._primitives.monitor import Monitor
    from structsync._primitives.monitor_condition import MonitorCondition

    from .parking import RaiseCancel, Stop
    from .primitive import OwnedPrimitive


@enable_ki_protection
async def acquire_group(group: Claims) -> None:
    """Take what the group claims now, or wait in each of its queues for it."""
    if threads:
        refuse_user_code()
    for member in group.members:
        if member.home._thread != get_ident():
            check_run(member.home)
    with errors_of_ended():
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
    await wait_task_rescheduled(partial(parking.abort, first.home, first, first.arbiter.withdraw))
    for member in group.granted():
        _hold_granted(member)


def _hold_granted(member: Member) -> None:
    if member.home._owned:
        ownership.hold(member.waiter, member.home)


def _emit_of_members(members: Sequence[Member], kind: EventKind) -> None:
    for member in members:
        if member.home._observers:
            emit(kind, member.home, member.claim, member.waiter)


@enable_ki_protection
async def enter(monitor: Monitor, invocation: Invocation) -> None:
    """Enter a monitor by an entry that synchronizers concern, or wait in the queue for it."""
    if threads:
        refuse_user_code()
    if monitor._thread != get_ident():
        check_run(monitor)
    await checkpoint_if_cancelled()
    with errors_of_ended():
        request, ended = monitor._core.arrive(invocation, current_task())
    if monitor._observers:
        emit("requested", monitor, invocation, current_task())
    parking.wake(monitor, ended)
    if request.status is PENDING:
        request.parked = True
        await wait_task_rescheduled(
            partial(parking.abort, monitor, request, monitor._core.withdraw)
        )
    elif request.status is GRANTED:
        await cancel_shielded_checkpoint()
    else:
        raise parking.error_of_ended(request)


async def meet(barrier: Barrier, stop: Stop) -> int:
    """Wait until the round is full; return the number of this party in it."""
    if threads:
        refuse_user_code()
    try:
        request, core = parking.enqueue(barrier, None), barrier._core
        # Who is cancelled already does not fill the round: it parks, and is aborted in this step.
        if core.full and current_effective_deadline() > -inf:
            parking.wake(barrier, core.release_round())
            await cancel_shielded_checkpoint()
        else:
            request.parked = True
            await wait_task_rescheduled(partial(parking.abort, barrier, request, stop))
    except trio.BrokenResourceError:
        # Of parties that are cancelled together the first to be told breaks the round; let out of
        # the others, its error would end the nursery that was cancelled.
        await checkpoint_if_cancelled()
        raise
    return cast(int, request.claim)


async def wait_notified(
    condition: Condition | MonitorCondition, lock: Lock | Monitor, claim: Any
) -> None:
    """Give the lock up, sleep until notified, and own the lock again, whatever happens."""
    if threads:
        refuse_user_code()
    task = current_task()
    with errors_of_ended():
        request, ended = condition._core.wait(claim, task)
    condition._thread = get_ident()
    if lock._owned:
        ownership.drop(task, cast("OwnedPrimitive[Any]", lock))
    elsewhere = parking.resume(ended)
    if condition._observers:
        emit("requested", condition, claim, task)
    if lock._observers:
        emit("released", lock, claim, task)
        emit_ended(lock, ended)
    parking.emit_elsewhere(elsewhere)
    cancelled: list[RaiseCancel] = []
    request.parked = True
    try:
        await wait_task_rescheduled(partial(_abort_wait, condition, lock, request, cancelled))
        if lock._owned:
            ownership.hold(task, cast("OwnedPrimitive[Any]", lock))
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
    """Let the waiter join the lock's queue; it raises when it owns the lock."""
    if threads and in_user_code():
        parking.soon(_abort_wait, condition, lock, request, cancelled, raise_cancel)
    elif (granted := condition._core.cancel(request)) is not None:
        cancelled.append(raise_cancel)
        parking.wake(lock, granted)
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
    parking.resume(ended)
    if monitor._observers:
        emit("released", monitor, claim, current_task())
        emit_ended(monitor, ended)
    # What the waiter waited for has been passed on; there is no way back that a cancellation could take.
    await wait_task_rescheduled(lambda _: Abort.FAILED)
