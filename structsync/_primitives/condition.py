"""A condition variable that cannot lose a notification."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from functools import partial
from types import CoroutineType
from typing import Any, TypeVar, final

from trio.lowlevel import (
    Task,
    checkpoint_if_cancelled,
    current_task,
    enable_ki_protection,
)

from structsync._core.primitives.condition import ConditionCore
from structsync._runtime import parking_together, releasing
from structsync._runtime.arguments import check_count, check_sync
from structsync._runtime.live import PrimitiveStatistics, everywhere, name_of_claimant
from structsync._runtime.predicate import wait_for
from structsync._runtime.primitive import Primitive

from .lock import Lock, LockStatistics

T = TypeVar("T")


@final
@dataclass(frozen=True, slots=True)
class ConditionStatistics(PrimitiveStatistics):
    """The state of a :class:`Condition`, for debugging; ``tasks_waiting`` counts the un-notified.

    Attributes:
      lock_statistics: the state of its lock; notified waiters are counted there.
    """

    lock_statistics: LockStatistics


@final
class Condition(Primitive[Task]):
    """Tasks that own a lock wait here until another owner notifies them.

    A drop-in for :class:`trio.Condition`, with two differences. A notification is not lost when the task
    that it woke is cancelled before it owns the lock again: the next waiter gets it in the same step. And
    if an owner of the lock exits without releasing it, the waiters here get the error, too, even if several
    conditions share the lock.

    Mesa discipline: between ``notify`` and the end of ``wait`` others may own the lock, so test the
    predicate again, or use :meth:`wait_for`.

    Fairness: the oldest waiters are notified first and join the lock's queue at its end.
    Cancellation: a cancelled wait owns the lock again when it raises, so it waits for the lock,
    uncancellably. A task that holds the lock and waits for a cancelled waiter therefore deadlocks;
    so it does with every condition that has a lock (trio #1082).

    Args:
      lock: a :class:`Lock`, or None for a new one.
      name: its name in ``repr``, errors, leaks and reports.

    Raises:
      TypeError: if ``lock`` is anything else.

    Source: Moura 2004; trio.Condition; the hand-over is that of CPython gh-112202.
    """

    __slots__ = ("_lock",)
    _core: ConditionCore

    def __init__(self, lock: Lock | None = None, *, name: str | None = None) -> None:
        if lock is None:
            lock = Lock()
        if type(lock) is not Lock:
            raise TypeError(f"lock must be a structsync.Lock, not {lock!r}")
        self._lock = lock
        super().__init__(ConditionCore(lock._core), name=name)

    @property
    def closed(self) -> bool:
        """Whether it, or its lock, is closed."""
        return super().closed or self._lock.closed

    @property
    def broken(self) -> bool:
        """Whether an owner of its lock exited without releasing it."""
        return self._lock.broken

    def locked(self) -> bool:
        """Return whether the lock is held."""
        return self._lock.locked()

    @enable_ki_protection
    async def acquire(self) -> None:
        """Acquire the lock, waiting if necessary; see :meth:`Lock.acquire`."""
        await self._lock.acquire()

    @enable_ki_protection
    def acquire_nowait(self) -> None:
        """Acquire the lock if it is free; see :meth:`Lock.acquire_nowait`."""
        self._lock.acquire_nowait()

    @enable_ki_protection
    def release(self) -> None:
        """Release the lock; see :meth:`Lock.release`."""
        self._lock.release()

    @enable_ki_protection
    def __aenter__(self) -> CoroutineType[Any, Any, None]:
        return self._lock.__aenter__()

    @enable_ki_protection  # an interrupt before the lock's own exit would leave the lock held
    def __aexit__(
        self, kind: object, error: object, traceback: object, /
    ) -> CoroutineType[Any, Any, None]:
        return self._lock.__aexit__(kind, error, traceback)

    @enable_ki_protection
    async def wait(self) -> None:
        """Release the lock, wait for a notification, and own the lock again.

        Raises:
          RuntimeError: if this task does not own the lock.
          trio.ClosedResourceError: if the condition is closed, before or meanwhile, or the lock
              is. The lock is owned then, unless it was closed meanwhile.
          trio.BrokenResourceError: if an owner of the lock ended without releasing; the lock is not
              owned then.
        """
        task = current_task()
        self._core.refuse_unless_owner(task, "wait")
        await checkpoint_if_cancelled()
        await parking_together.wait_notified(self, self._lock, task)

    @enable_ki_protection
    async def wait_for(self, predicate: Callable[[], T]) -> T:
        """Wait until ``predicate()`` is true, testing it now and after each notification.

        Returns:
          The value of the predicate that was true.

        Raises:
          TypeError: if the predicate is not a sync function.
          Exception: what the predicate raises; the lock is owned then.
          RuntimeError, trio.ClosedResourceError, trio.BrokenResourceError: as :meth:`wait`; and
              RuntimeError in a predicate that changes a primitive.
        """
        check_sync(predicate, "predicate")
        self._core.refuse_unless_owner(current_task(), "wait")
        return await wait_for(self.wait, predicate)

    @enable_ki_protection
    def notify(self, n: int = 1) -> None:
        """Notify the ``n`` oldest waiters, or all if there are fewer.

        They move to the end of the lock's queue and wait there for the lock.

        Raises:
          RuntimeError: if this task does not own the lock.
          TypeError, ValueError: if ``n`` is not an int >= 0.
        """
        check_count(n, "n", least=0)
        self._notify(n)

    @enable_ki_protection
    def notify_all(self) -> None:
        """Notify all waiters.

        Raises:
          RuntimeError: if this task does not own the lock.
        """
        self._notify(None)

    def _notify(self, n: int | None) -> None:
        self._core.refuse_unless_owner(current_task(), "notify")
        change = partial(self._core.notify, n)
        releasing.change(self, change, events=(("changed", ("notify", n)),))

    def statistics(self) -> ConditionStatistics:
        """Return the state of this condition and its lock, for debugging."""
        return ConditionStatistics(len(self._core.queue), self._lock.statistics())

    def _describe(self) -> str:
        return f"on {self._lock!r}"

    def _end(self, cause: Hashable) -> None:
        # Its waiters go on to the lock's queue, and it is the lock that may let one in.
        releasing.change(self, lambda: self._core.end(cause), wakes=self._lock)

    def _details_of(self, claim: Task) -> dict[str, object]:
        return {"owner": name_of_claimant(claim)}

    def _balance(self) -> int:
        # Where a scope owns the lock too, the lock answers for itself.
        return self._lock._balance() if self._lock._observers is everywhere else 0
