"""Semaphores, read-write locks and groups that several processes share.

What is promised of all of them, their state, actions and bounds, are in `shared_sessions.py`. Here each says what its
requests ask for, and that its core agrees with the clients that believe to hold it.
"""

from __future__ import annotations

from typing import Any, ClassVar

from structsync._core.shared.operations import Want
from structsync.checking import implies, invariant, start

from ._shared import Replica
from .shared_sessions import FOUR, HoldersSpec

# ==== A semaphore ====

PERMITS = 2


class SharedSemaphoreSpec(HoldersSpec):
    """A semaphore of two permits; one of the clients wants both."""

    wants: ClassVar = {
        who: [Want("db", "semaphore", PERMITS, permits)]
        for who, permits in {"a": 1, "b": 2, "c": 1, "d": 1}.items()
    }
    core: Replica = start(Replica, FOUR)

    def agrees(self, name: str, core: Any) -> bool:
        out: int = sum(self.wants[who][0].amount for who in self.believed(name))
        return bool(core.value == PERMITS - out >= 0)

    @invariant
    def one_name_is_one_semaphore(self) -> bool:
        """While the name is in use, another definition or more permits than there are is refused (I7)."""
        larger = Want("db", "semaphore", PERMITS + 1, 1)
        too_many = Want("db", "semaphore", PERMITS, PERMITS + 1)
        other_kind = Want("db", "lock")
        is_in_use = "db" in self.shared_core.named
        return implies(is_in_use, lambda: self.refuses((larger,), (too_many,), (other_kind,)))


# ==== A read-write lock ====


class SharedRWLockSpec(HoldersSpec):
    """A read-write lock; two read and two write."""

    wants: ClassVar = {
        who: [Want("page", "rwlock", None, mode)]
        for who, mode in {"a": "write", "b": "read", "c": "read", "d": "write"}.items()
    }
    core: Replica = start(Replica, FOUR)

    def agrees(self, name: str, core: Any) -> bool:
        inside = [*core.readers, *([] if core.writer is None else [core.writer])]
        return sorted(inside) == sorted(self.keys_of(name))


# ==== Several things at once ====


class SharedGroupsSpec(HoldersSpec):
    """A lock and a semaphore of one permit; two want both, and each of them is wanted alone."""

    wants: ClassVar = {
        "a": [Want("l", "lock"), Want("s", "semaphore", 1, 1)],
        "b": [Want("s", "semaphore", 1, 1)],
        "c": [Want("l", "lock")],
        "d": [Want("s", "semaphore", 1, 1), Want("l", "lock")],
    }
    core: Replica = start(Replica, FOUR)

    def agrees(self, name: str, core: Any) -> bool:
        if name == "l":
            return self.keys_of(name) == ([] if core.owner is None else [core.owner])
        return bool(core.value == 1 - len(self.believed(name)))

    @invariant
    def what_a_group_cannot_be_is_refused(self) -> bool:
        """A group with the same thing twice, or with what cannot be held, is refused (I7)."""
        semaphore, latch = Want("s", "semaphore", 1, 1), Want("start", "latch", 1)
        return self.refuses((semaphore, semaphore), (semaphore, latch))
