"""Faults of keyed locks."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any
from weakref import WeakValueDictionary

import pytest

from structsync._core.primitives.lock import LockCore
from structsync._core.primitives.lock_map import KeyedLockCore
from structsync._primitives import lock_map
from structsync._primitives.lock import Lock


def a_lock_that_is_held_is_forgotten(patch: pytest.MonkeyPatch) -> None:
    """Only weak references: one that no task has is made again, and granted again."""
    patch.setattr(KeyedLockCore, "admit", LockCore.admit)
    patch.setattr(KeyedLockCore, "discharge", LockCore.discharge)


def a_key_that_was_released_stays(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(KeyedLockCore, "discharge", LockCore.discharge)


def a_task_that_releases_takes_the_entry_from_the_next(patch: pytest.MonkeyPatch) -> None:
    def release(self: KeyedLockCore, claim: Hashable) -> Any:
        ended = super(KeyedLockCore, self).release(claim)
        self.lock_map.held.pop(self.key, None)
        return ended

    patch.setattr(KeyedLockCore, "discharge", LockCore.discharge)
    patch.setattr(KeyedLockCore, "release", release, raising=False)


class NeverFound(WeakValueDictionary[Hashable, Lock]):
    """Keeps what it is given, and knows nothing of it when asked."""

    def get(self, key: Hashable, default: Any = None) -> Any:
        return default

    def setdefault(self, key: Hashable, default: Any = None) -> Any:
        self[key] = default
        return default


def each_use_has_a_lock_of_its_own(patch: pytest.MonkeyPatch) -> None:
    # Not by __getitem__: CPython 3.13 goes on with an old one after a class has changed a thousand times.
    patch.setattr(lock_map, "WeakValueDictionary", NeverFound)
