"""A state that is no queue."""

from __future__ import annotations

from structsync.checking import fault

from .abstract_queue import ShortQueue


@fault(ShortQueue, "waiting", refuted_by="no_task_waits_twice")
def two_positions_of_one_waiter() -> tuple[str, ...]:
    """Two positions in the queue, and one task that waits at both."""
    return ("a", "a")
