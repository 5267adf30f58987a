"""The ends of a buffer, as trio's channels have them: cloned and closed apart."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, NoReturn, TypeVar, final

import trio
from trio.lowlevel import Task, checkpoint_if_cancelled, current_task, enable_ki_protection

from structsync._runtime import releasing
from structsync._runtime.causes import EndClosed, ReceiversGone
from structsync._runtime.transitions import at_once_or_after_this_step

from .buffer import Buffer, BufferPolicy
from .buffer_statistics import BufferStatistics

if TYPE_CHECKING:
    from typing import Self

T = TypeVar("T")
R = TypeVar("R")


@dataclass(slots=True)
class _Side:
    """How many ends of one side are open."""

    open_ends: int = 0


class _End(trio.abc.AsyncResource, Generic[T]):
    """What both ends have in common: the tasks that use this one, and its side."""

    __slots__ = ("_buffer", "_closed", "_side", "_tasks")
    _buffer: Buffer[T]
    _closed: bool
    _tasks: set[Task]
    _side: _Side

    def __init__(self, buffer: Buffer[T], side: _Side) -> None:
        self._buffer = buffer
        self._closed = False
        self._tasks = set()  # those that wait by this end
        self._side = side
        side.open_ends += 1

    @property
    def buffer(self) -> Buffer[T]:
        """The buffer between the ends. A task that waits by its methods is not woken by :meth:`close` of one end."""
        return self._buffer

    @property
    def closed(self) -> bool:
        """Whether this end is closed."""
        return self._closed

    def statistics(self) -> BufferStatistics:
        """Return the state of the buffer, for debugging."""
        return self._buffer.statistics()

    @enable_ki_protection
    def clone(self) -> Self:
        """Return another end of this side, which is closed separately.

        Raises:
          trio.ClosedResourceError: if this one is closed.
        """
        self._refuse_if_closed()
        return type(self)(self._buffer, self._side)

    @enable_ki_protection
    def close(self) -> None:
        """Close this end, and its side with it if it is the last one.

        Tasks that wait by this end get :exc:`trio.ClosedResourceError`. Idempotent.

        Raises:
          RuntimeError: if another trio run uses the buffer now.
        """
        if self._closed:
            return
        core, cause = self._buffer._core, EndClosed(type(self).__name__)
        releasing.change(self._buffer, lambda: core.break_waiters(self._tasks, cause))
        self._closed = True
        self._side.open_ends -= 1
        if not self._side.open_ends:
            self._close_side()

    @enable_ki_protection
    async def aclose(self) -> None:
        """Close this end as :meth:`close` does; a checkpoint."""
        self.close()
        await trio.lowlevel.checkpoint()

    def __enter__(self) -> Self:
        return self

    @enable_ki_protection
    def __exit__(self, *exc_info: object) -> None:
        at_once_or_after_this_step(self.close)

    @abstractmethod
    def _close_side(self) -> None:
        """Say to the other side that this one is closed."""

    def _refuse_if_closed(self) -> None:
        if self._closed:
            raise trio.ClosedResourceError(f"this {type(self).__name__} was closed")

    @enable_ki_protection
    async def _use(self, call: Callable[[], Coroutine[Any, Any, R]]) -> R:
        if self._closed:
            await checkpoint_if_cancelled()
            self._refuse_if_closed()
        task = current_task()
        self._tasks.add(task)
        try:
            return await call()
        finally:
            self._tasks.discard(task)

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError(f"a {type(self).__name__} cannot be copied or pickled; clone() it")

    def __repr__(self) -> str:
        state = "closed" if self._closed else "open"
        return f"<{type(self).__name__} at {id(self):#x}: {state}, of {self._buffer!r}>"


@final
class SendingEnd(_End[T], trio.abc.SendChannel[T]):
    """The end of a buffer into which items are sent, a :class:`trio.abc.SendChannel`.

    Made by :func:`open_channel`, and by :meth:`clone`. When the last one is closed, the buffer is complete:
    the items in it can still be received. Use it as a context manager, ``async`` or not.
    """

    __slots__ = ()

    @enable_ki_protection
    async def send(self, value: T) -> None:
        """Put an item in, waiting for room if necessary.

        Cancellation: a cancelled send has sent nothing.

        Raises:
          trio.ClosedResourceError: if this end is closed, before or meanwhile.
          trio.BrokenResourceError: if every receiving end is, before or meanwhile.
        """
        await self._use(lambda: self._buffer.put(value))

    @enable_ki_protection
    def send_nowait(self, value: T) -> None:
        """Put an item in if a :meth:`send` made now would not wait.

        Raises:
          trio.WouldBlock: if there is no room, or others wait to send.
          trio.ClosedResourceError, trio.BrokenResourceError: as :meth:`send`.
        """
        self._refuse_if_closed()
        self._buffer.put_nowait(value)

    def _close_side(self) -> None:
        self._buffer.complete()


@final
class ReceivingEnd(_End[T], trio.abc.ReceiveChannel[T]):
    """The end of a buffer from which items are received, a :class:`trio.abc.ReceiveChannel`.

    Made by :func:`open_channel`, and by :meth:`clone`. Each item is received by one of them. When the last
    one is closed, the items in the buffer are dropped, and nothing can be sent any more. Use it as a
    context manager, ``async`` or not, and in an ``async for``.
    """

    __slots__ = ()

    @enable_ki_protection
    async def receive(self) -> T:
        """Return the next item, waiting for one if necessary.

        Cancellation: a cancelled receive has taken nothing.

        Raises:
          trio.EndOfChannel: if every sending end is closed and all items are received.
          trio.ClosedResourceError: if this end is closed, before or meanwhile.
        """
        return await self._use(self._buffer.get)

    @enable_ki_protection
    def receive_nowait(self) -> T:
        """Return the next item if a :meth:`receive` made now would not wait.

        Raises:
          trio.WouldBlock: if there is no item, or others wait for one.
          trio.EndOfChannel, trio.ClosedResourceError: as :meth:`receive`.
        """
        self._refuse_if_closed()
        return self._buffer.get_nowait()

    def _close_side(self) -> None:
        self._buffer._end(ReceiversGone())


def open_channel(
    max_items: float,
    *,
    policy: BufferPolicy = "fifo",
    key: Callable[[T], Any] | None = None,
    name: str | None = None,
) -> tuple[SendingEnd[T], ReceivingEnd[T]]:
    """Return the two ends of a new :class:`Buffer`, for tasks that should have only one of the two.

    They are a :class:`trio.abc.SendChannel` and a :class:`trio.abc.ReceiveChannel`, and do what those of
    :func:`trio.open_memory_channel` do. Each end is cloned and closed separately::

        ends: tuple[SendingEnd[str], ReceivingEnd[str]] = structsync.open_channel(10)
        sender, receiver = ends
        async with trio.open_nursery() as nursery:
            nursery.start_soon(produce, sender)
            nursery.start_soon(consume, receiver)

    Args:
      max_items, policy, key, name: as in :class:`Buffer`. There is no channel without room, as trio's
          ``open_memory_channel(0)``.

    Raises:
      TypeError, ValueError: as :class:`Buffer`.

    Source: trio's memory channel.
    """
    buffer: Buffer[T] = Buffer(max_items, policy=policy, key=key, name=name)
    return SendingEnd(buffer, _Side()), ReceivingEnd(buffer, _Side())
