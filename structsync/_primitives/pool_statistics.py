"""The state of a pool, for debugging and for progress."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from structsync._runtime.live import PrimitiveStatistics


@final
@dataclass(frozen=True, slots=True)
class PoolStatistics(PrimitiveStatistics):
    """The state of a pool, for debugging and for progress.

    Attributes:
      tasks_waiting: the jobs that wait for a worker.
      held_back: how many of these have not been accepted yet, because the queue is full.
      running: the jobs that run.
      workers: the workers that there may be.
      done: the jobs that have returned so far.
      failed: the jobs that have raised.
      cancelled: the jobs that were cancelled, whether they ran or not.
    """

    held_back: int
    running: int
    workers: int
    done: int
    failed: int
    cancelled: int
