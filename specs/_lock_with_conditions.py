"""The state of the condition's specification: several cores that belong together are one field."""

from __future__ import annotations

from typing import Any

from structsync._core.primitives.condition import ConditionCore
from structsync._core.primitives.lock import LockCore

# Two, since a notification on one must not reach waiters of the other.
CONDITIONS = ("full", "empty")


class LockWithConditions:
    """One lock and the conditions on it, as one part of the state."""

    def __init__(
        self, condition: type[ConditionCore] = ConditionCore, lock: type[LockCore] = LockCore
    ) -> None:
        self.lock = lock()
        self.conditions = {on: condition(self.lock) for on in CONDITIONS}

    def snapshot(self) -> tuple[Any, ...]:
        return (self.lock.snapshot(), *[one.snapshot() for one in self.conditions.values()])

    def restore(self, snapshot: tuple[Any, ...]) -> None:
        lock, *conditions = snapshot
        self.lock.restore(lock)
        for one, its in zip(self.conditions.values(), conditions, strict=True):
            one.restore(its)
