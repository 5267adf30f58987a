"""Tokens lent to borrowers, one each."""

from __future__ import annotations

import math
from collections.abc import Coroutine
from dataclasses import dataclass
from typing import Any, final

from trio.lowlevel import Task, current_task, enable_ki_protection

from structsync._core.primitives.capacity_limiter import CapacityLimiterCore
from structsync._runtime import parking
from structsync._runtime.claim import Claim
from structsync._runtime.done import DONE
from structsync._runtime.live import PrimitiveStatistics
from structsync._runtime.primitive import Primitive
from structsync._runtime.request import Request


@final
@dataclass(frozen=True, slots=True)
class CapacityLimiterStatistics(PrimitiveStatistics):
    """The state of a :class:`CapacityLimiter`, for debugging.

    Attributes:
      borrowed_tokens: the tokens that are lent.
      total_tokens: the tokens that exist; fewer than are lent after a decrease.
      borrowers: who holds a token, in the order of their grants.
    """

    borrowed_tokens: int
    total_tokens: float
    borrowers: list[Task | object]


@final
class CapacityLimiter(Primitive[object]):
    """A number of tokens that borrowers, tasks or others, hold one each of.

    A drop-in for :class:`trio.CapacityLimiter`, also for :func:`trio.to_thread.run_sync`. A borrower
    that waits already is refused like one that holds a token; trio's would grant it two and count
    one.

    Fairness: strictly first come, first served. Cancellation: a cancelled acquire has borrowed
    nothing, and lets those behind it in.

    Args:
      total_tokens: an int >= 0, or ``math.inf``. 0 pauses.

    Raises:
      TypeError: if ``total_tokens`` is neither an int nor ``math.inf``.
      ValueError: if it is negative.
    """

    __slots__ = ()
    _core: CapacityLimiterCore

    def __init__(self, total_tokens: float) -> None:
        _check_total(total_tokens)
        super().__init__(CapacityLimiterCore(total_tokens))

    @property
    def total_tokens(self) -> float:
        """The tokens that exist.

        May be assigned. Waiters that an increase makes room for are let in at once; after a decrease
        those that hold a token keep it, and nobody is let in until there is room again.
        """
        return self._core.total_tokens

    @total_tokens.setter
    @enable_ki_protection
    def total_tokens(self, total_tokens: float) -> None:
        _check_total(total_tokens)
        parking.change(self, lambda: self._core.resize(total_tokens))

    @property
    def borrowed_tokens(self) -> int:
        """The tokens that are lent."""
        return len(self._core.borrowers)

    @property
    def available_tokens(self) -> float:
        """The tokens on hand; negative after a decrease below what is lent."""
        return self.total_tokens - self.borrowed_tokens

    @enable_ki_protection
    async def acquire(self) -> None:
        """Borrow a token for the current task, waiting if necessary.

        Raises:
          RuntimeError: if it already holds or waits for one.
          trio.ClosedResourceError: if the limiter is closed, before or meanwhile.
        """
        await parking.acquire(self, current_task())

    @enable_ki_protection
    async def acquire_on_behalf_of(self, borrower: Task | object) -> None:
        """Borrow a token for ``borrower``, a task or any other hashable object.

        Raises:
          RuntimeError: if it already holds or waits for one.
          trio.ClosedResourceError: if the limiter is closed, before or meanwhile.
        """
        await parking.acquire(self, borrower)

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
        """Give back the token of the current task.

        Raises:
          RuntimeError: if it holds none.
        """
        parking.release(self, current_task())

    @enable_ki_protection
    def release_on_behalf_of(self, borrower: Task | object) -> None:
        """Give back the token of ``borrower``.

        Raises:
          RuntimeError: if it holds none.
        """
        parking.release(self, borrower)

    @enable_ki_protection
    def request(self, borrower: Task | object = None) -> Request[object]:
        """Borrow a token, or take a position in the queue for one, now; return the handle.

        Args:
          borrower: who is to hold it, a task or any other hashable object; None: this task.

        Raises:
          RuntimeError, trio.ClosedResourceError: as :meth:`acquire_on_behalf_of`.
        """
        return self._request(current_task() if borrower is None else borrower)

    def claim(self, borrower: Task | object = None) -> Claim:
        """Return a claim on a token, for :func:`acquire_all` and :func:`acquire_any`.

        Args:
          borrower: who is to hold it, a task or any other hashable object; None: the task that
              acquires, whichever made the claim.
        """
        return Claim(self, lambda task: task if borrower is None else borrower)

    def __aenter__(self) -> Coroutine[Any, Any, None]:
        return parking.acquire(self, current_task())

    @enable_ki_protection
    def __aexit__(
        self, kind: object, error: object, traceback: object, /
    ) -> Coroutine[Any, Any, None]:
        parking.release(self, current_task())
        return DONE

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

    def _balance(self) -> int:
        return -self.borrowed_tokens


def _check_total(total_tokens: float) -> None:
    if isinstance(total_tokens, bool) or (
        not isinstance(total_tokens, int) and total_tokens != math.inf
    ):
        raise TypeError("total_tokens must be an int or math.inf")
    if total_tokens < 0:
        raise ValueError("total_tokens must be >= 0")
