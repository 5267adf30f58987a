"""What is no queue."""

from __future__ import annotations

from structsync.checking import fault

from .abstract_queue import ShortQueue


@fault(ShortQueue, "waiting", refuted_by="nobody_stands_twice")
def somebody_holds_a_place_for_himself() -> tuple[str, ...]:
    """Two places in the queue, and one to stand in them."""
    return ("a", "a")
