"""Blocks and unblocks that commute: the decisions of :class:`structsync.Parker`."""

from __future__ import annotations

from structsync._core.queue.arbiter import Arbiter


class Busy(Exception):
    """Another task is already waiting where only one may."""


class ParkerCore(Arbiter[None]):
    """Unblocks that no block has used yet, and at most one blocked waiter."""

    unblocks: int

    def __init__(self) -> None:
        super().__init__()
        self.unblocks = 0

    def admits(self, claim: None) -> bool:
        return self.unblocks > 0

    def admit(self, claim: None) -> None:
        self.unblocks -= 1

    def discharge(self, claim: None) -> None:
        self.unblocks += 1

    def refuse_impossible(self, claim: None) -> None:
        if self.queue:
            raise Busy
