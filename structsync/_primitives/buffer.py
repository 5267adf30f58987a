"""Items on their way from producers to consumers."""

from __future__ import annotations

import math
from collections.abc import Callable, Coroutine, Iterable
from typing import Any, Generic, Literal, TypeAlias, TypeVar, final

import trio
from trio.lowlevel import Abort, enable_ki_protection

from structsync._core.primitives.buffer import BufferCore
from structsync._core.primitives.sides import Get, Lend, One, Put
from structsync._core.queue.request import Request
from structsync._runtime import items, releasing
from structsync._runtime.arguments import check_count, check_sync, check_window
from structsync._runtime.cancelling import RaiseCancel
from structsync._runtime.causes import Completed, Drained
from structsync._runtime.claim import Claim
from structsync._runtime.items import exchange
from structsync._runtime.primitive import Primitive

from .buffer_item import BufferItem
from .buffer_statistics import BufferStatistics, statistics_of

T = TypeVar("T")
BufferPolicy: TypeAlias = Literal["fifo", "lifo", "priority"]

_ONE = One()


@final
class Buffer(Primitive[Any], Generic[T]):
    """A bounded store of items between tasks that put them in and tasks that get them.

    :meth:`put` waits for room and :meth:`get` for an item. :meth:`complete` declares that nothing more will
    come: the items in the buffer can still be taken, and then an ``async for`` over it ends::

        buffer = structsync.Buffer[str](10)

        async def produce() -> None:
            for line in lines:
                await buffer.put(line)
            buffer.complete()

        async def consume() -> None:
            async for line in buffer:
                ...

    Fairness: strictly first come, first served among puts, and among gets. Cancellation: a cancelled put
    has put nothing, and a cancelled get has taken nothing; a call that returned has happened. No item is
    lost or handed out twice.

    Args:
      max_items: how many items it has room for, an int >= 1; :data:`math.inf` for any number.
      policy: which item is next: ``"fifo"``, the oldest; ``"lifo"``, the newest;
          ``"priority"``, the smallest, and the oldest among equals.
      key: with ``"priority"``, a sync function of an item whose result is compared; None: the items
          themselves are. It is called once for each item, when it is put.
      name: its name in ``repr``, errors, leaks and reports.

    Raises:
      TypeError: if ``max_items`` is neither an int nor infinite, ``key`` is not a sync function, or
          ``name`` is not a str.
      ValueError: if ``max_items`` is less than 1, the policy is unknown, or there is a ``key`` without
          ``policy="priority"``.

    Source: Dijkstra 1965 (the bounded buffer); trio's memory channel, :class:`asyncio.Queue`.
    """

    __slots__ = ("_compares", "_gets", "_key", "_puts")
    _core: BufferCore

    def __init__(
        self,
        max_items: float,
        *,
        policy: BufferPolicy = "fifo",
        key: Callable[[T], Any] | None = None,
        name: str | None = None,
    ) -> None:
        if max_items != math.inf:
            check_count(max_items, "max_items")
        if key is not None:
            check_sync(key, "key")
            if policy != "priority":
                raise ValueError(
                    f"a key is for the policy 'priority', not {policy!r}; leave one of them out"
                )
        super().__init__(BufferCore(max_items, policy=policy), name=name)
        self._key = key
        self._compares: bool = self._core.items.compares
        self._gets, self._puts = self._core.queue.gets, self._core.queue.puts  # to find them fast

    # Views.

    @property
    def max_items(self) -> float:
        """The number of items that there is room for; :data:`math.inf` if it is unbounded."""
        return self._core.max_items

    @property
    def completed(self) -> bool:
        """Whether :meth:`complete` was called, so that nothing more may be put in."""
        return self._core.completed is not None

    def _abort(self, request: Request[Any], raise_cancel: RaiseCancel) -> Abort:
        return items.abort(request, raise_cancel)

    def statistics(self) -> BufferStatistics:
        """Return the state of this buffer, for debugging."""
        return statistics_of(self._core)

    # Putting.

    @enable_ki_protection
    def put(self, item: T) -> Coroutine[Any, Any, None]:
        """Put an item in, waiting for room if necessary.

        Raises:
          trio.ClosedResourceError: if the buffer is complete or closed, before or meanwhile.
          Exception: what the ``key``, or a comparison, raises; the item is not in the buffer then.
        """
        return exchange(self, self._put((item,)) if self._compares else (item,), self._puts)

    @enable_ki_protection
    def put_nowait(self, item: T) -> None:
        """Put an item in if a :meth:`put` made now would not wait.

        Raises:
          trio.WouldBlock: if there is no room, or others wait to put.
          trio.ClosedResourceError, Exception: as :meth:`put`.
        """
        items.exchange_nowait(self, self._put((item,)), self._puts)

    @enable_ki_protection
    async def put_many(self, several: Iterable[T]) -> None:
        """Put several items in, in one step, waiting for room for all of them.

        Raises:
          ValueError: if there is no item, or more than the buffer ever has room for.
          trio.ClosedResourceError, Exception: as :meth:`put`; none of the items is in the buffer then.
        """
        await exchange(self, self._put_many(several), self._puts)

    @enable_ki_protection
    def put_many_nowait(self, several: Iterable[T]) -> None:
        """Put several items in, in one step, if a :meth:`put_many` made now would not wait.

        Raises:
          trio.WouldBlock: if there is no room for all of them, or others wait to put.
          ValueError, trio.ClosedResourceError, Exception: as :meth:`put_many`.
        """
        items.exchange_nowait(self, self._put_many(several), self._puts)

    def _put(self, several: tuple[T, ...]) -> Put:
        """Return the claim to put these: what is compared goes with each of them."""
        if not self._compares:
            return several
        key = self._key
        return tuple([(item if key is None else key(item), item) for item in several])

    def _put_many(self, several: Iterable[T]) -> Put:
        found = tuple(several)
        if not found:
            raise ValueError("there is nothing to put; give put_many at least one item")
        return self._put(found)

    # Getting.

    @enable_ki_protection
    def get(self) -> Coroutine[Any, Any, T]:
        """Return the next item, waiting for one if necessary.

        Raises:
          trio.EndOfChannel: if the buffer is complete and empty, before or meanwhile.
          trio.ClosedResourceError: if it is closed, before or meanwhile.
        """
        return exchange(self, _ONE, self._gets)

    def item(self) -> BufferItem[T]:
        """Return an async context manager that gets the next item, and puts it back if its block fails.

        Entering raises:
          trio.EndOfChannel, trio.ClosedResourceError: as :meth:`get`.
        """
        return BufferItem(self)

    @enable_ki_protection
    def get_nowait(self) -> T:
        """Return the next item if a :meth:`get` made now would not wait.

        Raises:
          trio.WouldBlock: if there is no item, or others wait for one.
          trio.EndOfChannel, trio.ClosedResourceError: as :meth:`get`.
        """
        found: T = items.exchange_nowait(self, _ONE, self._gets)
        return found

    @enable_ki_protection
    async def get_many(self, max_items: int) -> list[T]:
        """Return the items that are there, at most ``max_items``, waiting for one if there is none.

        All of them are taken in one step.

        Raises:
          TypeError, ValueError: if ``max_items`` is not an int >= 1.
          trio.EndOfChannel, trio.ClosedResourceError: as :meth:`get`.
        """
        check_count(max_items, "max_items")
        found: list[T] = await exchange(self, Get(max_items), self._gets)
        return found

    @enable_ki_protection
    def get_many_nowait(self, max_items: int) -> list[T]:
        """Return the items that are there, at most ``max_items``, if a :meth:`get` made now would not wait.

        Raises:
          TypeError, ValueError: if ``max_items`` is not an int >= 1.
          trio.WouldBlock, trio.EndOfChannel, trio.ClosedResourceError: as :meth:`get_nowait`.
        """
        check_count(max_items, "max_items")
        found: list[T] = items.exchange_nowait(self, Get(max_items), self._gets)
        return found

    @enable_ki_protection
    async def get_batch(self, max_items: int, *, max_wait: float) -> list[T]:
        """Return up to ``max_items`` items, collected for ``max_wait`` seconds at most.

        The window of ``max_wait`` seconds begins when this call is the next to get and the first item
        is there. Meanwhile the items stay in the buffer, and later gets wait behind this
        call. All items are taken in one step: as soon as there are ``max_items``, or as many as the
        buffer has room for; when the window is over; or when the buffer is complete.

        Cancellation: a cancelled batch has taken nothing. ``max_wait`` is no timeout: without an item
        this waits forever; use a cancel scope.

        Args:
          max_items: an int >= 1.
          max_wait: seconds, >= 0 and finite; 0 is :meth:`get_many`.

        Returns:
          The items in the order in which they come out; never an empty list.

        Raises:
          TypeError: if ``max_items`` is not an int, or ``max_wait`` is not a number.
          ValueError: if ``max_items`` is less than 1, or ``max_wait`` is negative or not finite.
          trio.EndOfChannel, trio.ClosedResourceError: as :meth:`get`.
        """
        check_count(max_items, "max_items")
        check_window(max_wait, "max_wait")
        if not max_wait:
            return await self.get_many(max_items)
        return await items.collect(self, items.Window(max_items, max_wait))

    # In one step with others.

    def get_claim(self) -> Claim[Buffer[T]]:
        """Return a claim on the next item, for :func:`first_of` and :func:`acquire_all`; take nothing."""
        return self._claim(_ONE)

    def put_claim(self, item: T) -> Claim[Buffer[T]]:
        """Return a claim to put an item in, for :func:`first_of` and :func:`acquire_all`; put nothing yet.

        Raises:
          Exception: what the ``key`` raises.
        """
        return self._claim(self._put((item,)))

    def _units(self, claim: Any) -> int:
        return int(isinstance(claim, Lend))

    def _leave(self, claim: Any, owner: object = None) -> None:
        """Leaving a block releases nothing: what was got is used, and what was put is there."""

    def __aiter__(self) -> Buffer[T]:
        return self

    @enable_ki_protection
    async def __anext__(self) -> T:
        try:
            found: T = await exchange(self, _ONE, self._gets)
        except trio.EndOfChannel:
            raise StopAsyncIteration from None
        return found

    # The end.

    @enable_ki_protection
    def complete(self) -> None:
        """Declare that nothing more will be put in.

        Waiting and later puts raise :exc:`trio.ClosedResourceError`. The items in the buffer can still be
        taken; after that a get raises :exc:`trio.EndOfChannel`. Idempotent; does nothing if the buffer is
        closed.

        Raises:
          RuntimeError: if another trio run uses it now.
        """
        self._complete_as(self._title())

    def _complete_as(self, title: str) -> None:
        """Complete it; waiters are told that what has this title is complete."""
        releasing.change(self, lambda: self._core.complete(Completed(title), Drained(title)))

    @enable_ki_protection
    def close(self) -> None:
        """Close the buffer for good, and drop the items that are in it.

        All waiting calls get :exc:`trio.ClosedResourceError`, as does each later put or get. Idempotent. To
        drop no item, use :meth:`complete` instead.

        Raises:
          RuntimeError: if another trio run uses it now.
        """
        super().close()

    def _describe(self) -> str:
        end = ", complete" if self.completed else ""
        kind = "" if self._core.items.name == "fifo" else f", {self._core.items.name}"
        lent = f", {len(self._core.lent)} in hand" if self._core.lent else ""
        return f"{len(self._core.items)}/{self.max_items} items{lent}{kind}{end}"

    def _details_of(self, claim: Any) -> dict[str, object]:
        return {}  # an item may be anything, and long

    def _balance(self) -> int:
        return -len(self._core.lent)
