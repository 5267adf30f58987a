"""Faults of semaphores, and of the policies."""

from __future__ import annotations

from typing import Any

import pytest
from trio import WouldBlock
from trio.lowlevel import current_trio_token

from structsync import Semaphore
from structsync._core.primitives.semaphore import SemaphoreCore
from structsync._core.queue.policy import Eligible, Priority
from structsync._core.queue.request import WITHDRAWN, Request
from structsync._runtime import positions

from .queue import without_settling


def one_permit_is_granted_twice(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(SemaphoreCore, "admits", lambda self, claim: claim <= self.value + 1)


def half_a_claim_is_taken(patch: pytest.MonkeyPatch) -> None:
    def admit(self: SemaphoreCore, claim: int) -> None:
        self.value -= min(claim, 2)

    patch.setattr(SemaphoreCore, "admit", admit)


def a_resize_lets_no_task_in(patch: pytest.MonkeyPatch) -> None:
    intact = SemaphoreCore.resize
    patch.setattr(SemaphoreCore, "resize", without_settling(intact))


def the_priority_is_ignored(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Priority, "candidates", lambda self, queue: queue)


def the_eligible_wait_behind_what_does_not_fit(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Eligible, "head_blocks", True)


def a_task_that_stops_waiting_loses_the_position(patch: pytest.MonkeyPatch) -> None:
    """A request whose wait was cancelled is withdrawn."""

    def stop(request: Request[Any]) -> list[Request[Any]] | None:
        if request.status != "pending":
            return None
        request.status = WITHDRAWN
        return []

    patch.setattr(positions, "_keep_position", stop)


def a_withdrawal_of_what_is_granted_says_yes(patch: pytest.MonkeyPatch) -> None:
    intact = positions.withdraw
    patch.setattr(
        positions, "withdraw", lambda p, request: intact(p, request) or request.status == "granted"
    )


def a_permit_leaks_when_a_waiter_is_granted(patch: pytest.MonkeyPatch) -> None:
    def admit(self: SemaphoreCore, claim: int) -> None:
        self.value -= claim + (len(self.queue) > 1)

    patch.setattr(SemaphoreCore, "admit", admit)


def a_release_takes_effect_after_it_has_returned(patch: pytest.MonkeyPatch) -> None:
    """No task is lost: it comes in the next step of the run."""
    intact = Semaphore.release

    def release(self: Semaphore, n: int = 1) -> None:
        current_trio_token().run_sync_soon(intact, self, n)

    patch.setattr(Semaphore, "release", release)


def a_nowait_looks_at_the_permits_alone(patch: pytest.MonkeyPatch) -> None:
    """It takes what is free, past those who wait for more."""

    def acquire_nowait(self: Semaphore, n: int = 1) -> None:
        if not self._core.admits(n):
            raise WouldBlock
        self._core.take(n)

    patch.setattr(Semaphore, "acquire_nowait", acquire_nowait)


def a_nowait_gives_up_where_anything_is_out(patch: pytest.MonkeyPatch) -> None:
    intact = Semaphore.acquire_nowait

    def acquire_nowait(self: Semaphore, n: int = 1) -> None:
        if self.value != self.max_value:
            raise WouldBlock
        intact(self, n)

    patch.setattr(Semaphore, "acquire_nowait", acquire_nowait)
