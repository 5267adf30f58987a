"""Sleeping for what the clock grants: the queue of a rate limiter.

Nobody releases what its waiters wait for, so the one at the head is woken by trio: each of them sleeps in a
cancel scope of its own, and that of the head has the time of its grant as its deadline. What then happens
is what happens at any abort: the core is told the time, grants whatever fits, and only who is not among
those is withdrawn. So a late timer delays nobody by more than itself, and a cancellation that comes in the
same step as the grant loses against it.
"""

from __future__ import annotations

import math
from typing import Protocol, cast

import trio
from trio.lowlevel import (
    cancel_shielded_checkpoint,
    checkpoint_if_cancelled,
    current_clock,
    current_task,
    enable_ki_protection,
)

from structsync._core.primitives.rate_limiter import RateLimiterCore, TimedRequest
from structsync._core.queue.request import Request

from . import parking
from .events import emit
from .live import Live
from .runs import errors_of_ended
from .transitions import Transitions, of_this_thread
from .waking import wake


class Timed(Protocol):
    """What is granted by a clock, and which clock that was last."""

    _core: RateLimiterCore
    _clock: trio.abc.Clock | None


@enable_ki_protection
async def acquire(live: Live[int], claim: int) -> None:
    """Take the claim now, or wait until its time has come."""
    await checkpoint_if_cancelled()
    core = cast(Timed, live)._core
    transitions, request, timer = parking.transitions_of(live), None, trio.CancelScope()
    with transitions, errors_of_ended():
        elapse(live, transitions)
        if core.admissible(claim):
            core.take(claim)
            if live._observers:
                parking.emit_taken(live, claim)
        else:
            request = core.enqueue(claim, 0, current_task())
            request.primitive = live
            cast(TimedRequest, request).timer = timer
            if live._observers:
                emit("requested", live, claim, request.waiter, request)
            parking.about_to_park(transitions, request)
            set_timer(core)
    if request is None:
        await cancel_shielded_checkpoint()
        return
    with timer:
        await parking.park(transitions, request, _grant_in_time_or_withdraw)


@enable_ki_protection
def acquire_nowait(live: Live[int], claim: int) -> None:
    """Take the claim now or raise WouldBlock."""
    transitions, core = parking.transitions_of(live), live._core
    with transitions, errors_of_ended():
        elapse(live, transitions)
        if not core.admissible(claim):
            core.refuse(claim)
            raise trio.WouldBlock
        core.take(claim)
        if live._observers:
            parking.emit_taken(live, claim)


def elapse(live: Live[int], transitions: Transitions) -> None:
    """Tell the core what the clock shows, and wake whom that lets in."""
    timed, clock = cast(Timed, live), running_clock()
    core = timed._core
    if clock is None:  # between two runs no time passes
        return
    if clock is timed._clock:
        wake(transitions, live, core.elapse(clock.current_time()))
        set_timer(core)
    else:
        timed._clock = clock
        core.change_clock(clock.current_time())


def time_of(live: Live[int]) -> float:
    """Return what the clock shows, in the time that the core knows."""
    timed, clock = cast(Timed, live), running_clock()
    if clock is None or clock is not timed._clock:
        return timed._core.now
    return clock.current_time()


def running_clock() -> trio.abc.Clock | None:
    """Return the clock of the run, or None outside a run."""
    try:
        return current_clock()
    except RuntimeError:  # trio 0.27 cannot be asked
        return None


def set_timer(core: RateLimiterCore) -> None:
    """Let the one at the head be woken when its time has come."""
    time = core.next_time()
    if time is not None:
        cast(trio.CancelScope, cast(TimedRequest, core.queue.head).timer).deadline = time


def _grant_in_time_or_withdraw(request: Request[int]) -> list[Request[int]] | None:
    live: Live[int] = request.primitive
    core = cast(Timed, live)._core
    elapse(live, of_this_thread())
    ended = core.withdraw(request)  # None if its time has come
    # What is raised now belongs to a scope outside: its own timer must not catch that.
    cast(trio.CancelScope, cast(TimedRequest, request).timer).deadline = math.inf
    set_timer(core)
    return ended
