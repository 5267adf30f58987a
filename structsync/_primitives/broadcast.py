"""Each item to every consumer, and each consumer at its own pace."""

from __future__ import annotations

from contextlib import suppress
from typing import Generic, Literal, NoReturn, TypeAlias, TypeVar, final

import trio
from trio.lowlevel import cancel_shielded_checkpoint, checkpoint_if_cancelled, enable_ki_protection

from structsync._core.queue.request import PENDING
from structsync._runtime.arguments import check_name
from structsync._runtime.runs import check_changeable

from .buffer import Buffer
from .buffer_statistics import BroadcastStatistics
from .groups import acquire_all
from .subscription import Subscription as Subscription

T = TypeVar("T")
WhenSlow: TypeAlias = Literal["wait", "drop"]


@final
class Broadcast(Generic[T]):
    """Hands each item to every consumer that has subscribed, each at its own pace.

    An item is for the consumers that have subscribed when its put is called, not for one that subscribes while
    the put waits. A consumer gets its items in the order of the puts, which is the same for all. It may be up to
    ``max_items`` behind. If it is slower than that, ``slow`` decides: with ``"wait"`` a put waits for it; with
    ``"drop"`` a put never waits, and the slow consumer loses its oldest item.
    ``Broadcast(1, slow="drop")`` conflates: a get returns the latest item::

        prices = structsync.Broadcast[float](1, slow="drop")

        async def show() -> None:
            with prices.subscribe() as latest:
                async for price in latest:
                    ...

    Fairness: producers are served first come, first served; one that waits when a consumer unsubscribes
    starts again at the end of the queue. Cancellation: a cancelled put has put nothing, for any subscriber.

    Args:
      max_items: how far a consumer may be behind, an int >= 1; :data:`math.inf` for any distance.
      slow: ``"wait"`` or ``"drop"``.
      name: what it is called in its ``repr``, and in those of its subscriptions.

    Raises:
      TypeError, ValueError: if ``max_items`` is not an int >= 1, ``slow`` is neither, or ``name`` is
          not a str.

    Source: tokio's ``broadcast`` and ``watch``; kotlinx's ``SharedFlow``.
    """

    __slots__ = (
        "__weakref__",
        "_closed",
        "_completed",
        "_max_items",
        "_name",
        "_owned",
        "_slow",
        "_subscriptions",
    )

    def __init__(
        self, max_items: float, *, slow: WhenSlow = "wait", name: str | None = None
    ) -> None:
        Buffer[T](max_items)  # which checks it
        if slow not in ("wait", "drop"):
            raise ValueError(f"slow must be 'wait' or 'drop', not {slow!r}")
        self._name = check_name(name)
        self._max_items = max_items
        self._slow = slow
        self._completed = self._closed = False
        self._owned = False  # by a scope
        self._subscriptions: dict[Subscription[T], None] = {}

    @property
    def name(self) -> str | None:
        """The name of it and of its subscriptions; may be assigned, for later subscriptions."""
        return self._name

    @name.setter
    def name(self, name: str | None) -> None:
        self._name = check_name(name)

    @property
    def completed(self) -> bool:
        """Whether nothing more may be put."""
        return self._completed

    @property
    def closed(self) -> bool:
        """Whether it is closed, and so complete, and every subscription with it."""
        return self._closed

    @property
    def broken(self) -> bool:
        """Always false, because no task owns it."""
        return False

    def statistics(self) -> BroadcastStatistics:
        """Return the state of this broadcast, for debugging."""
        cores = [one._buffer._core for one in self._subscriptions]
        # A put that waits is in the queue of each consumer, as one group.
        puts = len({request.group for core in cores for request in core.queue.puts})
        gets = sum(core.queue.gets.length for core in cores)
        return BroadcastStatistics(
            puts + gets,
            len(cores),
            max([len(core.items) for core in cores], default=0),
            self._max_items,
            puts,
            gets,
            self._completed,
        )

    @property
    def subscriptions(self) -> tuple[Subscription[T], ...]:
        """The open subscriptions, the oldest first."""
        return tuple(self._subscriptions)

    @enable_ki_protection
    def subscribe(self) -> Subscription[T]:
        """Return a subscription to later puts: not to those that wait already, and to none if it is complete.

        The subscription to a closed one is closed, too.
        """
        buffer = Buffer[T](self._max_items, name=self._name)
        subscription = Subscription(self._subscriptions, buffer)
        if self._closed:
            buffer._close_as(self._title())
        elif self._completed:
            buffer._complete_as(self._title())
        else:
            self._subscriptions[subscription] = None
        return subscription

    @enable_ki_protection
    async def put(self, item: T) -> None:
        """Hand an item to every consumer, in one step; with ``"wait"``, wait for room at each of them.

        It is for the consumers that have subscribed by now. Without any, or once all of them have left, it is dropped.

        Raises:
          trio.ClosedResourceError: if the broadcast is complete, before or meanwhile.
        """
        await checkpoint_if_cancelled()
        self._refuse_if_complete()
        if self._slow == "drop" or not self._subscriptions:
            self.put_nowait(item)
            await cancel_shielded_checkpoint()
            return
        asked = self.subscriptions
        while asked:
            claims = [one._buffer.put_claim(item) for one in asked]
            with suppress(trio.ClosedResourceError):  # complete meanwhile, or left by a consumer
                async with acquire_all(*claims):
                    return
            self._refuse_if_complete()
            asked = tuple([one for one in asked if one in self._subscriptions])
        await cancel_shielded_checkpoint()

    @enable_ki_protection
    def put_nowait(self, item: T) -> None:
        """Hand an item to every consumer if a :meth:`put` made now would not wait.

        Raises:
          trio.WouldBlock: with ``"wait"``, if a consumer has no room, or others wait to put.
          trio.ClosedResourceError: if the broadcast is complete.
          RuntimeError: with ``"wait"`` and a consumer, outside a run.
        """
        self._refuse_if_complete()
        if self._slow == "drop":
            self._check_changeable()
            for subscription in self.subscriptions:
                buffer = subscription._buffer
                with suppress(trio.ClosedResourceError):  # a finalizer may end one just now
                    if buffer.statistics().items >= self._max_items:
                        buffer.get_nowait()
                        subscription.dropped += 1
                    buffer.put_nowait(item)
            return
        while asked := self.subscriptions:
            claims = [one._buffer.put_claim(item) for one in asked]
            with suppress(trio.ClosedResourceError), acquire_all(*claims).request() as request:
                if request.status is PENDING:
                    raise trio.WouldBlock
                return
            self._refuse_if_complete()  # else a subscriber has left just now

    @enable_ki_protection
    def complete(self) -> None:
        """Declare that nothing more will be put; each consumer still gets what is left for it. Idempotent.

        Raises:
          RuntimeError: if another trio run uses one of the subscriptions now; nothing is complete then.
        """
        self._check_changeable()
        self._completed = True
        for subscription in self.subscriptions:
            subscription._buffer._complete_as(self._title())

    @enable_ki_protection
    def close(self) -> None:
        """Close it and every subscription, and drop the items that are left. Idempotent.

        Raises:
          RuntimeError: if another trio run uses one of the subscriptions now; nothing is closed then.
        """
        self._check_changeable()
        self._completed = self._closed = True
        for subscription in self.subscriptions:
            subscription._close_as(self._title())

    def _check_changeable(self) -> None:
        check_changeable([one._buffer for one in self._subscriptions])

    def _refuse_if_complete(self) -> None:
        if self._completed:
            how = "was closed" if self._closed else "is complete: nothing more can be put"
            raise trio.ClosedResourceError(f"this {self._title()} {how}")

    def _title(self) -> str:
        return "Broadcast" + ("" if self._name is None else f" {self._name!r}")

    def __init_subclass__(cls) -> NoReturn:
        raise TypeError("Broadcast is final; keep a private one inside your class")

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError("a Broadcast cannot be copied or pickled: tasks wait in this one")

    def __repr__(self) -> str:
        end = ", closed" if self._closed else ", complete" if self._completed else ""
        count = len(self._subscriptions)
        return (
            f"<{self._title()} at {id(self):#x}: {count} subscriptions, slow={self._slow!r}{end}>"
        )
