"""What is counted and timed for the primitives of one class and name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from .histogram import Histogram


@final
@dataclass(frozen=True, slots=True)
class PrimitiveMetrics:
    """The numbers of the primitives of one class and name.

    There may be more grants than requests: some have no request. These are the
    read lock after a :meth:`RWLock.downgrade`, the lock or monitor that a notified or signalled task gets back, and
    the monitor that a signaller gets back. Likewise for releases: a wait for a condition is one.

    Attributes:
      kind: the name of their class, of any module; ``others`` for primitives that appeared when there were too many
          names.
      name: their name; None for those that have none.
      requested: how many requests there were.
      granted: how many grants there were.
      withdrawn: how many were withdrawn, most of them because a task was cancelled.
      broken: how many ended because the primitive was closed or broke.
      released: how many claims were released.
      waiting: how many requests wait now.
      waits: the time from each request to its grant.
      holds: the time from each grant to its release, if the same task released it.
      longest_waiter: the name of the task that has waited longest for a grant so far; None if there was
          none.
      oldest_wait: how long the oldest current request has been waiting, in seconds; None if no task waits.
      oldest_waiter: the name of its task.
    """

    kind: str
    name: str | None
    requested: int
    granted: int
    withdrawn: int
    broken: int
    released: int
    waiting: int
    waits: Histogram
    holds: Histogram
    longest_waiter: str | None
    oldest_wait: float | None
    oldest_waiter: str | None
