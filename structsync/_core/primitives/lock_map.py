"""A lock for each key that is in use: the decisions of :class:`structsync.LockMap`.

Two locks for one key at the same time would both be granted. So what stands for a key stays the same as long
as it is referred to (``entries``, which holds it weakly), and, whatever becomes of those, as long as it is
held (``held``). One that is free and that no task refers to is forgotten.

Rejected: to count the users of each entry. A task that took a lock out of the map and has not acquired it yet
would have to be counted, too, and nothing tells when a task has lost interest.
"""

from __future__ import annotations

from collections.abc import Hashable, MutableMapping
from typing import Any, NoReturn

from structsync._core.queue.arbiter import Arbiter

from .lock import LockCore


class LockMapCore(Arbiter[Hashable]):
    """What stands for which key. No task queues here: one that wants a key queues for its lock."""

    def __init__(self, entries: MutableMapping[Hashable, Any]) -> None:
        super().__init__()
        # The locks that a task refers to, opaque here: of the shell, whose cores these are.
        self.entries: MutableMapping[Hashable, Any] = entries
        self.held: dict[Hashable, Any] = {}  # of those, the ones with an owner

    @property
    def is_idle(self) -> bool:
        return not self.held

    def admits(self, claim: Hashable) -> bool:
        return False

    def refuse_impossible(self, claim: Hashable) -> NoReturn:
        raise NotImplementedError("a key is acquired by its lock: acquire locks[key]")

    def admit(self, claim: Hashable) -> NoReturn:
        self.refuse_impossible(claim)

    def discharge(self, claim: Hashable) -> NoReturn:
        raise NotImplementedError("a key is released by its lock: release locks[key]")

    def new_lock(self, key: Hashable) -> KeyedLockCore:
        """Return the core of a lock for a key that has none."""
        return KeyedLockCore(self, key)


class KeyedLockCore(LockCore):
    """A lock of the map: as long as it is held, the map holds it."""

    def __init__(self, lock_map: LockMapCore, key: Hashable) -> None:
        super().__init__()
        self.lock_map: LockMapCore = lock_map
        self.key: Hashable = key

    def admit(self, claim: Hashable) -> bool:
        self.lock_map.held[self.key] = self.lock_map.entries[self.key]
        return super().admit(claim)

    def discharge(self, claim: Hashable) -> None:
        super().discharge(claim)
        del self.lock_map.held[self.key]
