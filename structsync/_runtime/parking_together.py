"""Sleeping for more than a position in one queue: groups, rounds, entries under rules, conditions.

The skeleton is that of :mod:`.parking`, which wakes all tasks. No other module parks.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, cast

import outcome
import trio
from trio.lowlevel import (
    Abort,
    cancel_shielded_checkpoint,
    checkpoint_if_cancelled,
    current_root_task,
    current_task,
    enable_ki_protection,
    wait_task_rescheduled,
)

from structsync._core.monitors.entry import Invocation
from structsync._core.monitors.hoare import HoareConditionCore
from structsync._core.monitors.monitor import MonitorCore
from structsync._core.primitives.barrier import BarrierCore
from structsync._core.primitives.condition import ConditionCore
from structsync._core.queue.group import Claims, Member
from structsync._core.queue.request import BROKEN, GRANTED, PENDING, Request

from . import ownership, parking, positions
from .cancelling import RaiseCancel, Stop, is_cancelled
from .causes import error_of
from .events import EventKind, emit, emit_ended
from .live import Live
from .round_action import RoundAction
from .runs import check_run, errors_of_ended, running_task, transitions_of
from .transitions import NOBODYS, Transitions, of_this_thread
from .waking import emit_in_other_queues, error_of_ended, resume, wake
from .watching import inform_of_block, inform_of_park, watchers


@enable_ki_protection
async def acquire_group(group: Claims) -> None:
    """Take what the group claims now, or wait in each of its queues for it."""
    if not watchers:
        await _acquire_group(group)
        return
    inform_of_block(group.waiter, [member.primitive for member in group.members])
    try:
        await _acquire_group(group)
    finally:
        inform_of_block(group.waiter, ())


async def _acquire_group(group: Claims) -> None:
    transitions = of_this_thread()
    for member in group.members:
        transitions_of(member.primitive)
    try:
        with transitions, errors_of_ended():
            group.refuse()
            granted = group.admissible()
            cancelled = bool(granted) and is_cancelled()
            if not granted:
                _queue_in_all(transitions, group)
            elif not cancelled:
                _note_owners(granted)
                group.take(granted)
                _emit_of_members(granted, "requested")
                _emit_of_members(granted, "granted")
                _let_others_in(transitions, granted)
    except BaseException:
        await checkpoint_if_cancelled()  # before the error: its caller may be cancelled already
        raise
    if cancelled:
        await checkpoint_if_cancelled()
    elif granted:
        await cancel_shielded_checkpoint()
    else:
        first = group.members[0]  # it stands for the group: the end of any member ends them all
        await parking.park(first, first.arbiter.withdraw)


def submit_group(group: Claims) -> None:
    """Take what the group claims, or a position in each queue, for a task that does not wait yet."""
    for member in group.members:
        transitions_of(member.primitive)
    transitions = of_this_thread()
    with transitions, errors_of_ended():
        _note_owners(group.members)
        granted = group.submit()
        _emit_of_members(granted or group.members, "requested")
        _emit_of_members(granted, "granted")
        _let_others_in(transitions, granted)
        if not granted:
            for member in group.members:
                member.primitive._transitions = NOBODYS
                member.primitive._root = current_root_task()


def withdraw_group(group: Claims) -> bool:
    """Withdraw a group, whether a task waits for it or not."""
    first = group.members[0]
    if first.status is PENDING:
        for member in group.members:
            check_run(member.primitive, disturbs_sleepers_only=True)
    return positions.withdraw(first.primitive, first)


async def wait_for_group(group: Claims) -> None:
    """Sleep until a group that is in its queues already ends; a cancellation keeps its positions."""
    if not group.parked:
        for member in group.members:
            member.waiter = current_task()
    standing = group.standing
    await positions.wait_for(standing.primitive, standing)


def _queue_in_all(transitions: Transitions, group: Claims) -> None:
    _note_owners(group.members)
    group.join()
    group.parked = True
    transitions.parking = group.waiter
    _emit_of_members(group.members, "requested")
    if watchers:
        inform_of_park(group.members[0])


def _note_owners(members: Sequence[Member]) -> None:
    for member in members:
        live: Live[Any] = member.primitive
        if live._touched_by is not None and member.claim not in live._touched_by:
            ownership.note(live, member.claim)


def _let_others_in(transitions: Transitions, granted: Sequence[Member]) -> None:
    for member in granted:
        if member.arbiter.grants_make_room:
            wake(transitions, member.primitive, member.arbiter.settle())


def _emit_of_members(members: Sequence[Member], kind: EventKind) -> None:
    for member in members:
        if member.primitive._observers:
            emit(kind, member.primitive, member.claim, member.waiter, member)


@enable_ki_protection
async def enter(monitor: Live[Invocation], invocation: Invocation) -> None:
    """Enter a monitor by an entry that synchronizers concern, or wait in the queue for it."""
    transitions = transitions_of(monitor)
    if transitions.running:
        transitions.refuse()
    await checkpoint_if_cancelled()
    core = cast(MonitorCore, monitor._core)
    with transitions, errors_of_ended():
        request, ended = core.arrive(invocation, current_task())
        request.primitive = monitor
        if monitor._observers:
            emit("requested", monitor, invocation, current_task(), request)
        wake(transitions, monitor, ended)
        if parks := request.status is PENDING:
            parking.about_to_park(transitions, request)
    if parks:
        await parking.park(request, core.withdraw)
    elif request.status is GRANTED:
        await cancel_shielded_checkpoint()
    else:
        raise error_of_ended(request)


@enable_ki_protection
def enter_nowait(monitor: Live[Invocation], invocation: Invocation) -> None:
    """Enter a monitor by an entry that synchronizers concern, or raise WouldBlock."""
    core = cast(MonitorCore, monitor._core)
    transitions = transitions_of(monitor)
    with transitions, errors_of_ended():
        request, ended = core.arrive(invocation)
        if request.status is PENDING:
            core.withdraw(request)
            raise trio.WouldBlock
        request.primitive, request.waiter = monitor, running_task()
        if monitor._observers:
            emit("requested", monitor, invocation, request.waiter, request)
        wake(transitions, monitor, ended)
    if request.status is not GRANTED:
        raise error_of_ended(request)


async def meet(barrier: Live[int | None], stop: Stop, action: RoundAction | None) -> int:
    """Wait until the round is full; return the number of this party in it.

    The party that makes it full runs the action.
    """
    core = cast(BarrierCore, barrier._core)
    transitions = transitions_of(barrier)
    request: Request[int | None] | None = None
    try:
        with transitions, errors_of_ended():
            request = core.enqueue(None, waiter=current_task())
            request.primitive = barrier
            if barrier._observers:
                emit("requested", barrier, None, request.waiter, request)
            # A party that is cancelled already does not fill the round: it parks, and is aborted in this step.
            fills = core.full and not is_cancelled()
            if fills:
                wake(transitions, barrier, core.complete_round(action))
            else:
                parking.about_to_park(transitions, request)
        if not fills:
            await parking.park(request, stop)
    except (trio.BrokenResourceError, trio.ClosedResourceError) as error:
        # A refused party may be cancelled already. Of parties that are cancelled together the first to be
        # aborted breaks the round; let out of the others, its error would end the nursery that was cancelled.
        if request is None or isinstance(error, trio.BrokenResourceError):
            await checkpoint_if_cancelled()
        raise
    if fills:
        if action is not None:
            action.check()
        await cancel_shielded_checkpoint()
    return cast(int, request.claim)


async def wait_notified(condition: Live[Any], owner: Live[Any], claim: Any) -> None:
    """Give up what the condition belongs to, sleep until notified, and own it again, whatever happens."""
    task = current_task()
    core = cast(ConditionCore, condition._core)
    transitions = transitions_of(owner)
    with transitions, errors_of_ended():
        request, ended = core.wait(claim, task)
        request.primitive = owner
        condition._transitions, condition._root = transitions, None
        in_other_queues = resume(transitions, ended)
        if condition._observers:
            emit("requested", condition, claim, task, request)
        if owner._observers:
            emit("released", owner, claim, task)
            emit_ended(owner, ended)
        if in_other_queues:
            emit_in_other_queues(in_other_queues)
        parking.about_to_park(transitions, request)
    cancelled: list[RaiseCancel] = []
    try:
        result = await outcome.acapture(
            wait_task_rescheduled, partial(_abort_wait, condition, owner, request, cancelled)
        )
        if cancelled:  # also where the lock has ended meanwhile: the task was cancelled first
            cancelled.pop()()
        result.unwrap()
        if request.status is BROKEN:
            raise error_of(request.cause)
    finally:
        if condition._observers:
            with transitions:
                emit_ended(condition, [request])


def _abort_wait(
    condition: Live[Any],
    owner: Live[Any],
    request: Request[Any],
    cancelled: list[RaiseCancel],
    raise_cancel: RaiseCancel,
) -> Abort:
    """Let the waiter join the queue of the owned primitive; it raises when it owns that."""
    transitions = of_this_thread()
    if transitions.running:
        abort = partial(_abort_wait, condition, owner, request, cancelled, raise_cancel)
        transitions.later.append(abort)
        return Abort.FAILED
    with transitions:
        granted = cast(ConditionCore, condition._core).cancel(request)
        if granted is not None:
            cancelled.append(raise_cancel)
            wake(transitions, owner, granted)
    # Never SUCCEEDED: the task sleeps on until it owns the lock.
    return Abort.FAILED


async def signal(condition: Live[Any], monitor: Live[Invocation], claim: Any) -> None:
    """Pass the monitor to a waiter and sleep until it is ours again, whatever happens."""
    core = cast(HoareConditionCore, condition._core)
    transitions = transitions_of(monitor)
    with transitions:
        request, ended = core.signal(claim, current_task())
        if request is not None:
            request.primitive = monitor
            parking.about_to_park(transitions, request)
            resume(transitions, ended)
            if monitor._observers:
                emit("released", monitor, claim, current_task())
                emit_ended(monitor, ended)
    if request is None:
        await cancel_shielded_checkpoint()
        return
    # What the waiter waited for has been passed on; there is no way back that a cancellation could take.
    await wait_task_rescheduled(lambda _: Abort.FAILED)
