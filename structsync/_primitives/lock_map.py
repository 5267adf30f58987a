"""A lock for each key."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar, cast, final
from weakref import WeakValueDictionary

from trio.lowlevel import enable_ki_protection

from structsync._core.primitives.lock_map import LockMapCore
from structsync._runtime.claim import Claim
from structsync._runtime.live import PrimitiveStatistics, decide_by
from structsync._runtime.primitive import Primitive
from structsync._runtime.runs import transitions_of

from .lock import Lock

K = TypeVar("K", bound=Hashable)


@final
@dataclass(frozen=True, slots=True)
class LockMapStatistics(PrimitiveStatistics):
    """The state of a :class:`LockMap`, for debugging.

    Attributes:
      locks_held: how many keys are locked.
    """

    locks_held: int


@final
class LockMap(Primitive[Hashable], Generic[K]):
    """A :class:`Lock` for each key, for as long as a task uses it.

    ``locks[key]`` is the lock of a key. It is made at its first use, and dropped after its last: nothing is
    kept for a key that no task holds or waits for::

        locks = structsync.LockMap[str]()
        async with locks[account]:
            ...

        async with structsync.acquire_all(locks.claim(source), locks.claim(target)):
            ...

    As long as a task holds the lock of a key, waits for it or refers to it, ``locks[key]`` is that very
    lock. It belongs to the task that acquired it; if that task exits without releasing, the lock is broken
    for good, and stays in the map.

    Keys are compared like those of a dict. ``len(locks)``, ``key in locks`` and iteration cover the keys
    that are locked now.

    A scope that owns the map closes it, and reports the keys that are locked then.

    Fairness: strictly first come, first served, for each key. Cancellation: a cancelled acquire does not
    own the lock, and the requests behind it move up.

    Args:
      name: what it is called in its ``repr``; its locks are called ``name[key]``.

    Raises:
      TypeError: if ``name`` is not a str; and where a key is not hashable.

    Source: Guava's ``Striped`` and ``Interner``, with one lock for each key and none between keys.
    """

    __slots__ = ("_locks",)
    _core: LockMapCore
    _locks: WeakValueDictionary[Hashable, Lock]

    def __init__(self, *, name: str | None = None) -> None:
        self._locks = WeakValueDictionary()
        super().__init__(LockMapCore(self._locks), name=name)

    @enable_ki_protection
    def __getitem__(self, key: K) -> Lock:
        """Return the lock of a key: the one that is in use, or a new one.

        Raises:
          TypeError: if the key is not hashable.
        """
        lock = self._locks.get(key)
        if lock is not None:
            return lock
        name = None if self._name is None else f"{self._name}[{key!r}]"
        lock = Lock(name=name)
        decide_by(lock, self._core.new_lock(key))
        if self._core.cause is not None:
            lock._end(self._core.cause)
        # A finalizer may have asked for the same key in between, and a task may have its lock.
        return self._locks.setdefault(key, lock)

    def claim(self, key: K) -> Claim[Lock]:
        """Return a claim on the lock of a key, for :func:`acquire_all` and :func:`acquire_any`."""
        return self[key].claim()

    def __len__(self) -> int:
        return len(self._core.held)

    def __contains__(self, key: object) -> bool:
        return key in self._core.held

    def __iter__(self) -> Iterator[K]:
        return iter([cast(K, key) for key in self._core.held])

    @enable_ki_protection
    def close(self) -> None:
        """Close the locks of all keys for good, future ones included.

        Waiters and later acquires get :exc:`trio.ClosedResourceError`; releasing still works.
        Idempotent.

        Raises:
          RuntimeError: if another trio run uses one of the locks now; nothing is closed then.
        """
        super().close()

    def _end(self, cause: Hashable) -> None:
        locks = [*self._locks.values()]
        for lock in locks:
            transitions_of(lock)  # before anything is closed
        super()._end(cause)
        for lock in locks:
            lock._end(cause)

    def statistics(self) -> LockMapStatistics:
        """Return the state of this map, for debugging."""
        # A waiter waits for a task that holds.
        waiting = sum(len(lock._core.queue) for lock in self._core.held.values())
        return LockMapStatistics(waiting, len(self._core.held))

    def _describe(self) -> str:
        numbers = self.statistics()
        return f"{numbers.locks_held} locked, {numbers.tasks_waiting} waiting"

    def _balance(self) -> int:
        return -len(self._core.held)

    def _parts_held(self) -> dict[tuple[Hashable, Hashable], Lock]:
        return {(key, lock._core.owner): lock for key, lock in self._core.held.items()}

    def __repr__(self) -> str:
        closed = ", closed" if self.closed else ""
        return f"<{self._title()} at {id(self):#x}: {self._describe()}{closed}>"
