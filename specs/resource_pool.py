"""A pool lends each item to one borrower at a time, makes no more than it may, and loses neither item nor place.

A task that is idle may ask for an item, and a task that waits may withdraw. A task that is granted a place makes an item there,
if none came with it, and may fail to; or finds that the one that came cannot be used, has it closed, and goes on
with the next. A task that has an item returns it, or has it discarded before. A task that comes past (the *helper*) closes
what is not to be lent any more, or makes an item ahead, and needs a place for either. The pool may be reduced,
raised again, and closed.

The state and its bounds are in `pool_model.py`: the core, and which task has which item by what the core answered. What
is promised to waiters needs help (*fair* actions): borrowers go on eventually, and a pool that was reduced is raised
again.
"""

from __future__ import annotations

from typing import Any

from structsync.checking import action, implies, invariant, invariants, leads_to, step

from .pool_model import (
    AHEAD,
    BORROWERS,
    FULL,
    HELPER,
    REDUCED,
    PoolModelSpec,
    from_idle,
    idle,
    making,
    may_discard,
    tasks_that_close,
    with_item,
)


class ResourcePoolSpec(PoolModelSpec):
    """A pool whose items do not grow old; which task has which, and which are kept."""

    # ==== Actions ====

    @action(who=idle)
    def ask(self, who: str) -> None:
        self.submitted(self.core.submit(who, waiter=who))

    @action(who=lambda spec: spec.in_queue())
    def withdraw(self, who: str) -> None:
        self.note(self.withdrawn(who))

    @action(who=making, fair=True)
    def make(self, who: str) -> None:
        item = self.new_item()
        self.core.put_in(who, item)
        self.put(who, item)
        self.note(())

    @action(who=making)
    def fail_to_make(self, who: str) -> None:
        self.leave(who)

    @action(who=with_item, fair=True)
    def begin_to_close_or_return(self, who: str) -> None:
        """Begin to close an item that is to be closed, or else return it."""
        if who in self.unfit:
            self.begin_to_close(who)
        else:
            self.leave(who)

    @action(who=from_idle)
    def reject(self, who: str) -> None:
        """A check says that the item cannot be used."""
        self.begin_to_close(who)

    @action(who=tasks_that_close, fair=True)
    def close_item(self, who: str) -> None:
        """The item is closed: a borrower goes on with the next, and a helper releases the place."""
        self.closing = tuple(one for one in self.closing if one[0] != who)
        if who not in BORROWERS:
            self.leave(who)
            return
        self.note(())
        newest = self.kept[-1:]
        fit = newest if newest and not self.is_over(newest[0][1]) else ()
        self.core.next_item(who, self.now)
        self.take(who, fit)

    @action(who=may_discard)
    def discard(self, who: str) -> None:
        self.core.discard(who)
        self.discarded = tuple(sorted((*self.discarded, who)))
        self.note(())

    @action(when=lambda spec: HELPER not in spec.has)
    def come_past(self) -> None:
        """The helper takes the oldest idle item, to be closed, if that is not to be lent any more."""
        self.note(())
        oldest = self.kept[:1]
        stale = oldest and (
            self.core.cause is not None
            or self.size > self.core.max_size
            or self.is_over(oldest[0][1])
        )
        if self.core.evict(HELPER, self.now):
            self.take(HELPER, oldest if stale else ())
            self.unfit = tuple(sorted({*self.unfit, HELPER}))
        else:
            self.due = tuple(item for item, _ in oldest) if stale else ()

    @action(size=(REDUCED,), when=lambda spec, size: spec.core.max_size != size)
    def resize(self, size: int) -> None:
        self.note(self.core.resize(size))

    @action(when=lambda spec: spec.core.max_size < FULL, fair=True)
    def grow(self) -> None:
        self.note(self.core.resize(FULL))

    @action(when=lambda spec: spec.core.cause is None)
    def close(self) -> None:
        self.note(self.core.end("closed"))

    # ==== Invariants ====

    @invariant
    def places_are_conserved(self) -> bool:
        """Those have a place that were granted one and have not released it, and no others (I1)."""
        return {*self.core.loans} == {*self.has}

    @invariant
    def no_item_is_lost_or_doubled(self) -> bool:
        """Each item that was made and not closed is lent to one, or kept (P13)."""
        lent = [one.item for one in self.core.loans.values() if one is not None]
        in_the_core = [*lent, *[one.item for one in self.core.idle]]
        in_hand = [item for item in self.has.values() if item is not None]
        in_the_model = [*in_hand, *[item for item, _ in self.kept]]
        return sorted(in_the_core) == sorted(in_the_model)

    @invariant
    def never_more_items_than_places(self) -> bool:
        """No more items are lent, kept and being closed than the pool ever had places."""
        in_hand = [item for item in self.has.values() if item is not None]
        return len(in_hand) + len(self.kept) + len(self.closing) <= FULL

    @invariant
    def nothing_is_released_twice(self) -> bool:
        """Releasing a place that one does not have is refused, and leaves no trace."""
        return invariants.refuses(self.core, lambda core: core.release("one more"))

    # ==== Step properties ====

    @step
    def only_free_places_are_granted(self, before: Any) -> bool:
        """A grant is never for a place beyond those that there are (O3, O4)."""
        return implies(bool(self.granted()), len(self.places) <= self.core.max_size)

    @step
    def the_newest_is_lent_and_the_oldest_closed(self, before: Any) -> bool:
        """A task is lent the newest idle item and a helper given the oldest to close: what is due by the model."""
        return self.handed == self.due

    @step
    def items_are_made_where_one_is_missing(self, before: Any) -> bool:
        """There come to be no more items than places, and a helper adds none above those wanted ahead."""
        one_more = self.size > before.size
        is_the_helpers = HELPER in self.has and HELPER not in before.has
        most = AHEAD if is_the_helpers else self.core.max_size
        return implies(one_more, self.size <= most)

    # ==== Temporal properties ====

    @leads_to(who=BORROWERS)
    def every_waiter_is_granted(self, who: str) -> tuple[bool, bool]:
        """If borrowers go on and the pool is raised, every task that waits is granted a place, or withdraws, or is ended."""
        waits = who in self.in_queue()
        return waits, not waits
