"""Where a core's decision becomes sleeping, in one queue at a time.

In other ways a task waits in a queue by :mod:`.items`, :mod:`.parking_in_time` and :mod:`.parking_together`;
only :mod:`.waking` wakes.

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
from collections.abc import Callable
from functools import partial
from inspect import unwrap
from types import CoroutineType, FunctionType
from typing import Any, cast

import trio
from trio.lowlevel import (
    Task,
    cancel_shielded_checkpoint,
    checkpoint_if_cancelled,
    current_task,
    enable_ki_protection,
    wait_task_rescheduled,
)

from structsync._core.queue.arbiter import EndedForGood
from structsync._core.queue.request import Request
from structsync._core.queue.user_code import UserCodeFailed

from . import ownership
from .cancelling import Stop, StopWaiting, abort_by, end_wait
from .causes import error_of
from .done import coroutine_function
from .events import emit_requested, emit_taken
from .live import Live
from .runs import check_run, errors_of_ended, transitions_of
from .transitions import Transitions
from .watching import inform_of_block, inform_of_park, watchers

# The claim of a block that is claimed by the task that enters it.
CURRENT_TASK = object()


@enable_ki_protection
@coroutine_function
async def acquire(  # noqa: C901, PLR0915 - each call less is a hundredth of a hand-over
    live: Live[Any], claim: Any, priority: int = 0, in_block: bool = False
) -> None:
    """Take the claim now or wait in the queue for it.

    Args:
      in_block: whether the caller is a block, which releases the claim.
    """
    task = None
    if claim is CURRENT_TASK:
        claim = task = current_task()
    if watchers and in_block:
        await acquire_for_block(live, claim, priority)
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
                if live._touched_by is not None and claim not in live._touched_by:
                    ownership.note(live, claim)
                live._take_claim(claim)
                if live._observers:
                    emit_taken(live, claim)
                if live._skips_left:
                    live._skips_left -= 1
                    return
                taken = True
        except BaseException:  # noqa: BLE001 - it is raised again
            raise error_of_decision()  # noqa: B904 - it may have a cause of its own
        finally:
            transitions.running = False
            if transitions.later:
                transitions.carry_out()
        if taken:
            live._skips_left = live._skips
            await cancel_shielded_checkpoint()
            return
    request = failed = None
    transitions.running = True
    try:
        if not live._core.admissible(claim, priority):
            if task is None:
                task = current_task()
            noted = live._touched_by is None or claim in live._touched_by
            if not noted:
                hash(claim)  # before it joins the queue: without a hash it could not be noted after
            request = live._core.enqueue(claim, priority, task, True)
            transitions.parking = task
            request.primitive = live
            if live._observers:
                # With all its arguments emit() would need a deeper stack, which each sleeper keeps.
                emit_requested(request)
                if watchers:
                    inform_of_park(request)
    except BaseException:  # noqa: BLE001 - raised after the check for cancellation
        failed = error_of_decision()
    finally:
        transitions.running = None
        if transitions.later:
            transitions.carry_out()
    if request is not None:
        await wait_task_rescheduled(request)
        # Not when it joined the queue: while it sleeps there the task cannot end.
        if not noted:  # type: ignore[possibly-undefined]  # not where there is a request
            ownership.note(live, claim)
        live._skips_left = live._skips
        return
    if failed is not None:
        try:
            await checkpoint_if_cancelled()  # before the error: its caller may be cancelled already
            raise failed
        finally:
            del failed  # its traceback holds this frame
    await checkpoint_if_cancelled()
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
    enable_ki_protection(FunctionType(unwrap(acquire).__code__, globals(), "enter", (1, 0, True))),
)
enter_as_task = cast(
    "Callable[[Live[Any]], CoroutineType[Any, Any, None]]",
    enable_ki_protection(
        FunctionType(unwrap(acquire).__code__, globals(), "enter_as_task", (CURRENT_TASK, 0, False))
    ),
)


@enable_ki_protection
@coroutine_function
async def acquire_for_block(live: Live[Any], claim: Any, priority: int) -> None:
    """Take the claim for a block that releases it, while something observes that."""
    task = current_task()
    inform_of_block(task, (live,))
    try:
        await acquire(live, claim, priority)
    finally:
        inform_of_block(task, ())


def error_of_decision() -> BaseException:
    """Return what to raise for the error of a core's decision, which is being handled."""
    error = cast(BaseException, sys.exception())
    if isinstance(error, EndedForGood):
        error = error_of(error.cause)
        error.__suppress_context__ = True
        return error
    return error.error if isinstance(error, UserCodeFailed) else error


@enable_ki_protection
def take(live: Live[Any], transitions: Transitions, claim: Any) -> None:
    """Take a claim that is still admissible, in a transition that has begun; this ends it."""
    try:
        if live._touched_by is not None and claim not in live._touched_by:
            ownership.note(live, claim)
        live._take_claim(claim)
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
        if live._touched_by is not None and claim not in live._touched_by:
            ownership.note(live, claim)
        live._take_claim(claim)
        if live._observers:
            emit_taken(live, claim)


def about_to_park(transitions: Transitions, request: Request[Any]) -> None:
    """Note, inside the transition that decides so, that the current task is going to park."""
    request.parked = True
    transitions.parking = request.waiter
    if watchers:
        inform_of_park(request)


async def park(request: Request[Any], stop: Stop) -> None:
    """Sleep until the request ends; a cancellation stops the wait by ``stop``."""
    await wait_task_rescheduled(partial(abort_by, stop, request))


async def park_in_no_queue(stop: StopWaiting, task: Task) -> None:
    """Sleep until another task wakes this one; a cancellation ends the wait by ``stop``."""
    await wait_task_rescheduled(partial(end_wait, stop, task))
