"""Faults of wait queues."""

from __future__ import annotations

import pytest

from structsync._core.primitives.wait_queue import WaitQueueCore
from structsync._core.queue.request import Request


def a_wake_is_kept(patch: pytest.MonkeyPatch) -> None:
    def wake(self: WaitQueueCore, count: int | None) -> list[Request[None]]:
        self.wakes = len(self.queue) if count is None else count
        return self.settle()

    patch.setattr(WaitQueueCore, "wake", wake)


def waking_all_leaves_one_behind(patch: pytest.MonkeyPatch) -> None:
    intact = WaitQueueCore.wake

    def wake(self: WaitQueueCore, count: int | None) -> list[Request[None]]:
        return intact(self, max(1, len(self.queue) - 1) if count is None else count)

    patch.setattr(WaitQueueCore, "wake", wake)
