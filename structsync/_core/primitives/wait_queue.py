"""Waiting to be woken, without a lock: the decisions of :class:`structsync.WaitQueue`."""

from __future__ import annotations

from structsync._core.queue.arbiter import Arbiter
from structsync._core.queue.request import Request


class WaitQueueCore(Arbiter[None]):
    """A queue, and the wakes of the call that is running: a wake that finds no task is not kept."""

    wakes: int  # 0 when quiescent

    def __init__(self) -> None:
        super().__init__()
        self.wakes = 0

    def admits(self, claim: None) -> bool:
        return self.wakes > 0

    def admit(self, claim: None) -> None:
        self.wakes -= 1

    def discharge(self, claim: None) -> None:
        raise NotImplementedError("a wait queue holds nothing that could be released")

    def wake(self, count: int | None) -> list[Request[None]]:
        """Grant the oldest ``count`` waiters (all if None)."""
        waiting = len(self.queue)
        self.wakes = waiting if count is None else min(count, waiting)
        return self.settle()
