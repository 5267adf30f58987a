"""Bugs of blocking and unblocking, planted in ours: each must be found by the named property."""

from __future__ import annotations

from typing import Any

from structsync._core.primitives.parker import ParkerCore
from structsync._core.queue.request import Request
from structsync.checking import fault

from .parker import ParkerSpec

Ended = list[Request[None]]


@fault(ParkerSpec, "core", refuted_by="every_unblock_lets_one_block_pass")
class UnblockBeforeBlockIsLost(ParkerCore):
    """An unblock that finds no task blocked is forgotten, and the block after it sleeps."""

    def discharge(self, claim: None) -> None:
        if self.queue:
            super().discharge(claim)


@fault(ParkerSpec, "core", refuted_by="every_unblock_lets_one_block_pass")
class UnblocksAreNotCounted(ParkerCore):
    """Two unblocks are one, as with a flag (N11: tokio#3652)."""

    def discharge(self, claim: None) -> None:
        self.unblocks = 1


@fault(ParkerSpec, "core", refuted_by="every_unblock_lets_one_block_pass")
class CancelledBlockUsesAnUnblock(ParkerCore):
    """A cancelled block takes the unblock along that comes after it (N11: tokio#3660)."""

    def withdraw(self, request: Request[None]) -> Ended | None:
        ended = super().withdraw(request)
        if ended is not None:
            self.unblocks -= 1
        return ended


@fault(ParkerSpec, "core", refuted_by="an_unblock_that_came_first_is_kept")
class BlockAlwaysWaits(ParkerCore):
    """A block does not look whether it was unblocked already."""

    def admissible(self, claim: None, priority: int = 0) -> bool:
        return False


@fault(ParkerSpec, "core", refuted_by="one_at_a_time")
class AnyTaskMayBlock(ParkerCore):
    """A second task blocks beside the first, and the unblock goes to the first."""

    def refuse_impossible(self, claim: None) -> None:
        pass


@fault(ParkerSpec, "core", refuted_by="a_blocked_task_passes")
class UnblockWakesNoTask(ParkerCore):
    """The unblock is counted, and the task that blocks is not woken."""

    def release(self, claim: None) -> list[Any]:
        self.discharge(claim)
        return []
