"""Faults of rate limiters."""

from __future__ import annotations

from typing import cast

import pytest
import trio

from structsync._core.primitives.rate_limiter import RateLimiterCore, TimedRequest
from structsync._core.queue.request import Request
from structsync._runtime import parking_in_time
from structsync.specs import rate_limiter_faults

from ._reuse import plant


def the_bucket_overflows(patch: pytest.MonkeyPatch) -> None:
    plant(patch, RateLimiterCore, rate_limiter_faults.TheBucketOverflows)


def a_late_request_is_granted_as_of_its_time(patch: pytest.MonkeyPatch) -> None:
    plant(patch, RateLimiterCore, rate_limiter_faults.ALateRequestIsGrantedAsOfItsTime)


def no_request_is_granted_before_the_clock_is_read(patch: pytest.MonkeyPatch) -> None:
    """One that no task waits for delays those behind it."""
    patch.setattr(RateLimiterCore, "next_reading", lambda self, now: now)


def a_part_of_a_permit_is_lost(patch: pytest.MonkeyPatch) -> None:
    plant(patch, RateLimiterCore, rate_limiter_faults.AGrantForgetsTheFraction)


def a_request_that_moves_up_to_the_head_has_no_timer(patch: pytest.MonkeyPatch) -> None:
    """Only who joins an empty queue is ever woken."""
    intact = parking_in_time.set_timer

    def set_timer(core: RateLimiterCore) -> None:
        for request in [*core.queue][1:]:
            cast(TimedRequest, request).timer = trio.CancelScope()  # in which no task sleeps
        intact(core)

    patch.setattr(parking_in_time, "set_timer", set_timer)


def a_timer_only_withdraws(patch: pytest.MonkeyPatch) -> None:
    """Whose time has come is cancelled by its own timer."""

    def withdraw(request: Request[int]) -> list[Request[int]] | None:
        core: RateLimiterCore = request.primitive._core
        ended = core.withdraw(request)
        parking_in_time.set_timer(core)
        return ended

    patch.setattr(parking_in_time, "_grant_in_time_or_withdraw", withdraw)


def a_cancellation_beats_the_time(patch: pytest.MonkeyPatch) -> None:
    """What is granted late is given to who was cancelled before, and lost."""
    intact = RateLimiterCore.withdraw

    def withdraw(self: RateLimiterCore, request: Request[int]) -> list[Request[int]] | None:
        self.spent += request.claim if request.queue is self.queue else 0
        return intact(self, request)

    patch.setattr(RateLimiterCore, "withdraw", withdraw)


def a_task_that_sleeps_behind_a_request_has_no_timer(patch: pytest.MonkeyPatch) -> None:
    """Only the head is woken, and of a request that no task waits for no task is."""

    def set_timer(core: RateLimiterCore) -> None:
        head = core.queue.head
        if head is not None and head.parked:
            timer = cast(trio.CancelScope, cast(TimedRequest, head).timer)
            timer.deadline = core.time_for(head)

    patch.setattr(parking_in_time, "set_timer", set_timer)
