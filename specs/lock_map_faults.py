"""Bugs of keyed locks, planted in ours: each must be found by the named property."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, ClassVar

from structsync._core.primitives.lock import LockCore
from structsync._core.primitives.lock_map import KeyedLockCore
from structsync._core.queue.request import Request
from structsync.checking import fault

from ._planting import grant
from .lock_map import LockMapSpec, Locks

Ended = list[Request[Any]]


class _NotKept(KeyedLockCore):
    def admit(self, claim: Hashable) -> bool:
        return LockCore.admit(self, claim)

    def discharge(self, claim: Hashable) -> None:
        LockCore.discharge(self, claim)


@fault(LockMapSpec, "core", refuted_by="one_task_holds_a_key")
class WhatIsHeldIsForgotten(Locks):
    """The map has weak references alone: a lock that is held is forgotten, made anew, and granted again."""

    lock_type: ClassVar[type[KeyedLockCore]] = _NotKept


class _KeptForGood(KeyedLockCore):
    def discharge(self, claim: Hashable) -> None:
        LockCore.discharge(self, claim)


@fault(LockMapSpec, "core", refuted_by="what_is_held_is_kept_and_nothing_else")
class EveryKeyStays(Locks):
    """The map keeps the lock of each key that was ever held."""

    lock_type: ClassVar[type[KeyedLockCore]] = _KeptForGood


class _Dropped(_KeptForGood):
    def release(self, claim: Hashable) -> Ended:
        ended = super().release(claim)
        self.lock_map.held.pop(self.key, None)
        return ended


@fault(LockMapSpec, "core", refuted_by="one_task_holds_a_key")
class AHandOverIsForgotten(Locks):
    """A task that releases takes the entry away, although the next task holds the key by now."""

    lock_type: ClassVar[type[KeyedLockCore]] = _Dropped


class _Mended(KeyedLockCore):
    def owner_exited(self, claimant: Hashable, cause: Hashable) -> Ended:
        ended = super().owner_exited(claimant, cause)
        self.lock_map.held.pop(self.key, None)
        return ended


@fault(LockMapSpec, "core", refuted_by="what_broke_stays_broken")
class WhatBrokeIsExchanged(Locks):
    """The next task that asks is given a new lock, over what the owner left half done."""

    lock_type: ClassVar[type[KeyedLockCore]] = _Mended


class _NewestFirst(KeyedLockCore):
    def release(self, claim: Hashable) -> Ended:
        self.discharge(claim)
        return [grant(self, one) for one in self.waiting()[-1:]]


@fault(LockMapSpec, "core", refuted_by="the_key_decides_which_is_next")
class TheNewestIsNext(Locks):
    """The queue of a key is served from its end."""

    lock_type: ClassVar[type[KeyedLockCore]] = _NewestFirst


class _LetsNoTaskIn(KeyedLockCore):
    def release(self, claim: Hashable) -> Ended:
        self.discharge(claim)
        return []


@fault(LockMapSpec, "core", refuted_by="nothing_grantable_waits")
class NoTaskIsNext(Locks):
    """The tasks that wait for a key that was released are not woken."""

    lock_type: ClassVar[type[KeyedLockCore]] = _LetsNoTaskIn


@fault(LockMapSpec, "core", refuted_by="every_waiter_is_granted")
class WaitersWaitForever(Locks):
    """The tasks that wait for a key that was released wait forever."""

    lock_type: ClassVar[type[KeyedLockCore]] = _LetsNoTaskIn
