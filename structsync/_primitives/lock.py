"""A mutual-exclusion lock with an owner."""

from __future__ import annotations

from dataclasses import dataclass
from types import CoroutineType
from typing import TYPE_CHECKING, Any, final

from trio.lowlevel import Task, current_task, enable_ki_protection

from structsync._core.primitives.lock import LockCore
from structsync._core.queue.policy import PolicyName
from structsync._runtime import parking, releasing
from structsync._runtime.arguments import check_priority
from structsync._runtime.claim import Claim
from structsync._runtime.done import DONE
from structsync._runtime.live import PrimitiveStatistics, name_of_claimant
from structsync._runtime.primitive import CheckpointMode, OwnedPrimitive
from structsync._runtime.releasing import leave
from structsync._runtime.request import Request


@final
@dataclass(frozen=True, slots=True)
class LockStatistics(PrimitiveStatistics):
    """The state of a :class:`Lock`, for debugging.

    Attributes:
      locked: whether it is held.
      owner: the task that holds it, or None.
    """

    locked: bool
    owner: Task | None


@final
class Lock(OwnedPrimitive[Task]):
    """A lock that one task owns at a time; not reentrant.

    A drop-in for :class:`trio.Lock`. Releasing hands it straight to the next request in the queue, so no
    task can slip in between. If the owner exits without releasing, the lock is broken for good: every
    waiter (of its conditions, too) and every later acquire gets :exc:`trio.BrokenResourceError`, which
    names that task.

    Fairness: strictly first come, first served; ``policy="priority"`` serves the smaller number
    first. Cancellation: a cancelled acquire does not own the lock, and the requests behind it move up.

    Args:
      policy: ``"fifo"`` or ``"priority"`` (``"eligible"`` is the same as ``"fifo"`` here).
      ageing: with ``"priority"``, a request is ranked by its arrival + ``ageing`` x priority, so
          that fewer than ``ageing`` later arrivals per level may overtake; None for strict levels.
      checkpoint: ``"always"`` or ``"budget"``, see :class:`Primitive`.
      name: its name in ``repr``, errors, leaks and reports.

    Raises:
      ValueError: if a name is unknown.

    Source: Moura 2004 (binary semaphore); trio #3035 (owner that exits).
    """

    __slots__ = ()
    _core: LockCore

    def __init__(
        self,
        *,
        policy: PolicyName = "fifo",
        ageing: int | None = 100,
        checkpoint: CheckpointMode = "always",
        name: str | None = None,
    ) -> None:
        core = LockCore(policy=policy, ageing=ageing)
        super().__init__(core, checkpoint=checkpoint, name=name)

    def locked(self) -> bool:
        """Return whether the lock is held."""
        return self._core.owner is not None

    @enable_ki_protection
    async def acquire(self, *, priority: int = 0) -> None:
        """Acquire the lock, waiting if necessary.

        Raises:
          RuntimeError: if this task owns it, or has a live :meth:`request` for it.
          TypeError, ValueError: if ``priority`` is not an int, or the policy has none.
          trio.BrokenResourceError: if its owner ended without releasing.
          trio.ClosedResourceError: if the lock is closed, before or meanwhile.
        """
        check_priority(priority, self._core)
        await parking.acquire(self, current_task(), priority)

    @enable_ki_protection
    def acquire_nowait(self) -> None:
        """Acquire the lock if it is free.

        Raises:
          trio.WouldBlock: if a task holds it.
          RuntimeError, trio.BrokenResourceError, trio.ClosedResourceError: as :meth:`acquire`.
        """
        parking.acquire_nowait(self, current_task())

    @enable_ki_protection
    def release(self) -> None:
        """Release the lock and hand it to the next in the queue, in one step.

        Raises:
          RuntimeError: if this task does not own it.
        """
        self._release(current_task())

    @enable_ki_protection
    def request(self, *, priority: int = 0) -> Request[Task]:
        """Acquire the lock, or a position in the queue for it, now; return the handle.

        The calling task is the owner, whichever task waits. If it exits first, a pending request is
        withdrawn, and a granted one breaks the lock.

        Raises:
          RuntimeError: if this task owns the lock or has a live request for it.
          TypeError, ValueError, trio.BrokenResourceError, trio.ClosedResourceError: as
              :meth:`acquire`.
        """
        check_priority(priority, self._core)
        return self._request(current_task(), priority=priority)

    def claim(self) -> Claim[Lock]:
        """Return a claim on the lock, for :func:`acquire_all` and :func:`acquire_any`.

        The owner will be the task that acquires, whichever task made the claim.
        """
        return Claim(self, lambda task: task)

    if TYPE_CHECKING:

        def __aenter__(self) -> CoroutineType[Any, Any, None]: ...

    else:  # as in Semaphore: a call of ours around it would be a fiftieth of a hand-over
        __aenter__ = parking.enter_as_task

    @enable_ki_protection
    def __aexit__(
        self, kind: object, error: object, traceback: object, /
    ) -> CoroutineType[Any, Any, None]:
        # A call less than below, which matters only once the lock has ended.
        if self._core.cause is None:
            return leave(self, None, None, None, current_task())
        self._leave(current_task())
        return DONE

    @enable_ki_protection
    def _leave(self, claim: Task, owner: Task | None = None) -> None:
        # Where the lock ended under a wait on a condition, the body got the error already; a
        # second one from here would hide the first.
        if self._core.cause is None or self._core.owner is claim:
            releasing.release(self, claim, owner)

    def statistics(self) -> LockStatistics:
        """Return the state of this lock, for debugging."""
        owner: Any = self._core.owner
        return LockStatistics(len(self._core.queue), self.locked(), owner)

    def _describe(self) -> str:
        return f"locked by {self._core.owner!r}" if self.locked() else "unlocked"

    def _details_of(self, claim: Task) -> dict[str, object]:
        return {"owner": name_of_claimant(claim)}

    def _balance(self) -> int:
        return -1 if self.locked() else 0
