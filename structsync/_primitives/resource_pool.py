"""A pool of items that are lent to one task at a time."""

from __future__ import annotations

import math
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Generic, TypeVar, final

import trio
from trio.lowlevel import enable_ki_protection

from structsync._core.primitives.resource_pool import ResourcePoolCore
from structsync._runtime import lending, releasing
from structsync._runtime.arguments import check_count
from structsync._runtime.lending import Loan
from structsync._runtime.live import PrimitiveStatistics
from structsync._runtime.primitive import Primitive

from .pool_item import PoolItem as PoolItem

if TYPE_CHECKING:
    from typing import Self

T = TypeVar("T")


@final
@dataclass(frozen=True, slots=True)
class ResourcePoolStatistics(PrimitiveStatistics):
    """The state of a :class:`ResourcePool`, for debugging.

    Attributes:
      lent: how many places are taken: by tasks that have an item, or make, check or close one.
      idle: how many items wait for the next borrower.
      max_size: how many places there are.
    """

    lent: int
    idle: int
    max_size: int


@final
class ResourcePool(Primitive[Loan], Generic[T]):
    """Costly items, such as connections, which are lent to one task at a time and reused.

    ::

        async with structsync.ResourcePool(connect, 10, close=Connection.aclose) as pool:
            ...
            async with pool.item() as connection:
                await connection.send(...)

    A borrower gets the item that was returned last, or makes one if none is idle and fewer than
    ``max_size`` exist, or waits. An item counts until its ``close`` has returned.

    ``factory`` and ``check`` run in the task that wants the item. If they raise or are cancelled, that task
    gets the error, and its place in the pool goes to the next request. An item for which ``check`` returns
    False is closed, and the next one is tried.

    An item whose block ends with an error or a cancellation is closed, and not lent again;
    ``pool.item(keep_on_error=True)`` keeps it.

    ``close`` runs in the task that returns a discarded item, or where others wait, in the one that gets its
    place; expired items are closed by the first to return one after that. It is shielded from cancellation,
    for ``close_timeout`` seconds at most: a cancelled task closes one item, and leaves others to the next.
    Its errors are logged, because no caller could do anything about them.

    Nothing runs in the background. An idle item that expires is never lent again, and closed by the
    next task that returns one, or by :meth:`close_stale`.

    Fairness: strictly first come, first served. Cancellation: a cancelled borrower holds nothing, and no
    item is lost; one whose check was cancelled is closed.

    Args:
      factory: an async function that makes an item.
      max_size: the largest number of items at any time, an int >= 1.
      min_size: the number of items that :meth:`fill` makes, and that do not expire; an int from 0 to
          ``max_size``.
      check: an async function that is called with an idle item, and returns whether it can be used. None:
          it can.
      close: an async function that closes an item. None: the item is dropped.
      max_idle: the seconds after which an idle item expires, a number > 0; None: never.
      close_timeout: the seconds after which a ``close`` is cancelled, a number > 0, or ``math.inf``.
      name: its name in ``repr`` and reports.

    Raises:
      TypeError, ValueError: if an argument is not as described.

    Source: httpcore's connection pool, without its bug with cancelled tasks (encode/httpcore #1093), for
    which this one is explored; SQLAlchemy's ``QueuePool`` for checks and LIFO.
    """

    __slots__ = ("_check", "_clock", "_close_timeout", "_closer", "_factory")
    _core: ResourcePoolCore
    _factory: Callable[[], Awaitable[T]]
    _check: Callable[[T], Awaitable[bool]] | None
    _closer: Callable[[T], Awaitable[object]] | None
    _close_timeout: float
    _clock: trio.abc.Clock | None

    def __init__(
        self,
        factory: Callable[[], Awaitable[T]],
        max_size: int,
        *,
        min_size: int = 0,
        check: Callable[[T], Awaitable[bool]] | None = None,
        close: Callable[[T], Awaitable[object]] | None = None,
        max_idle: float | None = None,
        close_timeout: float = 5,
        name: str | None = None,
    ) -> None:
        check_count(max_size, "max_size")
        check_count(min_size, "min_size", least=0)
        if min_size > max_size:
            raise ValueError(f"min_size must be <= max_size, which is {max_size}, not {min_size}")
        _check_callable(factory, "factory")
        for function, what in ((check, "check"), (close, "close")):
            if function is not None:
                _check_callable(function, what)
        if max_idle is not None:
            _check_time(max_idle, "max_idle")
        _check_time(close_timeout, "close_timeout")
        super().__init__(ResourcePoolCore(max_size, min_size, max_idle), name=name)
        self._factory = factory
        self._check = check
        self._closer = close
        self._close_timeout = close_timeout
        self._clock = None

    @property
    def max_size(self) -> int:
        """The largest number of items at any time; changed by :meth:`resize`."""
        return self._core.max_size

    @property
    def min_size(self) -> int:
        """The number of items that :meth:`fill` makes, and that do not expire."""
        return self._core.min_size

    def item(self, *, keep_on_error: bool = False) -> PoolItem[T]:
        """Return an async context manager that borrows an item: entering waits for it, leaving returns it.

        If the block ends with an error or a cancellation, the item is closed and not kept: it may be in the
        middle of something, such as a connection with an unread answer, which the next borrower would take
        for its own. If the pool is closed while an item is made or checked for a borrower, that one is lent it
        all the same, and the end of its block closes it.

        Args:
          keep_on_error: whether the item is kept all the same. Use it if nothing can be left half done, or
              if ``check`` detects that.

        Entering raises:
          Exception: what ``factory`` or ``check`` raises.
          TypeError: if ``factory`` is not an async function, or ``check`` does not return a bool.
          trio.ClosedResourceError: if the pool is closed before a place is free.
        """
        return PoolItem(self, keep_on_error)

    @enable_ki_protection
    def discard(self, item: T) -> None:
        """Have a borrowed item closed instead of returned at the end of its block.

        Raises:
          ValueError: if this very item is not lent now.
        """
        loan = self._core.loan_of(item)
        if loan is None:
            raise ValueError(
                f"only a borrowed item can be discarded, and this pool has not lent {item!r}; "
                "call discard() inside the block of item()"
            )
        self._core.discard(loan)

    @enable_ki_protection
    async def fill(self) -> None:
        """Make items, one after the other, until there are :attr:`min_size`.

        Cancellation: the items made so far are kept.

        Raises:
          Exception: what ``factory`` raises.
          trio.ClosedResourceError: if the pool is closed, before or meanwhile; then no item is left.
        """
        await lending.fill(self)
        await trio.lowlevel.cancel_shielded_checkpoint()

    @enable_ki_protection
    async def close_stale(self) -> None:
        """Close the idle items that will not be lent again, one after the other.

        These have expired, are too many since a :meth:`resize`, or were discarded by a task that was
        interrupted. Call this now and then if it may take long until the next block returns an item.

        Cancellation: the item that is being closed is the last one.
        """
        await lending.close_stale(self)
        await trio.lowlevel.checkpoint()

    @enable_ki_protection
    def resize(self, max_size: int) -> None:
        """Change the largest number of items.

        If there are too many now, lent items stay lent, and the oldest idle ones are closed by the next
        task that returns an item, or by :meth:`close_stale`.

        Raises:
          TypeError: if ``max_size`` is not an int.
          ValueError: if it is less than 1, or less than :attr:`min_size`.
        """
        check_count(max_size, "max_size")
        releasing.change(
            self, partial(self._core.resize, max_size), events=[("changed", ("resize", max_size))]
        )

    @enable_ki_protection
    async def aclose(self) -> None:
        """Close the pool for good, and its idle items, one after the other.

        A lent item is closed when its block ends. ``close()`` alone cannot wait, and closes no item; the
        end of the pool's own block, or of a scope that owns it, does. Idempotent.

        Cancellation: the pool and its items are closed all the same.
        """
        self.close()
        await self._after_close()
        await trio.lowlevel.checkpoint()

    async def _after_close(self) -> None:
        await lending.close_stale(self)

    @enable_ki_protection
    async def __aenter__(self) -> Self:
        """Make :attr:`min_size` items, as :meth:`fill`; the end of the block is :meth:`aclose`."""
        try:
            await self.fill()
        except BaseException:
            self.close()
            await self._after_close()
            raise
        return self

    @enable_ki_protection
    async def __aexit__(self, *exc_info: object) -> None:
        await self.aclose()

    def statistics(self) -> ResourcePoolStatistics:
        """Return the state of this pool, for debugging."""
        core = self._core
        return ResourcePoolStatistics(
            len(core.queue), lent=len(core.loans), idle=len(core.idle), max_size=core.max_size
        )

    def _describe(self) -> str:
        core = self._core
        return f"{len(core.loans)} lent, {len(core.idle)} idle, max_size {core.max_size}"

    def _details_of(self, claim: Loan) -> dict[str, object]:
        return {}


def _check_callable(function: object, what: str) -> None:
    if not callable(function):
        raise TypeError(f"{what} must be an async function, not {function!r}")


def _check_time(seconds: object, what: str) -> None:
    if isinstance(seconds, bool) or not isinstance(seconds, int | float):
        raise TypeError(f"{what} must be a number of seconds, not {seconds!r}")
    if not seconds > 0:
        raise ValueError(f"{what} must be > 0, not {seconds}")
    if sys.float_info.max < seconds < math.inf:
        raise ValueError(
            f"{what} must be a number that a float can hold, or math.inf, not {seconds}"
        )
