"""Sleeping for what the clock grants: the queue of a rate limiter.

No task releases what its waiters wait for, so the one at the head is woken by trio: each of them sleeps in a
cancel scope of its own, and that of the head has the time of its grant as its deadline. What then happens
is what happens at any abort: the core is told the time, grants whatever fits, and only a task that is not among
those is withdrawn. So a cancellation that comes in the same step as the grant loses against it. A timer that is
late delays those behind, too, unless the bucket had room for what came meanwhile.
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
from structsync._core.queue.request import GRANTED, PENDING, Request, Status

from . import parking, positions
from .events import emit, emit_taken
from .live import Live
from .runs import check_run, errors_of_ended, transitions_of
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
    transitions, request, timer = transitions_of(live), None, trio.CancelScope()
    with transitions, errors_of_ended():
        elapse(live, transitions)
        if core.admissible(claim):
            core.take(claim)
            if live._observers:
                emit_taken(live, claim)
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
        await parking.park(request, _grant_in_time_or_withdraw)


@enable_ki_protection
def acquire_nowait(live: Live[int], claim: int) -> None:
    """Take the claim now or raise WouldBlock."""
    transitions, core = transitions_of(live), live._core
    with transitions, errors_of_ended():
        elapse(live, transitions)
        if not core.admissible(claim):
            core.refuse(claim)
            raise trio.WouldBlock
        core.take(claim)
        if live._observers:
            emit_taken(live, claim)


def submit(live: Live[int], claim: int) -> Request[int]:
    """Take the claim, or a position in the queue for it, for a task that does not wait yet."""
    with transitions_of(live):
        elapse(live, of_this_thread())
    return positions.submit(live, claim, 0)


async def wait_for(live: Live[int], request: Request[int]) -> None:
    """Sleep until the time of a request has come; a cancellation keeps its position."""
    if request.parked:
        raise trio.BusyResourceError("another task already waits for this request")
    transitions, timer = check_run(live), trio.CancelScope()
    with transitions:
        elapse(live, transitions)
        if waits := request.status is PENDING:
            request.waiter = current_task()
            cast(TimedRequest, request).timer = timer
            parking.about_to_park(transitions, request)
            set_timer(cast(Timed, live)._core)
    if waits:
        with timer:
            await parking.park(request, _grant_in_time_or_keep)
        return
    await positions.wait_for(live, request)


def withdraw(live: Live[int], request: Request[int]) -> bool:
    """Withdraw a request, unless its time has come."""
    if status_of(live, request) is not PENDING:
        return False
    catch_up(live)
    withdrawn = positions.withdraw(live, request)
    set_timer(cast(Timed, live)._core)
    return withdrawn


@enable_ki_protection
def catch_up(live: Live[int]) -> None:
    """Grant what is due, if this is the run whose clock says so."""
    clock = running_clock()
    if clock is not None and clock is cast(Timed, live)._clock:
        transitions = of_this_thread()
        with transitions:
            elapse(live, transitions)


def status_of(live: Live[int], request: Request[int]) -> Status:
    """Return how a request stands at the time that the clock shows; change nothing."""
    core = cast(Timed, live)._core
    if request.status is PENDING and core.is_due(request, time_of(live)):
        return GRANTED
    return request.status


def elapse(live: Live[int], transitions: Transitions) -> None:
    """Tell the core what the clock shows, and wake the tasks that this lets in."""
    timed, clock = cast(Timed, live), running_clock()
    core = timed._core
    if clock is None:  # between two runs no time passes
        return
    if clock is timed._clock:
        now = clock.current_time()
        while (reading := core.next_reading(now)) < now:
            wake(transitions, live, core.elapse(reading))
        wake(transitions, live, core.elapse(now))
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
    """Let the first that sleeps be woken when its time has come.

    Requests ahead of it that no task waits for yet are granted by then.
    """
    for request in core.queue:
        if request.parked:
            timer = cast(trio.CancelScope, cast(TimedRequest, request).timer)
            timer.deadline = core.time_for(request)
            return


def _grant_in_time_or_withdraw(request: Request[int]) -> list[Request[int]] | None:
    live: Live[int] = request.primitive
    core = cast(Timed, live)._core
    elapse(live, of_this_thread())
    ended = core.withdraw(request)  # None if its time has come
    _stop_timer(request)
    return ended


def _grant_in_time_or_keep(request: Request[int]) -> list[Request[int]] | None:
    live: Live[int] = request.primitive
    elapse(live, of_this_thread())
    if request.status is not PENDING:
        return None
    request.parked = False
    _stop_timer(request)
    return []


def _stop_timer(request: Request[int]) -> None:
    # What is raised now belongs to a scope outside: its own timer must not catch that.
    cast(trio.CancelScope, cast(TimedRequest, request).timer).deadline = math.inf
    set_timer(cast(Timed, request.primitive)._core)
