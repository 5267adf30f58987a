"""A lock for many readers or one writer."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from types import CoroutineType
from typing import Any, NoReturn, final

from trio.lowlevel import Task, current_task, enable_ki_protection

from structsync._core.primitives.rwlock import (
    READ,
    WRITE,
    Access,
    Mode,
    RWLockCore,
    RWPolicyName,
    make_core,
)
from structsync._runtime import parking, releasing
from structsync._runtime.claim import Claim
from structsync._runtime.done import DONE, coroutine_function
from structsync._runtime.live import PrimitiveStatistics, name_of_claimant
from structsync._runtime.primitive import OwnedPrimitive
from structsync._runtime.request import Request


@final
@dataclass(frozen=True, slots=True)
class RWLockStatistics(PrimitiveStatistics):
    """The state of an :class:`RWLock`, for debugging.

    Attributes:
      writers_waiting: how many of ``tasks_waiting`` want to write.
      writer: the task that holds it for writing, or None.
      readers: the tasks that hold it for reading, in the order in which they entered.
    """

    writers_waiting: int
    writer: Task | None
    readers: tuple[Task, ...]


@final
class RWLock(OwnedPrimitive[Access]):
    """A lock that any number of tasks hold for reading, or one for writing; not reentrant::

        lock = structsync.RWLock()
        async with lock.reading():
            ...                         # others may read too
        async with lock.writing():
            ...                         # alone

    If a task exits while it holds the lock, as a reader or a writer, the lock is broken for good: every
    waiter and every later acquire gets :exc:`trio.BrokenResourceError`, which names that task. Other
    holders may still release it.

    A writer may become a reader, see :meth:`downgrade`. A reader cannot become a writer: two that
    try would wait for each other forever. Release it, acquire it for writing, and read again.

    Fairness: by ``policy``. Cancellation: a cancelled acquire holds nothing, and the requests behind it
    move up: the readers behind a cancelled writer enter in the same step.

    Args:
      policy: which requests go first when both kinds wait.

          * ``"fifo"``: the first arrival. A reader behind a waiting writer waits, readers in a row enter
            together, and no task starves.
          * ``"phase"``: readers and writers take turns. When a writer leaves, all waiting readers
            enter; a reader waits for one writer at most, and no task starves.
          * ``"readers"``: readers. A reader waits only for the current writer; writers may starve.
          * ``"writers"``: writers. A reader waits while any writer waits; readers may starve.
      name: its name in ``repr``, errors, leaks and reports.

    Raises:
      ValueError: if there is no such policy.

    Source: Courtois, Heymans and Parnas 1971; phase-fair: Brandenburg and Anderson 2010.
    """

    __slots__ = ()
    _core: RWLockCore

    def __init__(self, *, policy: RWPolicyName = "fifo", name: str | None = None) -> None:
        super().__init__(make_core(policy), name=name)

    def locked(self) -> bool:
        """Return whether any task holds the lock."""
        return self._core.writer is not None or bool(self._core.readers)

    @enable_ki_protection
    async def acquire_read(self) -> None:
        """Acquire the lock for reading, waiting if necessary.

        Raises:
          RuntimeError: if this task holds the lock, for reading or for writing.
          trio.BrokenResourceError: if a holder ended without releasing.
          trio.ClosedResourceError: if the lock is closed, before or meanwhile.
        """
        await parking.acquire(self, Access(READ, current_task()))

    @enable_ki_protection
    def acquire_read_nowait(self) -> None:
        """Acquire the lock for reading if a request made now would be granted at once.

        Raises:
          trio.WouldBlock: if it would have to wait.
          RuntimeError, trio.BrokenResourceError, trio.ClosedResourceError: as :meth:`acquire_read`.
        """
        parking.acquire_nowait(self, Access(READ, current_task()))

    @enable_ki_protection
    async def acquire_write(self) -> None:
        """Acquire the lock for writing, waiting if necessary.

        Raises:
          RuntimeError: if this task holds the lock; for reading, too: there is no upgrade.
          trio.BrokenResourceError: if a holder ended without releasing.
          trio.ClosedResourceError: if the lock is closed, before or meanwhile.
        """
        await parking.acquire(self, Access(WRITE, current_task()))

    @enable_ki_protection
    def acquire_write_nowait(self) -> None:
        """Acquire the lock for writing if a request made now would be granted at once.

        Raises:
          trio.WouldBlock: if it would have to wait.
          RuntimeError, trio.BrokenResourceError, trio.ClosedResourceError: as
              :meth:`acquire_write`.
        """
        parking.acquire_nowait(self, Access(WRITE, current_task()))

    @enable_ki_protection
    def release(self) -> None:
        """Release the lock, held for reading or for writing, and grant the next requests in the same step.

        Raises:
          RuntimeError: if this task does not hold it.
        """
        task = current_task()
        self._release(self._core.held_by(task) or Access(READ, task))

    @enable_ki_protection
    def downgrade(self) -> None:
        """Turn this task's hold for writing into one for reading, with no other writer in between.

        Readers that may enter now do so in the same step. A :meth:`writing` block that was downgraded
        releases the lock at its end as usual.

        Raises:
          RuntimeError: if this task does not hold the lock for writing.
        """
        task = current_task()
        releasing.change(
            self,
            lambda: self._core.downgrade(task),
            events=(("released", Access(WRITE, task)), ("granted", Access(READ, task))),
        )

    def reading(self) -> Locked:
        """Return an async context manager that holds the lock for reading."""
        return Locked(self, READ)

    def writing(self) -> Locked:
        """Return an async context manager that holds the lock for writing."""
        return Locked(self, WRITE)

    @enable_ki_protection
    def read_request(self) -> Request[Access]:
        """Acquire the lock for reading, or a position in the queue for it, now; return the handle.

        The calling task is the reader, whichever task waits. If it exits first, a pending request is
        withdrawn, and a granted one breaks the lock.

        Raises:
          RuntimeError: if this task holds the lock, or has a live request for it.
          trio.BrokenResourceError, trio.ClosedResourceError: as :meth:`acquire_read`.
        """
        return self._request(Access(READ, current_task()))

    @enable_ki_protection
    def write_request(self) -> Request[Access]:
        """Acquire the lock for writing, or a position in the queue for it; as :meth:`read_request`."""
        return self._request(Access(WRITE, current_task()))

    def read_claim(self) -> Claim[RWLock]:
        """Return a claim to read, for :func:`acquire_all` and :func:`acquire_any`.

        The reader will be the task that acquires, whichever task made the claim.
        """
        return Claim(self, partial(Access, READ))

    def write_claim(self) -> Claim[RWLock]:
        """Return a claim to write; as :meth:`read_claim`."""
        return Claim(self, partial(Access, WRITE))

    @enable_ki_protection
    def _leave(self, claim: Access, owner: Task | None = None) -> None:
        # The body may have downgraded; and where the lock ended under it, it got the error already.
        held = self._core.held_by(claim.claimant)
        if held is not None or self._core.cause is None:
            releasing.release(self, held or claim, owner)

    def statistics(self) -> RWLockStatistics:
        """Return the state of this lock, for debugging."""
        core: Any = self._core
        writers = sum(request.claim.mode is WRITE for request in core.queue)
        return RWLockStatistics(len(core.queue), writers, core.writer, tuple(core.readers))

    def _describe(self) -> str:
        core = self._core
        if core.writer is not None:
            return f"written by {core.writer!r}"
        return f"read by {', '.join(map(repr, core.readers))}" if core.readers else "unlocked"

    def _details_of(self, claim: Access) -> dict[str, object]:
        return {"mode": claim.mode.value, "owner": name_of_claimant(claim.claimant)}

    def _balance(self) -> int:
        return -len(self._core.readers) - (self._core.writer is not None)


@final
class Locked:
    """An async context manager that holds an :class:`RWLock`; usable again, by any task."""

    __slots__ = ("_lock", "_mode")

    def __init__(self, lock: RWLock, mode: Mode) -> None:
        self._lock = lock
        self._mode = mode

    def __bool__(self) -> NoReturn:
        raise TypeError(
            "this is a block for `async with`, and no answer: locked() returns whether any task holds the "
            "lock, and statistics() which"
        )

    @enable_ki_protection
    @coroutine_function
    async def __aenter__(self) -> None:
        await parking.acquire(self._lock, Access(self._mode, current_task()))

    @enable_ki_protection
    def __aexit__(
        self, kind: object, error: object, traceback: object, /
    ) -> CoroutineType[Any, Any, None]:
        self._lock.release()
        return DONE
