"""A lock for each key."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Generic, NoReturn, TypeVar, cast, final
from weakref import WeakValueDictionary

from trio.lowlevel import enable_ki_protection

from structsync._core.primitives.lock_map import LockMapCore
from structsync._runtime.arguments import check_name
from structsync._runtime.claim import Claim
from structsync._runtime.live import PrimitiveStatistics
from structsync._runtime.primitive import Primitive

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
class LockMap(Generic[K]):
    """A :class:`Lock` for each key, for as long as a task uses it.

    ``locks[key]`` is the lock of a key. It is made when it is first asked for, and forgotten with its last
    user: nothing is left of a key that nobody holds and nobody waits for::

        locks = structsync.LockMap[str]()
        async with locks[account]:
            ...

        async with structsync.acquire_all(locks.claim(source), locks.claim(target)):
            ...

    As long as anybody has the lock of a key, holds it or waits for it, ``locks[key]`` is that very lock. It
    belongs to the task that acquired it; if that ends without releasing, it is broken for good, and
    stays in the map.

    Keys are compared as those of a dict are. ``len(locks)``, ``key in locks`` and iteration are about the
    keys that are locked now.

    Fairness: strictly first come, first served, for each key. Cancellation: a cancelled acquire does not
    own the lock, and lets those behind it in.

    Args:
      name: what it is called in its ``repr``; its locks are called ``name[key]``.

    Raises:
      TypeError: if ``name`` is not a str; and where a key is not hashable.

    Source: Guava's ``Striped`` and ``Interner``, with one lock for each key and none between keys.
    """

    __slots__ = ("__weakref__", "_closed", "_core", "_locks", "_name")

    _closed: bool
    _core: LockMapCore
    _locks: WeakValueDictionary[Hashable, Lock]
    _name: str | None

    def __init__(self, *, name: str | None = None) -> None:
        self._name = check_name(name)
        self._locks = WeakValueDictionary()
        self._core = LockMapCore(self._locks)
        self._closed = False

    @property
    def name(self) -> str | None:
        """What it is called in its ``repr``, or None."""
        return self._name

    @property
    def closed(self) -> bool:
        """Whether it is closed, for good."""
        return self._closed

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
        lock._core = self._core.new_lock(key)
        if self._closed:
            Primitive.close(lock)
        # A finalizer may have asked for the same key in between, and a task may have its lock.
        return self._locks.setdefault(key, lock)

    def claim(self, key: K) -> Claim:
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
        """Close the locks of all keys for good.

        Waiters and later acquires get :exc:`trio.ClosedResourceError`; releasing still works.
        Idempotent.

        Raises:
          RuntimeError: if another trio run uses one of the locks now; the others are closed.
        """
        self._closed = True
        with ExitStack() as stack:  # if one cannot be closed, the others still are
            for lock in [*self._locks.values()]:
                stack.callback(Primitive.close, lock)

    def statistics(self) -> LockMapStatistics:
        """Return the state of this map, for debugging."""
        # Who waits waits for a task that holds.
        waiting = sum(len(lock._core.queue) for lock in self._core.held.values())
        return LockMapStatistics(waiting, len(self._core.held))

    def __init_subclass__(cls) -> NoReturn:
        raise TypeError("LockMap is final; keep a private one inside your class")

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError("a LockMap cannot be copied or pickled: share the object itself")

    def __repr__(self) -> str:
        name = "" if self._name is None else f" {self._name!r}"
        numbers = self.statistics()
        words = [f"{numbers.locks_held} locked", f"{numbers.tasks_waiting} waiting"]
        words += ["closed"] if self._closed else []
        return f"<LockMap{name} at {id(self):#x}: {', '.join(words)}>"
