"""A counting semaphore: several permits at once, fair and cancellable."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from types import CoroutineType
from typing import TYPE_CHECKING, Any, final

from trio.lowlevel import enable_ki_protection

from structsync._core.primitives.semaphore import SemaphoreCore
from structsync._core.queue.policy import PolicyName
from structsync._runtime import parking, releasing
from structsync._runtime.arguments import check_count, check_priority
from structsync._runtime.claim import Claim
from structsync._runtime.live import PrimitiveStatistics
from structsync._runtime.primitive import CheckpointMode, Held, Primitive
from structsync._runtime.request import Request


@final
@dataclass(frozen=True, slots=True)
class SemaphoreStatistics(PrimitiveStatistics):
    """The state of a :class:`Semaphore`, for debugging.

    Attributes:
      value: the permits on hand.
      max_value: the permits that exist, or None if unbounded.
    """

    value: int
    max_value: int | None


@final
class Semaphore(Primitive[int]):
    """A number of permits that tasks take and release, several at a time.

    A drop-in for :class:`trio.Semaphore`. An acquire is all or nothing: it waits until *all* of its permits
    are available. As an async context manager it takes one permit; ``permits(n)`` takes n::

        semaphore = structsync.Semaphore(10, max_value=10)
        async with semaphore.permits(3):
            ...

    Fairness: strictly first come, first served by default, so a large claim at the head blocks small ones
    behind it, and is never starved by them. ``policy="priority"`` serves the smaller number first;
    ``policy="eligible"`` the oldest claim that fits, which may starve large ones. Cancellation: a cancelled
    acquire has taken nothing, and the requests behind it move up.

    Args:
      initial_value: the permits on hand at the start, an int >= 0.
      max_value: the permits that exist, an int >= ``initial_value``; a release above it is refused.
          None: unbounded, for signalling.
      policy: ``"fifo"``, ``"priority"`` or ``"eligible"``.
      ageing: with ``"priority"``, a request is ranked by its arrival + ``ageing`` x priority, so
          that fewer than ``ageing`` later arrivals per level may overtake; None for strict levels.
      checkpoint: ``"always"`` or ``"budget"``, see :class:`Primitive`.
      name: its name in ``repr``, errors, leaks and reports.

    Raises:
      TypeError: if a number is not an int.
      ValueError: if a number is out of range or a name is unknown.

    Source: Dijkstra 1965 (P and V); Martins 2020 (several permits, FIFO); Go's ``semaphore.Weighted``.
    """

    __slots__ = ()
    _core: SemaphoreCore

    def __init__(
        self,
        initial_value: int,
        *,
        max_value: int | None = None,
        policy: PolicyName = "fifo",
        ageing: int | None = 100,
        checkpoint: CheckpointMode = "always",
        name: str | None = None,
    ) -> None:
        for value, what in ((initial_value, "initial_value"), (max_value, "max_value")):
            absent = value is None and what == "max_value"
            if not absent and (isinstance(value, bool) or not isinstance(value, int)):
                raise TypeError(f"{what} must be an int, not {value!r}")
        # The two messages are trio's, typo included: its tests pin them.
        if initial_value < 0:
            raise ValueError("initial value must be >= 0")
        if max_value is not None and max_value < initial_value:
            raise ValueError("max_values must be >= initial_value")
        core = SemaphoreCore(initial_value, max_value=max_value, policy=policy, ageing=ageing)
        super().__init__(core, checkpoint=checkpoint, name=name)

    @property
    def value(self) -> int:
        """The permits on hand; negative after a :meth:`resize` to less than is in use."""
        return self._core.value

    @property
    def max_value(self) -> int | None:
        """The permits that exist, or None if unbounded."""
        return self._core.max_value

    @enable_ki_protection
    async def acquire(self, n: int = 1, *, priority: int = 0) -> None:
        """Take ``n`` permits, waiting for all of them if necessary.

        Raises:
          TypeError: if ``n`` or ``priority`` is not an int.
          ValueError: if ``n`` is less than 1, or more than this semaphore ever had; or ``priority``
              is given without ``policy="priority"``.
          trio.ClosedResourceError: if the semaphore is closed, before or meanwhile.
        """
        check_count(n, "n")
        check_priority(priority, self._core)
        await parking.acquire(self, n, priority)

    @enable_ki_protection
    def acquire_nowait(self, n: int = 1) -> None:
        """Take ``n`` permits if a request made now would be granted at once.

        Raises:
          trio.WouldBlock: if it would have to wait.
          TypeError, ValueError, trio.ClosedResourceError: as :meth:`acquire`.
        """
        check_count(n, "n")
        parking.acquire_nowait(self, n)

    @enable_ki_protection
    def release(self, n: int = 1) -> None:
        """Release ``n`` permits, and grant the next requests that fit in the same step.

        Raises:
          TypeError: if ``n`` is not an int.
          ValueError: if ``n`` is less than 1, or a bounded semaphore would exceed ``max_value``.
        """
        check_count(n, "n")
        releasing.release(self, n)

    def permits(self, n: int = 1, *, priority: int = 0) -> Held[int]:
        """Return an async context manager that holds ``n`` permits.

        Raises:
          TypeError, ValueError: as :meth:`acquire`; what can never be granted is refused on entry.
        """
        check_count(n, "n")
        check_priority(priority, self._core)
        return Held(self, n, priority)

    @enable_ki_protection
    def request(self, n: int = 1, *, priority: int = 0) -> Request[int]:
        """Take ``n`` permits, or a position in the queue for them, now; return the handle.

        Raises:
          TypeError, ValueError, trio.ClosedResourceError: as :meth:`acquire`.
        """
        check_count(n, "n")
        check_priority(priority, self._core)
        return self._request(n, priority=priority)

    def claim(self, n: int = 1) -> Claim[Semaphore]:
        """Return a claim on ``n`` permits, for :func:`acquire_all` and :func:`acquire_any`.

        Raises:
          TypeError: if ``n`` is not an int.
          ValueError: if ``n`` is less than 1; what can never be granted is refused on entry.
        """
        check_count(n, "n")
        return self._claim(n)

    @enable_ki_protection
    def resize(self, max_value: int) -> None:
        """Change how many permits exist.

        Permits in use remain in use, so ``value`` may become negative; waiters that fit are granted. Queued
        claims survive a shrink, and wait until the semaphore grows again.

        Raises:
          TypeError: if ``max_value`` is not an int.
          ValueError: if it is negative, or the semaphore is unbounded.
        """
        check_count(max_value, "max_value", least=0)
        change = partial(self._core.resize, max_value)
        releasing.change(self, change, events=(("changed", ("resize", max_value)),))

    if TYPE_CHECKING:

        def __aenter__(self) -> CoroutineType[Any, Any, None]: ...

        def __aexit__(
            self, kind: object, error: object, traceback: object, /
        ) -> CoroutineType[Any, Any, None]: ...

    else:  # a call of ours around them would be a fortieth of a hand-over
        __aenter__ = parking.enter
        __aexit__ = releasing.leave

    def statistics(self) -> SemaphoreStatistics:
        """Return the state of this semaphore, for debugging."""
        return SemaphoreStatistics(len(self._core.queue), self.value, self.max_value)

    def _describe(self) -> str:
        bound = "" if self.max_value is None else f"/{self.max_value}"
        return f"value {self.value}{bound}"

    def _details_of(self, claim: int) -> dict[str, object]:
        return {"n": claim}

    def _units(self, claim: int) -> int:
        return claim

    def _balance(self) -> int:
        return self.value - (self.max_value or 0)
