"""So many permits in a time, given out fairly."""

from __future__ import annotations

import sys
from collections.abc import Hashable
from dataclasses import dataclass
from typing import NoReturn, final

import trio
from trio.lowlevel import enable_ki_protection

from structsync._core.primitives.rate_limiter import RateLimiterCore
from structsync._core.queue.request import Request as CoreRequest
from structsync._core.queue.request import Status
from structsync._runtime import parking_in_time
from structsync._runtime.arguments import check_count
from structsync._runtime.live import PrimitiveStatistics
from structsync._runtime.primitive import Primitive
from structsync._runtime.request import Request


@final
@dataclass(frozen=True, slots=True)
class RateLimiterStatistics(PrimitiveStatistics):
    """The state of a :class:`RateLimiter`, for debugging.

    Attributes:
      value: the permits on hand.
      burst: the most that are on hand at once.
      next_time: when the waiter at the head is granted, by trio's clock; None if no task waits.
    """

    value: int
    burst: int
    next_time: float | None


@final
class RateLimiter(Primitive[int]):
    """A bucket of permits that time refills: at most a given number of calls per second.

    In each ``per`` seconds, ``rate`` permits become available, evenly; the bucket holds up to ``burst`` of
    them and is full at the start. Permits are not released, so there is no ``async with``::

        limiter = structsync.RateLimiter(100, per=60, burst=10)
        await limiter.acquire()
        await call()

    In any *t* seconds at most ``burst + rate x t / per`` permits are granted. That also holds where trio's loop
    is late, as after a function that did not return for a while: the first waiters get what the bucket holds, at
    most ``burst``, and the others wait on. So a late grant delays later ones if the bucket was full by then;
    with a ``burst`` of 1 it always is. The time of a grant is computed from the last moment at which the bucket
    was full, so rounding errors do not add up.

    It uses trio's clock, so a :class:`trio.testing.MockClock` and the explorer drive it. If the limiter
    moves to another run, no time passes in between.

    Fairness: strictly first come, first served, so a large claim at the head blocks small ones behind it.
    Cancellation: a cancelled acquire has taken nothing, and the requests behind it are granted as if it had
    never been made.

    Args:
      rate: the number of permits in each ``per`` seconds, a finite number > 0.
      per: the period in seconds, a finite number > 0.
      burst: the most permits on hand at once, an int from 1 to ``sys.maxsize``.
      name: its name in ``repr`` and reports.

    Raises:
      TypeError: if ``rate`` or ``per`` is not a number, ``burst`` not an int, or ``name`` not a str.
      ValueError: if one of them is out of range.

    Source: the token bucket of network shaping (Turner 1986), with the virtual scheduling of ATM's
    generic cell rate algorithm, which keeps a time in place of a level.
    """

    __slots__ = ("_clock",)
    _core: RateLimiterCore
    _clock: trio.abc.Clock | None

    def __init__(
        self, rate: float, per: float = 1.0, *, burst: int = 1, name: str | None = None
    ) -> None:
        _check_positive(rate, "rate")
        _check_positive(per, "per")
        check_count(burst, "burst")
        if burst > sys.maxsize:  # beyond it the sum of some claims may be no float
            raise ValueError(f"burst must be <= {sys.maxsize}, not {burst}")
        super().__init__(RateLimiterCore(float(rate), float(per), burst), name=name)
        self._clock = None

    @property
    def rate(self) -> float:
        """The number of permits that become available in each :attr:`per` seconds."""
        return self._core.rate

    @property
    def per(self) -> float:
        """The period of :attr:`rate`, in seconds."""
        return self._core.per

    @property
    def burst(self) -> int:
        """The most permits that are on hand at once."""
        return self._core.burst

    @property
    def value(self) -> int:
        """The permits on hand now; may be more than 0 while a task waits, if that task needs still more."""
        return self._core.value(parking_in_time.time_of(self))

    @enable_ki_protection
    async def acquire(self, n: int = 1) -> None:
        """Take ``n`` permits, waiting until all of them are available.

        Raises:
          TypeError: if ``n`` is not an int.
          ValueError: if ``n`` is less than 1, or more than :attr:`burst`.
          trio.ClosedResourceError: if the limiter is closed, before or meanwhile.
        """
        check_count(n, "n")
        await parking_in_time.acquire(self, n)

    @enable_ki_protection
    def acquire_nowait(self, n: int = 1) -> None:
        """Take ``n`` permits if a request made now would be granted at once.

        Raises:
          trio.WouldBlock: if it would have to wait.
          TypeError, ValueError, trio.ClosedResourceError: as :meth:`acquire`.
        """
        check_count(n, "n")
        parking_in_time.acquire_nowait(self, n)

    @enable_ki_protection
    def request(self, n: int = 1) -> Request[int]:
        """Take ``n`` permits, or a position in the queue for them, now; return the handle.

        It is granted when its time comes, whether or not a task waits for it then: of several that no task
        waits for, each at its time, so that they may be used together later. Permits are used up: closing a
        granted request releases nothing.

        Raises:
          TypeError, ValueError, trio.ClosedResourceError: as :meth:`acquire`.
        """
        check_count(n, "n")
        return Request(self, parking_in_time.submit(self, n))

    def claim(self, n: int = 1) -> NoReturn:
        """Refuse to be a part of :func:`acquire_all` or :func:`acquire_any`.

        A rate limiter waits for time to pass: the other primitives of the group would be blocked meanwhile.

        Raises:
          TypeError: always.
        """
        raise TypeError(
            "a rate limiter cannot be part of a group, which would block its other queues until "
            "its time comes; acquire the group, then `await limiter.acquire()`, or make a request()"
        )

    def statistics(self) -> RateLimiterStatistics:
        """Return the state of this limiter, for debugging."""
        core, now = self._core, parking_in_time.time_of(self)
        due, _, _ = core.due(now)
        waiting = core.queue.length - due
        return RateLimiterStatistics(
            waiting, value=core.value(now), burst=core.burst, next_time=core.next_time(now)
        )

    def _status_of(self, request: CoreRequest[int]) -> Status:
        return parking_in_time.status_of(self, request)

    def _withdraw(self, request: CoreRequest[int]) -> bool:
        return parking_in_time.withdraw(self, request)

    async def _wait_for(self, request: CoreRequest[int]) -> None:
        await parking_in_time.wait_for(self, request)

    def _end(self, cause: Hashable) -> None:
        parking_in_time.catch_up(self)  # what is due is granted already, also to other callers
        super()._end(cause)

    def _leave(self, claim: int, owner: object = None) -> None:
        pass  # only time refills it

    def _describe(self) -> str:
        core = self._core
        return f"value {self.value}/{core.burst}, {core.rate:g} per {core.per:g} s"

    def _details_of(self, claim: int) -> dict[str, object]:
        return {"n": claim}

    def _balance(self) -> int:
        return 0  # nothing is lent


def _check_positive(number: object, what: str) -> None:
    if isinstance(number, bool) or not isinstance(number, int | float):
        raise TypeError(f"{what} must be a number, not {number!r}")
    if not 0 < number <= sys.float_info.max:
        raise ValueError(f"{what} must be a finite number > 0, not {number}")
