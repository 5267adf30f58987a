"""A parker lets one block pass for each unblock, in whichever order they come.

Several tasks block here, one at a time; others unblock. The model counts what was said: how many
unblocks were given, how many blocks have passed. What is promised to the one who blocks needs
somebody who unblocks eventually (a *fair* action).
"""

from __future__ import annotations

from typing import Any

from structsync._core.primitives.parker import ParkerCore
from structsync._core.queue.request import Request
from structsync.checking import action, invariant, invariants, leads_to, start, step

from .common import FifoSpec

# ==== Bounds ====

TASKS = ("a", "b", "c", "d")  # one that blocks, and others who come meanwhile or afterwards

# Unblocks ahead of the blocks that use them. The whole state is this number and who blocks, so it
# has few values; a mistake in counting shows at 0, 1 or 2.
AHEAD = 5


class ParkerSpec(FifoSpec):
    """A parker, and how many unblocks nobody has used."""

    newcomers = ((None, 0),)
    core: ParkerCore = start(ParkerCore)
    unused: int = start(int)  # unblocks given, minus blocks that passed

    def got(self, request: Request[Any]) -> None:
        self.unused -= 1

    # ==== Actions ====

    @action(who=TASKS, when=lambda spec, who: spec.core.cause is None and not spec.core.queue)
    def block(self, who: str) -> None:
        self.asked(self.core.submit(None, waiter=who))

    @action(who=lambda spec: spec.in_queue())
    def withdraw(self, who: str) -> None:
        self.note(self.withdrawn(who))

    @action(when=lambda spec: spec.unused < AHEAD, fair=True)
    def unblock(self) -> None:
        self.unused += 1
        self.note(self.core.release(None))

    @action(when=lambda spec: spec.core.cause is None)
    def close(self) -> None:
        self.note(self.core.end("closed"))

    # ==== Invariants ====

    @invariant
    def every_unblock_lets_one_block_pass(self) -> bool:
        """As many unblocks are on hand as were given and not used; never less than none."""
        return self.core.unblocks == self.unused >= 0

    @invariant
    def one_at_a_time(self) -> bool:
        """Whoever comes while another blocks is refused, and that leaves no trace."""
        refused = invariants.refuses(self.core, lambda core: core.enqueue(None))
        return self.core.cause is not None or refused == bool(self.core.queue)

    # ==== Step properties ====

    @step
    def an_unblock_that_came_first_is_kept(self, before: Any) -> bool:
        """Nobody begins to wait while an unblock is on hand."""
        return bool(before.core.queue) or not self.core.queue or before.unused == 0

    # ==== Temporal properties ====

    @leads_to(who=TASKS)
    def who_blocks_passes(self, who: str) -> tuple[bool, bool]:
        """If somebody unblocks, whoever blocks passes eventually, or gives up, or is told."""
        waits = who in self.in_queue()
        return waits, not waits
