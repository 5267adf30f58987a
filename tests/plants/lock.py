"""Faults of locks."""

from __future__ import annotations

from typing import Any

import pytest

from structsync._core.primitives.lock import LockCore
from structsync._core.queue.request import Request
from structsync._runtime.primitive import OwnedPrimitive


def the_lock_is_granted_to_two(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(LockCore, "admits", lambda self, claim: True)


def the_end_of_an_owner_is_ignored(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(OwnedPrimitive, "_owner_exited", lambda self, task, claim: None)


def the_request_of_an_ended_task_stays_in_queue(patch: pytest.MonkeyPatch) -> None:
    intact = LockCore.owner_exited

    def owner_exited(self: LockCore, claimant: Any, cause: Any) -> list[Request[Any]]:
        return intact(self, claimant, cause) if self.owner == claimant else []

    patch.setattr(LockCore, "owner_exited", owner_exited)
