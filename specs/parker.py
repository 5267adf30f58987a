"""A parker lets one block pass for each unblock, in whichever order they come.

Several tasks block here, one at a time; others unblock. The one that blocks may withdraw, and a task may close
the parker. The model is one number: unblocks that were given, minus blocks that have passed. What is
promised to the one that blocks needs a task that unblocks eventually (a *fair* action).
"""

from __future__ import annotations

from typing import Any

from structsync._core.primitives.parker import ParkerCore
from structsync._core.queue.request import Request
from structsync.checking import action, implies, invariant, invariants, leads_to, start, step

from .common import FifoSpec

# ==== Bounds ====

TASKS = ("a", "b", "c", "d")  # one that blocks, and others that come meanwhile or afterwards

# Unblocks ahead of the blocks that use them. Beside which task blocks, this number is all that the state
# counts; a mistake in counting shows at 0, 1 or 2.
AHEAD = 5


class ParkerSpec(FifoSpec):
    """A parker, and how many unblocks no block has used."""

    newcomers = ((None, 0),)
    core: ParkerCore = start(ParkerCore)
    unused: int = start(int)  # unblocks given, minus blocks that passed

    def got(self, request: Request[Any]) -> None:
        self.unused -= 1

    # ==== Actions ====

    @action(who=TASKS, when=lambda spec, who: spec.core.cause is None and not spec.core.queue)
    def block(self, who: str) -> None:
        self.submitted(self.core.submit(None, waiter=who))

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
        """As many unblocks are on hand as were given and not used, and never fewer than none (I1)."""
        return self.core.unblocks == self.unused >= 0

    @invariant
    def one_at_a_time(self) -> bool:
        """While a task blocks, and only then, another that comes is refused, and that leaves no trace."""
        refused = invariants.refuses(self.core, lambda core: core.enqueue(None))
        a_task_blocks = bool(self.core.queue)
        return implies(self.core.cause is None, refused == a_task_blocks)

    # ==== Step properties ====

    @step
    def an_unblock_that_came_first_is_kept(self, before: Any) -> bool:
        """No task begins to wait while an unblock is on hand."""
        begins_to_wait = bool(self.core.queue) and not before.core.queue
        return implies(begins_to_wait, before.unused == 0)

    # ==== Temporal properties ====

    @leads_to(who=TASKS)
    def a_blocked_task_passes(self, who: str) -> tuple[bool, bool]:
        """If tasks unblock, every task that blocks passes eventually, or withdraws, or is ended by a close."""
        waits = who in self.in_queue()
        return waits, not waits
