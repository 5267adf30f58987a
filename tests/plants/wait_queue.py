"""Faults of wait queues."""

from __future__ import annotations

import pytest

from structsync._core.primitives.wait_queue import WaitQueueCore
from structsync._core.queue.request import Request
from structsync._primitives import wait_queue
from structsync._runtime.predicate import wait_for
from structsync.specs import wait_queue_faults

from ._reuse import plant


def a_wake_is_kept(patch: pytest.MonkeyPatch) -> None:
    plant(patch, WaitQueueCore, wait_queue_faults.WakesAreKept)


def waking_all_leaves_one_behind(patch: pytest.MonkeyPatch) -> None:
    intact = WaitQueueCore.wake

    def wake(self: WaitQueueCore, count: int | None) -> list[Request[None]]:
        return intact(self, max(1, len(self.queue) - 1) if count is None else count)

    patch.setattr(WaitQueueCore, "wake", wake)


def a_predicate_is_evaluated_before_the_schedule_point(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(wait_queue, "wait_for_outside", wait_for)
