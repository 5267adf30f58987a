"""What one consumer of a broadcast still has to get."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, NoReturn, TypeVar, final

from trio.lowlevel import enable_ki_protection

from structsync._runtime.runs import check_changeable
from structsync._runtime.transitions import at_once_or_after_this_step

from .buffer import Buffer
from .buffer_statistics import BufferStatistics

if TYPE_CHECKING:
    from typing import Self

T = TypeVar("T")


@final
class Subscription(Generic[T]):
    """What one consumer still has to get from a :class:`Broadcast`.

    Made by :meth:`Broadcast.subscribe`. Use it in an ``async for``, and as a context manager: leaving it
    unsubscribes.
    """

    __slots__ = ("__weakref__", "_buffer", "_subscriptions", "dropped")
    dropped: int
    """How many items were dropped because this consumer was slow."""

    def __init__(self, subscriptions: dict[Subscription[T], None], buffer: Buffer[T]) -> None:
        self._subscriptions = subscriptions  # all that are open
        self._buffer = buffer
        self.dropped = 0

    @enable_ki_protection
    async def get(self) -> T:
        """Return the next item, waiting for one if necessary.

        Cancellation: a cancelled get has taken nothing.

        Raises:
          trio.EndOfChannel: if the broadcast is complete and no item is left, before or meanwhile.
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
        """Return the state of this subscription, for debugging."""
        return self._buffer.statistics()

    def __aiter__(self) -> Self:
        return self

    @enable_ki_protection
    async def __anext__(self) -> T:
        return await self._buffer.__anext__()

    @enable_ki_protection
    def close(self) -> None:
        """Unsubscribe: drop the items that are left, and grant the puts that wait for this consumer. Idempotent.

        Raises:
          RuntimeError: if another trio run uses it now; it is not closed then.
        """
        self._close_as(type(self).__name__)

    def _close_as(self, title: str) -> None:
        check_changeable([self._buffer])
        self._subscriptions.pop(self, None)
        self._buffer._close_as(title)

    def __enter__(self) -> Self:
        return self

    @enable_ki_protection
    def __exit__(self, *exc_info: object) -> None:
        at_once_or_after_this_step(self.close)

    def __init_subclass__(cls) -> NoReturn:
        raise TypeError("Subscription is final; only subscribe() makes subscriptions")

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError("a Subscription cannot be copied or pickled; subscribe() makes another one")

    def __repr__(self) -> str:
        return f"<Subscription at {id(self):#x}: {self.dropped} dropped, of {self._buffer!r}>"
