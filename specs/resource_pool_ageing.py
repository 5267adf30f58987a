"""Items of a pool that grow old: those that were idle for too long are closed, but for those that are made ahead.

The pool of `resource_pool.py` with a clock, whose ticks make idle items old. The clock may be exchanged for another,
as between two runs; that makes no item older. The helper may make an item ahead. State and bounds are in
`pool_model.py`.
"""

from __future__ import annotations

from structsync._core.primitives.resource_pool import ResourcePoolCore
from structsync.checking import action, invariant, invariants, start

from .pool_model import AHEAD, FULL, HELPER, LIFETIME, borrowing
from .resource_pool import ResourcePoolSpec


class AgeingPoolSpec(ResourcePoolSpec):
    """A pool whose idle items grow old, and which makes one ahead."""

    core: ResourcePoolCore = start(ResourcePoolCore, FULL, AHEAD, LIFETIME)

    # ==== Actions ====

    @action(when=lambda spec: HELPER not in spec.has)
    def fill(self) -> None:
        """The helper takes a place for an item that is missing."""
        self.note(())
        if self.core.reserve(HELPER):
            self.put(HELPER)

    @action
    def tick(self) -> None:
        self.now += 1
        self.note(())

    @action(hours=(-5, 5))
    def change_the_clock(self, hours: int) -> None:
        self.now += hours
        self.core.change_clock(self.now)
        self.kept = tuple((item, None if since is None else self.now) for item, since in self.kept)
        self.note(())

    # ==== Invariants ====

    @invariant
    def fewer_than_are_made_ahead_are_refused(self) -> bool:
        """Reducing the pool below what is made ahead is refused, and leaves no trace (I7)."""
        return invariants.refuses(self.core, lambda core: core.resize(AHEAD - 1))

    @invariant
    def what_is_over_is_told(self) -> bool:
        """An item is fit until it is discarded, or was idle for its whole lifetime."""
        since = {who: one.since for who, one in self.core.loans.items() if one is not None}
        for who in borrowing(self):
            is_discarded = who in (*self.unfit, *self.discarded)
            is_fit = not is_discarded and not self.is_over(since[who])
            if self.core.is_fit(who, self.now) != is_fit:
                return False
        return True
