"""Tokens lent to borrowers, one each."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from types import CoroutineType
from typing import TYPE_CHECKING, Any, final

from trio.lowlevel import Task, current_task, enable_ki_protection

from structsync._core.primitives.capacity_limiter import CapacityLimiterCore
from structsync._core.queue.policy import PolicyName
from structsync._runtime import parking, releasing
from structsync._runtime.arguments import check_priority
from structsync._runtime.claim import Claim
from structsync._runtime.live import PrimitiveStatistics, name_of_claimant
from structsync._runtime.primitive import Primitive
from structsync._runtime.request import Request


@final
@dataclass(frozen=True, slots=True)
class CapacityLimiterStatistics(PrimitiveStatistics):
    """The state of a :class:`CapacityLimiter`, for debugging.

    Attributes:
      borrowed_tokens: the tokens that are lent.
      total_tokens: the tokens that exist; fewer than are lent after a decrease.
      borrowers: the holders of tokens, in the order of their grants.
    """

    borrowed_tokens: int
    total_tokens: float
    borrowers: list[Task | object]


@final
class CapacityLimiter(Primitive[object]):
    """A number of tokens, of which each borrower, a task or any other object, holds at most one.

    A drop-in for :class:`trio.CapacityLimiter`, also for :func:`trio.to_thread.run_sync`. A borrower that
    already waits is refused, like one that holds a token; trio's limiter would grant it two and count one.

    Fairness: strictly first come, first served; ``policy="priority"`` serves the smaller number
    first. Cancellation: a cancelled acquire has borrowed
    nothing, and the requests behind it move up.

    Args:
      total_tokens: an int >= 0, or ``math.inf``. 0 pauses.
      policy: ``"fifo"`` or ``"priority"`` (``"eligible"`` is the same as ``"fifo"`` here).
      ageing: with ``"priority"``, a request is ranked by its arrival + ``ageing`` x priority, so
          that fewer than ``ageing`` later arrivals per level may overtake; None for strict levels.
      name: its name in ``repr``, errors, leaks and reports.

    Raises:
      TypeError: if ``total_tokens`` is neither an int nor ``math.inf``.
      ValueError: if it is negative, or a name is unknown.
    """

    __slots__ = ()
    _core: CapacityLimiterCore

    def __init__(
        self,
        total_tokens: float,
        *,
        policy: PolicyName = "fifo",
        ageing: int | None = 100,
        name: str | None = None,
    ) -> None:
        _check_total(total_tokens)
        core = CapacityLimiterCore(total_tokens, policy=policy, ageing=ageing)
        super().__init__(core, name=name)

    @property
    def total_tokens(self) -> float:
        """The tokens that exist.

        May be assigned. After an increase, waiters that now fit are granted tokens at once; after a
        decrease, borrowers keep their tokens, and nothing is granted until there is room again.
        """
        return self._core.total_tokens

    @total_tokens.setter
    @enable_ki_protection
    def total_tokens(self, total_tokens: float) -> None:
        _check_total(total_tokens)
        change = partial(self._core.resize, total_tokens)
        releasing.change(self, change, events=(("changed", ("total_tokens", total_tokens)),))

    @property
    def borrowed_tokens(self) -> int:
        """The tokens that are lent."""
        return len(self._core.borrowers)

    @property
    def available_tokens(self) -> float:
        """The tokens on hand; negative after a decrease below what is lent."""
        return self.total_tokens - self.borrowed_tokens

    @enable_ki_protection
    async def acquire(self, *, priority: int = 0) -> None:
        """Borrow a token for the current task, waiting if necessary.

        Raises:
          RuntimeError: if it already holds or waits for one.
          TypeError, ValueError: if ``priority`` is not an int, or the policy has none.
          trio.ClosedResourceError: if the limiter is closed, before or meanwhile.
        """
        check_priority(priority, self._core)
        await parking.acquire(self, current_task(), priority)

    @enable_ki_protection
    async def acquire_on_behalf_of(self, borrower: Task | object, *, priority: int = 0) -> None:
        """Borrow a token for ``borrower``, a task or any other hashable object.

        Raises:
          RuntimeError: if it already holds or waits for one.
          TypeError, ValueError: if ``priority`` is not an int, or the policy has none.
          trio.ClosedResourceError: if the limiter is closed, before or meanwhile.
        """
        check_priority(priority, self._core)
        await parking.acquire(self, borrower, priority)

    @enable_ki_protection
    def acquire_nowait(self) -> None:
        """Borrow a token for the current task if it would get one at once.

        Raises:
          trio.WouldBlock: if it would have to wait.
          RuntimeError, trio.ClosedResourceError: as :meth:`acquire`.
        """
        parking.acquire_nowait(self, current_task())

    @enable_ki_protection
    def acquire_on_behalf_of_nowait(self, borrower: Task | object) -> None:
        """Borrow a token for ``borrower`` if it would get one at once.

        Raises:
          trio.WouldBlock: if it would have to wait.
          RuntimeError, trio.ClosedResourceError: as :meth:`acquire_on_behalf_of`.
        """
        parking.acquire_nowait(self, borrower)

    @enable_ki_protection
    def release(self) -> None:
        """Release the token of the current task.

        Raises:
          RuntimeError: if it holds none.
        """
        releasing.release(self, current_task())

    @enable_ki_protection
    def release_on_behalf_of(self, borrower: Task | object) -> None:
        """Release the token of ``borrower``.

        Raises:
          RuntimeError: if it holds none.
        """
        releasing.release(self, borrower)

    @enable_ki_protection
    def request(self, borrower: Task | object = None, *, priority: int = 0) -> Request[object]:
        """Borrow a token, or take a position in the queue for one, now; return the handle.

        Args:
          borrower: what will hold it, a task or any other hashable object; None: this task.

        Raises:
          RuntimeError, TypeError, ValueError, trio.ClosedResourceError: as
              :meth:`acquire_on_behalf_of`.
        """
        check_priority(priority, self._core)
        return self._request(current_task() if borrower is None else borrower, priority=priority)

    def claim(self, borrower: Task | object = None) -> Claim[CapacityLimiter]:
        """Return a claim on a token, for :func:`acquire_all` and :func:`acquire_any`.

        Args:
          borrower: what will hold it, a task or any other hashable object; None: the task that
              acquires, whichever made the claim.
        """
        return Claim(self, lambda task: task if borrower is None else borrower)

    if TYPE_CHECKING:

        def __aenter__(self) -> CoroutineType[Any, Any, None]: ...

    else:  # as in Lock
        __aenter__ = parking.enter_as_task

    @enable_ki_protection
    def __aexit__(
        self, kind: object, error: object, traceback: object, /
    ) -> CoroutineType[Any, Any, None]:
        return releasing.leave(self, None, None, None, current_task())

    def statistics(self) -> CapacityLimiterStatistics:
        """Return the state of this limiter, for debugging."""
        core = self._core
        return CapacityLimiterStatistics(
            tasks_waiting=len(core.queue),
            borrowed_tokens=self.borrowed_tokens,
            total_tokens=core.total_tokens,
            borrowers=list(core.borrowers),
        )

    def _describe(self) -> str:
        return f"{self.borrowed_tokens}/{self.total_tokens}"

    def _details_of(self, claim: object) -> dict[str, object]:
        return {"borrower": name_of_claimant(claim)}

    def _balance(self) -> int:
        return -self.borrowed_tokens


def _check_total(total_tokens: float) -> None:
    if isinstance(total_tokens, bool) or (
        not isinstance(total_tokens, int) and total_tokens != math.inf
    ):
        raise TypeError("total_tokens must be an int or math.inf")
    if total_tokens < 0:
        raise ValueError("total_tokens must be >= 0")
