"""Each item to every consumer, and each consumer at its own pace."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, Literal, NoReturn, TypeAlias, TypeVar, final

import trio
from trio.lowlevel import cancel_shielded_checkpoint, checkpoint_if_cancelled, enable_ki_protection

from structsync._core.queue.request import PENDING
from structsync._runtime.arguments import check_name

from .buffer import Buffer
from .buffer_statistics import BroadcastStatistics, BufferStatistics
from .groups import acquire_all

if TYPE_CHECKING:
    from typing import Self

T = TypeVar("T")
WhenSlow: TypeAlias = Literal["wait", "drop"]


@final
class Subscription(Generic[T]):
    """What one consumer still has to get from a :class:`Broadcast`.

    Made by :meth:`Broadcast.subscribe`. Use it in an ``async for``, and as a context manager: leaving it
    unsubscribes.
    """

    __slots__ = ("__weakref__", "_broadcast", "_buffer", "dropped")
    dropped: int
    """How many items were dropped because this consumer was slow."""

    def __init__(self, broadcast: Broadcast[T], buffer: Buffer[T]) -> None:
        self._broadcast = broadcast
        self._buffer = buffer
        self.dropped = 0

    @enable_ki_protection
    async def get(self) -> T:
        """Return the next item, waiting for one if necessary.

        Cancellation: a cancelled get has taken nothing.

        Raises:
          trio.EndOfChannel: if the broadcast is complete and all items are got, before or meanwhile.
          trio.ClosedResourceError: if the subscription or the broadcast is closed, before or meanwhile.
        """
        return await self._buffer.get()

    @enable_ki_protection
    def get_nowait(self) -> T:
        """Return the next item if there is one.

        Raises:
          trio.WouldBlock: if there is none.
          trio.EndOfChannel, trio.ClosedResourceError: as :meth:`get`.
        """
        return self._buffer.get_nowait()

    @enable_ki_protection
    async def get_batch(self, max_items: int, *, max_wait: float) -> list[T]:
        """Return up to ``max_items`` items, collected for ``max_wait`` seconds at most.

        See :meth:`Buffer.get_batch`, errors included.
        """
        return await self._buffer.get_batch(max_items, max_wait=max_wait)

    @property
    def closed(self) -> bool:
        """Whether it is closed, by itself or with its broadcast."""
        return self._buffer.closed

    def statistics(self) -> BufferStatistics:
        """Return how much this consumer still has to get, for debugging."""
        return self._buffer.statistics()

    def __aiter__(self) -> Self:
        return self

    @enable_ki_protection
    async def __anext__(self) -> T:
        return await self._buffer.__anext__()

    @enable_ki_protection
    def close(self) -> None:
        """Unsubscribe: drop what is left, and let in the puts that wait for this consumer. Idempotent."""
        self._broadcast._subscriptions.pop(self, None)
        self._buffer.close()

    def __enter__(self) -> Self:
        return self

    @enable_ki_protection
    def __exit__(self, *exc_info: object) -> None:
        self.close()

    def __init_subclass__(cls) -> NoReturn:
        raise TypeError("Subscription is final; subscribe() makes them, and no other kind of them")

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError("a Subscription cannot be copied or pickled; subscribe() makes another one")

    def __repr__(self) -> str:
        return f"<Subscription at {id(self):#x}: {self.dropped} dropped, of {self._buffer!r}>"


@final
class Broadcast(Generic[T]):
    """Hands each item to every consumer that has subscribed, each at its own pace.

    A consumer gets what is put after it subscribed, in the order in which it was put, which is the same
    for all. It may be ``max_items`` behind. Where one is slower, ``slow`` is the rule: with ``"wait"`` a
    put waits for the slowest; with ``"drop"`` it never waits, and the slow one loses its oldest item.
    ``Broadcast(1, slow="drop")`` conflates: a get returns the latest item::

        prices = structsync.Broadcast[float](1, slow="drop")

        async def show() -> None:
            with prices.subscribe() as latest:
                async for price in latest:
                    ...

    Fairness: producers are served first come, first served; one that waits when a consumer unsubscribes
    begins again at the end. Cancellation: a cancelled put has put nothing, for no subscriber.

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
        self._subscriptions: dict[Subscription[T], None] = {}

    @property
    def name(self) -> str | None:
        """What it and its subscriptions are called; may be assigned, for those that will be made."""
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
        """Return a subscription to what is put from now on; if it is complete, to nothing."""
        buffer = Buffer[T](self._max_items, name=self._name)
        subscription = Subscription(self, buffer)
        if self._completed:
            buffer.complete()
        else:
            self._subscriptions[subscription] = None
        return subscription

    @enable_ki_protection
    async def put(self, item: T) -> None:
        """Hand an item to every consumer, in one step; with ``"wait"``, wait for room at each of them.

        Without consumers the item is gone.

        Raises:
          trio.ClosedResourceError: if the broadcast is complete, before or meanwhile.
        """
        while True:
            await checkpoint_if_cancelled()
            self._refuse_if_complete()
            if self._slow == "drop" or not self._subscriptions:
                self.put_nowait(item)
                await cancel_shielded_checkpoint()
                return
            asked = self.subscriptions
            try:
                async with acquire_all(*[one._buffer.put_claim(item) for one in asked]):
                    return
            except trio.ClosedResourceError:
                # A subscriber has left; the others wait for this item all the same.
                if self._completed or all(one in self._subscriptions for one in asked):
                    raise

    @enable_ki_protection
    def put_nowait(self, item: T) -> None:
        """Hand an item to every consumer if a :meth:`put` made now would not wait.

        Raises:
          trio.WouldBlock: with ``"wait"``, if a consumer has no room, or others wait to put.
          trio.ClosedResourceError: if the broadcast is complete.
        """
        self._refuse_if_complete()
        if self._slow == "drop":
            for subscription in self.subscriptions:
                buffer = subscription._buffer
                if buffer.statistics().items >= self._max_items:
                    buffer.get_nowait()
                    subscription.dropped += 1
                buffer.put_nowait(item)
        elif self._subscriptions:
            claims = [one._buffer.put_claim(item) for one in self._subscriptions]
            with acquire_all(*claims).request() as request:
                if request.status is PENDING:
                    raise trio.WouldBlock

    @enable_ki_protection
    def complete(self) -> None:
        """Say that nothing more will be put; each consumer gets what it has not got yet. Idempotent."""
        self._completed = True
        for subscription in self.subscriptions:
            subscription._buffer.complete()

    @enable_ki_protection
    def close(self) -> None:
        """Close it and every subscription, and drop what was not got. Idempotent."""
        self._completed = self._closed = True
        for subscription in self.subscriptions:
            subscription.close()

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
