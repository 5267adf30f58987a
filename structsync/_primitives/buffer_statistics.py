"""What a buffer says of its state."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

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
    """

    items: int
    max_items: float
    tasks_putting: int
    tasks_getting: int
    completed: bool
