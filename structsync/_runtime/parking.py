"""Where a core's decision becomes sleeping, in one queue at a time.

Only this module and :mod:`.parking_together` park, and only :mod:`.waking` wakes.

The skeleton of every blocking call (C2): check for cancellation, decide, then one shielded
checkpoint; or park. Nothing lies between the decision and its end that could raise, so a raised
``Cancelled`` or ``KeyboardInterrupt`` means that nothing was taken (C1, C4).

Why no permit is lost between grant and wake: the core changes the status in the same step in which
``wake`` reschedules the task, and trio never aborts a task that has been rescheduled (grant beats
cancel). What is left to get right is a cancellation *before* the grant, and that is ``abort`` in
:mod:`.cancelling`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from functools import partial
from inspect import unwrap
from types import CoroutineType, FunctionType
from typing import Any, cast

import trio
from trio.lowlevel import (
    Abort,
    Task,
    cancel_shielded_checkpoint,
    checkpoint_if_cancelled,
    current_task,
    enable_ki_protection,
    wait_task_rescheduled,
)

from structsync._core.queue.arbiter import EndedForGood
from structsync._core.queue.request import Request

from . import ownership
from .cancelling import RaiseCancel, Stop, abort_by
from .causes import error_of
from .done import DONE, coroutine_function
from .events import EventKind, emit, emit_ended, emit_released, emit_requested, emit_taken
from .live import Live
from .runs import check_run, errors_of_ended, running_task
from .transitions import Transitions
from .waking import emit_in_other_queues, resume
from .watching import inform_of_block, inform_of_park, watchers

# The claim of a block that is claimed by the task that enters it.
CURRENT_TASK = object()


@enable_ki_protection
@coroutine_function
async def acquire(  # noqa: C901, PLR0915 - each call less is a hundredth of a hand-over
    live: Live[Any],
    claim: Any,
    priority: int = 0,
    task: Task | None = None,
    in_block: bool = False,
) -> None:
    """Take the claim now or wait in the queue for it; ``task`` is the current one, where known."""
    if claim is CURRENT_TASK:
        claim = task = current_task()
    if watchers and in_block:
        await acquire_for_block(live, claim, priority, task)
        return
    transitions = live._transitions
    if not transitions.mark._is_owned():
        transitions = check_run(live)
    if transitions.running:
        transitions.refuse()
    if live._skips:
        # To check first lets one transition decide and take: a tenth of such a block.
        await checkpoint_if_cancelled()
        taken = False
        transitions.running = True
        try:
            if live._core.admissible(claim, priority):
                live._take_claim(claim)
                taken = True
                if live._touched_by is not None and claim not in live._touched_by:
                    ownership.note(live, claim)
                if live._observers:
                    emit_taken(live, claim)
        except BaseException:  # noqa: BLE001 - ours is raised again by guard_error
            raise error_of_decision(live)  # noqa: B904 - it may have a cause of its own
        finally:
            transitions.running = False
            if transitions.later:
                transitions.carry_out()
        if taken:
            if live._skips_left:
                live._skips_left -= 1
                return
            live._skips_left = live._skips
            await cancel_shielded_checkpoint()
            return
    request = failed = None
    transitions.running = True
    try:
        if not live._core.admissible(claim, priority):
            if task is None:
                task = current_task()
            transitions.parking = task
            request = live._core.enqueue(claim, priority, task, True)
            request.primitive = live
            if live._observers:
                # With all its arguments emit() would need a deeper stack, which each sleeper keeps.
                emit_requested(request)
                if watchers:
                    inform_of_park(request)
    except BaseException:  # noqa: BLE001 - ours is raised again by guard_error
        failed = error_of_decision(live)
    finally:
        transitions.running = None
        if transitions.later:
            transitions.carry_out()
    if request is not None:
        await wait_task_rescheduled(request)
        transitions.parking = None
        # Not when it joined the queue: while it sleeps there the task cannot end.
        if live._touched_by is not None and claim not in live._touched_by:
            ownership.note(live, claim)
        if live._skips:
            live._skips_left = live._skips
        return
    await checkpoint_if_cancelled()
    if failed is not None:  # after the check: its caller may be cancelled already
        raise failed
    if transitions.running is not None:  # a finalizer came between: decide again
        await acquire(live, claim, priority)
        return
    transitions.running = True  # here, because a finalizer may run at the beginning of a call
    take(live, transitions, claim)
    live._skips_left = live._skips
    await cancel_shielded_checkpoint()


# The same code as the ``__aenter__`` of a primitive of which a block takes one, or that its task owns; a
# call more costs a fortieth.
enter = cast(
    "Callable[[Live[Any]], CoroutineType[Any, Any, None]]",
    enable_ki_protection(
        FunctionType(unwrap(acquire).__code__, globals(), "enter", (1, 0, None, True))
    ),
)
enter_as_task = cast(
    "Callable[[Live[Any]], CoroutineType[Any, Any, None]]",
    enable_ki_protection(
        FunctionType(
            unwrap(acquire).__code__, globals(), "enter_as_task", (CURRENT_TASK, 0, None, False)
        )
    ),
)


@enable_ki_protection
@coroutine_function
async def acquire_for_block(live: Live[Any], claim: Any, priority: int, task: Task | None) -> None:
    """Take the claim for a block that releases it, while something observes that."""
    task = task or current_task()
    inform_of_block(task, (live,))
    try:
        await acquire(live, claim, priority)
    finally:
        inform_of_block(task, ())


def error_of_decision(live: Live[Any]) -> BaseException:
    """Return what to raise for the error of a core's decision, or raise one that is our own again."""
    error = cast(BaseException, sys.exception())
    if isinstance(error, EndedForGood):
        raise error_of(error.cause) from None
    return live._core.guard_error(error)


