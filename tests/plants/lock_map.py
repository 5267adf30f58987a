"""Faults of keyed locks."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import pytest

from structsync._core.primitives.lock import LockCore
from structsync._core.primitives.lock_map import KeyedLockCore
from structsync._primitives.lock import Lock
from structsync._primitives.lock_map import LockMap


def a_lock_that_is_held_is_forgotten(patch: pytest.MonkeyPatch) -> None:
    """Only weak references: one that nobody has is made again, and granted again."""
    patch.setattr(KeyedLockCore, "admit", LockCore.admit)
    patch.setattr(KeyedLockCore, "give_back", LockCore.give_back)


def a_key_that_was_given_back_stays(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(KeyedLockCore, "give_back", LockCore.give_back)


def who_releases_takes_the_entry_from_the_next(patch: pytest.MonkeyPatch) -> None:
    def release(self: KeyedLockCore, claim: Hashable) -> Any:
        ended = super(KeyedLockCore, self).release(claim)
        self.home.held.pop(self.key, None)
        return ended

    patch.setattr(KeyedLockCore, "give_back", LockCore.give_back)
    patch.setattr(KeyedLockCore, "release", release, raising=False)


def each_use_has_a_lock_of_its_own(patch: pytest.MonkeyPatch) -> None:
    def made(self: LockMap[Any], key: Any) -> Lock:
        lock = self._locks[key] = Lock()
        lock._core = self._core.new_lock(key)
        return lock

    patch.setattr(LockMap, "__getitem__", made)
