"""One task at a time has the lock of a key, and nothing is kept of a key that nobody uses.

Whoever is idle may ask for either key; the lock of a key is made when somebody asks. What nobody holds and
nobody waits for may be forgotten at any moment (so weak references do it), and then the next one who asks is given a
new lock. Whoever holds a key gives it back eventually (that is *fair*), or ends with it.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any, ClassVar

from structsync import Status
from structsync._core.primitives.lock_map import KeyedLockCore, LockMapCore
from structsync._core.queue.request import Request
from structsync.checking import Spec, action, invariant, invariants, leads_to, start, step, terminal

# ==== Bounds ====

KEYS = ("x", "y")  # one beside the other
TASKS = ("a", "b", "c")  # one that holds, and two behind it


class Locks:
    """The map, and its locks as long as somebody has them: they can be forgotten one by one."""

    lock_type: ClassVar[type[KeyedLockCore]] = KeyedLockCore

    def __init__(self) -> None:
        self.entries: dict[Hashable, Any] = {}
        self.map: LockMapCore = LockMapCore(self.entries)

    def lock_of(self, key: Hashable) -> KeyedLockCore:
        """Return the lock of a key, as the map does: the one that is there, or a new one."""
        if key not in self.entries:
            self.entries[key] = self.lock_type(self.map, key)
        lock: KeyedLockCore = self.entries[key]
        return lock

    def snapshot(self) -> Hashable:
        locks = tuple(sorted((key, lock.snapshot()) for key, lock in self.entries.items()))
        return (locks, tuple(sorted(map(str, self.map.held))))

    def restore(self, snapshot: Any) -> None:
        locks, held = snapshot
        self.entries.clear()
        for key, one in locks:
            self.lock_of(key).restore(one)
        self.map.held = {key: self.entries.get(key) for key in held}


class LockMapSpec(Spec):
    """A lock map, and who holds which key."""

    forgets = ("granted",)
    core: Locks = start(Locks)
    holding: tuple[tuple[str, str], ...] = start(tuple)  # who has which key, in order of names
    broken: frozenset[str] = start(frozenset)  # keys whose owner has ended
    granted: tuple[tuple[str, str], ...] = start(tuple)  # by the last action

    def waiting(self) -> list[tuple[str, str]]:
        return [
            (one.waiter, str(key)) for key, lock in self.core.entries.items() for one in lock.queue
        ]

    def note(self, key: str, ended: Iterable[Request[Any]]) -> None:
        granted = [(one.waiter, key) for one in ended if one.status is Status.GRANTED]
        self.granted = tuple(granted)
        self.holding = tuple(sorted({*self.holding, *granted}))

    def idle(self) -> list[str]:
        busy = {who for who, _ in (*self.holding, *self.waiting())}
        return [who for who in TASKS if who not in busy]

    # ==== Actions ====

    @action(who=idle, key=lambda spec: [key for key in KEYS if key not in spec.broken])
    def ask(self, who: str, key: str) -> None:
        request = self.core.lock_of(key).submit(who, waiter=who)
        self.note(key, [request])

    @action(pair=waiting)
    def withdraw(self, pair: tuple[str, str]) -> None:
        who, key = pair
        lock = self.core.lock_of(key)
        request = next(one for one in lock.queue if one.waiter == who)
        self.note(key, lock.withdraw(request) or ())

    @action(pair=lambda spec: [one for one in spec.holding if one[1] not in spec.broken], fair=True)
    def release(self, pair: tuple[str, str]) -> None:
        who, key = pair
        self.holding = tuple(one for one in self.holding if one != pair)
        self.note(key, self.core.lock_of(key).release(who))

    @action(pair=lambda spec: [one for one in spec.holding if one[1] not in spec.broken])
    def end(self, pair: tuple[str, str]) -> None:
        who, key = pair
        self.broken |= {key}
        self.note(key, self.core.lock_of(key).owner_exited(who, "its owner has ended"))

    @action(key=lambda spec: [*spec.core.entries], when=lambda spec, key: spec.is_free_to_go(key))
    def forget(self, key: str) -> None:
        self.granted = ()
        del self.core.entries[key]

    def is_free_to_go(self, key: str) -> bool:
        """Return whether nobody has the lock: the map does not hold it, and nobody waits in it."""
        return key not in self.core.map.held and not self.core.entries[key].queue

    # ==== Where it may end ====

    @terminal
    def every_lock_is_broken(self) -> bool:
        """When the owners of all keys have ended, nothing can be asked for any more."""
        return self.broken == {*KEYS} and not self.waiting()

    # ==== Invariants ====

    @invariant
    def one_task_holds_a_key(self) -> bool:
        """Also where its lock was taken out of the map again and again."""
        keys = [key for _, key in self.holding]
        return len(keys) == len(set(keys))

    @invariant
    def what_is_held_is_kept_and_nothing_else(self) -> bool:
        """The map knows the keys that are locked now."""
        return {*self.core.map.held} == {key for _, key in self.holding}

    @invariant
    def what_broke_stays_broken(self) -> bool:
        """The lock whose owner has ended is not exchanged for a new one."""
        return all(
            key in self.core.entries and self.core.entries[key].cause is not None
            for key in self.broken
        )

    @invariant
    def nothing_grantable_waits(self) -> bool:
        """No lost wakeup, in any lock (I3)."""
        return all(invariants.nothing_grantable_waits(one) for one in self.core.entries.values())

    # ==== Step properties ====

    @step
    def the_key_decides_who_is_next(self, before: Any) -> bool:
        """First come, first served, for each key (I2)."""
        for _, key in self.granted:
            line = [who for who, one in before.waiting() if one == key]
            after = [who for who, one in self.waiting() if one == key]
            granted = [who for who, one in self.granted if one == key]
            if not invariants.served_in_queue(line, granted, after):
                return False
        return True

    # ==== Temporal properties ====

    @leads_to(who=TASKS)
    def who_waits_is_granted(self, who: str) -> tuple[bool, bool]:
        """If keys are given back, whoever waits is granted eventually, or gives up, or is told."""
        waits = who in [one for one, _ in self.waiting()]
        return waits, not waits