@enable_ki_protection
def take(live: Live[Any], transitions: Transitions, claim: Any) -> None:
    """Take a claim that is still admissible, in a transition that has begun; this ends it."""
    try:
        live._take_claim(claim)
        if live._touched_by is not None and claim not in live._touched_by:
            ownership.note(live, claim)
        if live._observers:
            emit_taken(live, claim)
    finally:
        transitions.running = False
        if transitions.later:
            transitions.carry_out()


@enable_ki_protection
def acquire_nowait(live: Live[Any], claim: Any) -> None:
    """Take the claim now or raise WouldBlock."""
    core = live._core
    with transitions_of(live), errors_of_ended():
        if not core.admissible_or_error(claim):
            core.refuse(claim)
            raise trio.WouldBlock
        live._take_claim(claim)
        if live._touched_by is not None and claim not in live._touched_by:
            ownership.note(live, claim)
        if live._observers:
            emit_taken(live, claim)


def transitions_of(live: Live[Any]) -> Transitions:
    """Return the transitions in which the primitive may be used from here."""
    transitions = live._transitions
    return transitions if transitions.mark._is_owned() else check_run(live)


@enable_ki_protection
def release(live: Live[Any], claim: Any) -> None:
    """Release the claim and wake those whom that lets in; if a transition runs, right after it."""
    _ = leave(live, None, None, None, claim)


@enable_ki_protection
def leave(
    live: Live[Any], kind: object, error: object, traceback: object, claim: Any = 1
) -> CoroutineType[Any, Any, None]:
    """Do what :func:`release` does; this is its body and, of itself, the ``__aexit__`` of a primitive."""
    transitions = live._transitions
    if not transitions.mark._is_owned():
        transitions = check_run(live)
    if transitions.running:
        transitions.later.append(partial(release, live, claim))
        return DONE
    transitions.running = True
    try:
        ended = live._release_claim(claim)
        if ended:
            in_other_queues = resume(transitions, ended)
            if live._observers:
                emit_released(live, claim, ended)
            if in_other_queues:
                emit_in_other_queues(in_other_queues)
        elif live._observers:
            emit_released(live, claim, ())
    finally:
        transitions.running = False
        if transitions.later:
            transitions.carry_out()
    return DONE


def about_to_park(transitions: Transitions, request: Request[Any]) -> None:
    """Note, inside the transition that decides so, that the current task is going to park."""
    request.parked = True
    transitions.parking = request.waiter
    if watchers:
        inform_of_park(request)


async def park(transitions: Transitions, request: Request[Any], stop: Stop) -> None:
    """Sleep until the request ends; a cancellation stops the wait by ``stop``."""
    await sleep(transitions, partial(abort_by, stop, request))


async def sleep(transitions: Transitions, abort: Callable[[RaiseCancel], Abort]) -> None:
    """Sleep until another task wakes this one; that it will park was noted in its transition."""
    try:
        await wait_task_rescheduled(abort)
    finally:
        transitions.parking = None


def change(
    live: Live[Any],
    transition: Callable[[], list[Request[Any]]],
    *,
    wakes: Live[Any] | None = None,
    events: Iterable[tuple[EventKind, Any]] = (),
) -> None:
    """Carry out a transition of the core and wake those whom it lets in.

    Those are waiters of the primitive itself, or of ``wakes``. Observers hear first of what the
    current task did by it: the kinds and claims of ``events``.
    """
    transitions = transitions_of(live)
    with transitions:
        ended, woken = transition(), wakes or live
        in_other_queues = resume(transitions, ended)
        if live._observers:
            for kind, claim in events:
                emit(kind, live, claim, running_task())
        if woken._observers:
            emit_ended(woken, ended)
        if in_other_queues:
            emit_in_other_queues(in_other_queues)
