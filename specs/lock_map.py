"""One task at a time has the lock of a key, and nothing is kept of a key that no task uses.

The state is the map that ships, the locks that there are, with their queues, and which task holds which key. An idle
task may ask for either key; the lock of a key is made when a task asks for it. A task that waits may withdraw. A lock
that no task holds or waits for may be forgotten at any moment (as weak references do it), and then the next task that
asks is given a new one. A task that holds a key releases it eventually (that is *fair*), or exits with it, which
breaks the lock for good.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any, ClassVar

from structsync import Status
from structsync._core.primitives.lock_map import KeyedLockCore, LockMapCore
from structsync._core.queue.request import Request
from structsync.checking import Spec, action, invariant, invariants, leads_to, start, step, terminal

# ==== Bounds ====

KEYS = ("x", "y")  # one that is used, and another one
TASKS = ("a", "b", "c")  # one that holds a key, and two behind it


class Locks:
    """The map and the locks that there are, as one part of the state; each can be forgotten by itself."""

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
    """A lock map, and which task holds which key."""

    forgets = ("granted",)
    core: Locks = start(Locks)
    # Pairs of a task and the key that it holds, in order of names.
    holding: tuple[tuple[str, str], ...] = start(tuple)
    broken: frozenset[str] = start(frozenset)  # keys whose owner has exited
    # Pairs of a task and the key that the last action granted it; then forgotten.
    granted: tuple[tuple[str, str], ...] = start(tuple)

    # ==== Words that actions and properties use ====

    def waiting(self) -> list[tuple[str, str]]:
        """Return pairs of a task and the key that it waits for; of each key in the order of arrival."""
        return [
            (one.waiter, str(key)) for key, lock in self.core.entries.items() for one in lock.queue
        ]

    def waiting_for(self, key: str) -> list[str]:
        """Return the tasks that wait for a key, in the order of their arrival."""
        return [who for who, its_key in self.waiting() if its_key == key]

    def granted_of(self, key: str) -> list[str]:
        """Return the tasks that the last action granted a key, in this order."""
        return [who for who, its_key in self.granted if its_key == key]

    def note(self, key: str, ended: Iterable[Request[Any]]) -> None:
        """Record the grants among the requests that a transition of this key's lock ended."""
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
        self.note(key, self.core.lock_of(key).owner_exited(who, "its owner has exited"))

    @action(key=lambda spec: [*spec.core.entries], when=lambda spec, key: spec.is_free_to_go(key))
    def forget(self, key: str) -> None:
        self.granted = ()
        del self.core.entries[key]

    def is_free_to_go(self, key: str) -> bool:
        """Return whether no task uses the lock: the map does not keep it, and none waits for it."""
        return key not in self.core.map.held and not self.core.entries[key].queue

    # ==== Where it may end ====

    @terminal
    def every_lock_is_broken(self) -> bool:
        """When the owners of all keys have exited and no task waits, nothing more need happen."""
        return self.broken == {*KEYS} and not self.waiting()

    # ==== Invariants ====

    @invariant
    def one_task_holds_a_key(self) -> bool:
        """No two tasks hold one key, also if its lock was forgotten and made anew."""
        keys = [key for _, key in self.holding]
        return len(keys) == len({*keys})

    @invariant
    def what_is_held_is_kept_and_nothing_else(self) -> bool:
        """The map keeps the locks of the keys that tasks hold, and no others."""
        return {*self.core.map.held} == {key for _, key in self.holding}

    @invariant
    def what_broke_stays_broken(self) -> bool:
        """A lock whose owner has exited is not forgotten, nor exchanged for one that is not broken."""
        return all(
            key in self.core.entries and self.core.entries[key].cause is not None
            for key in self.broken
        )

    @invariant
    def nothing_grantable_waits(self) -> bool:
        """No lost wakeup: a lock that no task holds has no task in its queue (I3)."""
        return all(invariants.nothing_grantable_waits(one) for one in self.core.entries.values())

    # ==== Step properties ====

    @step
    def the_key_decides_which_is_next(self, before: Any) -> bool:
        """First come, first served, for each key: no task is granted it while an older one waits on (I2)."""
        return all(
            invariants.served_in_queue(
                before.waiting_for(key), self.granted_of(key), self.waiting_for(key)
            )
            for key in KEYS
        )

    # ==== Temporal properties ====

    @leads_to(who=TASKS)
    def every_waiter_is_granted(self, who: str) -> tuple[bool, bool]:
        """If keys are released, every task that waits is granted its key eventually, or withdraws, or is ended."""
        waits = any(who in self.waiting_for(key) for key in KEYS)
        return waits, not waits
