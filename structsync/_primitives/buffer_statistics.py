"""What buffers and broadcasts report of their state."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from structsync._core.primitives.buffer import BufferCore
from structsync._runtime.live import PrimitiveStatistics


@final
@dataclass(frozen=True, slots=True)
class BufferStatistics(PrimitiveStatistics):
    """The state of a :class:`structsync.Buffer`, for debugging.

    Attributes:
      items: how many items are in it.
      max_items: how many it has room for.
      tasks_putting: how many requests wait for room.
      tasks_getting: how many requests wait for items.
      completed: whether nothing more may be put into it.
      lent: how many items are in hand, in blocks of :meth:`structsync.Buffer.item`; each keeps its room.
    """

    items: int
    max_items: float
    tasks_putting: int
    tasks_getting: int
    completed: bool
    lent: int


def statistics_of(core: BufferCore) -> BufferStatistics:
    """Return the state of the buffer of this core."""
    queue = core.queue
    return BufferStatistics(
        queue.length,
        len(core.items),
        core.max_items,
        queue.puts.length,
        queue.gets.length,
        core.completed is not None,
        len(core.lent),
    )


@final
@dataclass(frozen=True, slots=True)
class BroadcastStatistics(PrimitiveStatistics):
    """The state of a :class:`structsync.Broadcast`, for debugging.

    Attributes:
      subscriptions: how many are open.
      most_behind: how many items the slowest consumer has yet to get.
      max_items: how far it may be behind.
      tasks_putting: how many puts wait for room at a consumer.
      tasks_getting: how many requests of consumers wait for items.
      completed: whether nothing more may be put.
    """

    subscriptions: int
    most_behind: int
    max_items: float
    tasks_putting: int
    tasks_getting: int
    completed: bool
