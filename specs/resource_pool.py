"""A pool lends each item to one borrower at a time, makes no more than it may, and loses neither item nor place.

Whoever is idle may ask for an item. Who is granted a place makes an item there, if none came with it, and may
fail to; or finds that the one that came cannot be used, has it closed, and goes on with the next. Who has
an item returns it, or has it discarded before. Somebody who comes past (the *helper*) closes what is not to be
lent any more, or makes an item ahead, and needs a place for either.

An item that is being made or closed counts as one that exists. The naive model is who has which item, and which
are kept since when, by what the core answered.

What is promised to those who wait needs help (*fair* actions): borrowers go on eventually, and a pool that was
reduced is raised again.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import partial
from typing import Any

from structsync._core.primitives.resource_pool import Kept, ResourcePoolCore
from structsync._core.queue.request import Request
from structsync.checking import action, invariant, invariants, leads_to, start, step

from .common import FifoSpec

# ==== Bounds ====

FULL = 2  # one item may be lent while another one is idle, made or closed
REDUCED = 1  # below what is lent
AHEAD = 1  # of two idle ones that are over, one is kept
LIFETIME = 1  # tick; an item is idle since now, or over
BORROWERS = ("a", "b", "c")  # one with each item and one behind them, or two in the queue
HELPER = "helper"  # one is enough: two of them have nothing to do with each other

ITEMS = (1, 2, 3, 4)  # one more than exist at any time: two that are lent, and two that are closed


def idle(spec: ResourcePoolSpec) -> list[str]:
    busy = {*spec.has, *spec.in_queue()}
    return [who for who in spec.borrowers if who not in busy] if spec.core.cause is None else []


def empty(spec: ResourcePoolSpec) -> list[str]:
    return [who for who, item in spec.places if item is None and who not in dict(spec.closing)]


def with_item(spec: ResourcePoolSpec) -> list[str]:
    return [who for who, item in spec.places if item is not None]


def borrowing(spec: ResourcePoolSpec) -> list[str]:
    return [who for who in with_item(spec) if who in BORROWERS]


def may_discard(spec: ResourcePoolSpec) -> list[str]:
    return [who for who in borrowing(spec) if who not in (*spec.unfit, *spec.discarded)]


def from_idle(spec: ResourcePoolSpec) -> list[str]:
    """Return whose item is one that was not made for them."""
    found = {who: spec.core.loans[who] for who in may_discard(spec)}
    return [who for who, kept in found.items() if kept is not None and kept.since != math.inf]


def who_closes(spec: ResourcePoolSpec) -> list[str]:
    return [who for who, _ in spec.closing]


def _ago(now: int, since: float | None) -> float | None:
    return since if since in (None, math.inf) else max(since - now, -LIFETIME)


class ResourcePoolSpec(FifoSpec):
    """A pool, who has which of its items, and those that are kept."""

    borrowers: tuple[str, ...] = BORROWERS
    newcomers = (("one more", 0),)
    core: ResourcePoolCore = start(ResourcePoolCore, FULL)
    now: int = start(lambda: 0)
    places: tuple[tuple[str, int | None], ...] = start(tuple)  # who has a place, with what in it
    closing: tuple[tuple[str, int], ...] = start(tuple)  # who closes what in its place
    kept: tuple[tuple[int, int | None], ...] = start(
        tuple
    )  # which are idle since when, oldest first
    unfit: tuple[str, ...] = start(tuple)  # who was granted an item that is to be closed
    discarded: tuple[str, ...] = start(tuple)  # who has decided so of the own one
    handed: tuple[object, ...] = start(tuple)  # what the last action took of those
    due: tuple[object, ...] = start(tuple)  # what it should have taken

    def canonical(self, snapshot: Any) -> Any:
        """Count time from now, no further back than matters, and items in the order in which they stand."""
        loans, idle, rest = snapshot.core
        ago = partial(_ago, snapshot.now)
        lent = sorted((who, one and Kept(one.item, ago(one.since))) for who, one in loans)
        known = [*snapshot.places, *snapshot.closing, *[(None, item) for item, _ in snapshot.kept]]
        number: dict[int | None, int | None] = {None: None}
        for _, item in known:
            number.setdefault(item, len(number))

        def renamed(pairs: Any) -> Any:
            return tuple((who, number[item]) for who, item in pairs)

        changed = snapshot._replace(
            core=(
                tuple((who, one and one._replace(item=number[one.item])) for who, one in lent),
                tuple(Kept(number[one.item], ago(one.since)) for one in idle),
                rest,
            ),
            now=0,
            places=renamed(snapshot.places),
            closing=renamed(snapshot.closing),
            kept=tuple((number[item], ago(since)) for item, since in snapshot.kept),
            handed=(),
            due=(),
        )
        return super().canonical(changed)

    # ==== Words that actions use ====

    @property
    def has(self) -> dict[str, int | None]:
        return dict(self.places)

    @property
    def size(self) -> int:
        """How many items there are, those that are being made and closed included."""
        return len(self.places) + len(self.kept)

    def is_over(self, since: int | None) -> bool:
        if since is None:
            return True
        core = self.core
        return bool(core.max_idle and self.size > core.min_size and self.now - since >= LIFETIME)

    def note(self, ended: Iterable[Request[Any]]) -> None:
        self.handed = self.due = ()
        super().note(ended)

    def got(self, request: Request[Any]) -> None:
        self.take(request.waiter, self.kept[-1:])

    def take(self, who: str, due: tuple[Any, ...]) -> None:
        """Take down what the core says that somebody was given, and what it should have been."""
        given = self.core.loans.get(who)
        items = () if given is None else (given.item,)
        self.handed += items
        self.due += tuple(item for item, _ in due)
        self.kept = tuple(one for one in self.kept if one[0] not in items)
        self.put(who, *items)
        if given is not None and given.since is None:
            self.unfit = tuple(sorted({*self.unfit, who}))

    def put(self, who: str, item: int | None = None) -> None:
        self.places = tuple(sorted((self.has | {who: item}).items()))

    def leave(self, who: str) -> None:
        """Give somebody's place back, and keep what is in it."""
        item = self.has[who]
        self.places = tuple(one for one in self.places if one[0] != who)
        if item is not None and who in (*self.unfit, *self.discarded):
            self.kept = ((item, None), *self.kept)
        elif item is not None:
            self.kept = (*self.kept, (item, self.now))
        self.unfit = tuple(one for one in self.unfit if one != who)
        self.discarded = tuple(one for one in self.discarded if one != who)
        self.note(self.core.put_back(who, self.now))

    def new_item(self) -> int:
        used = {*self.has.values(), *dict(self.kept), *dict(self.closing).values()}
        return next(item for item in ITEMS if item not in used)

    # ==== Actions ====

    @action(who=idle)
    def ask(self, who: str) -> None:
        self.asked(self.core.submit(who, waiter=who))

    @action(who=lambda spec: spec.in_queue())
    def withdraw(self, who: str) -> None:
        self.note(self.withdrawn(who))

    @action(who=empty, fair=True)
    def make(self, who: str) -> None:
        item = self.new_item()
        self.core.put_in(who, item)
        self.put(who, item)
        self.note(())

    @action(who=empty)
    def fail_to_make(self, who: str) -> None:
        self.leave(who)

    @action(who=with_item, fair=True)
    def begin_to_close_or_return(self, who: str) -> None:
        """Who was given an item that is to be closed closes it, and so does a helper."""
        if who in self.unfit:
            self.begin_to_close(who)
        else:
            self.leave(who)

    @action(who=from_idle)
    def reject(self, who: str) -> None:
        """A check says that the item cannot be used."""
        self.begin_to_close(who)

    def begin_to_close(self, who: str) -> None:
        item = self.core.take_out(who)
        self.closing = tuple(sorted((*self.closing, (who, item))))
        self.put(who)
        self.unfit = tuple(one for one in self.unfit if one != who)
        self.note(())

    @action(who=who_closes, fair=True)
    def close_item(self, who: str) -> None:
        """It is closed: a borrower goes on with the next item."""
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
        """Close the oldest item if it is not to be lent any more."""
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
        """Those have a place who were granted one and have not given it back (I1)."""
        return sorted(map(str, self.core.loans)) == [who for who, _ in self.places]

    @invariant
    def no_item_is_lost_or_doubled(self) -> bool:
        """Each item that was made and not closed is lent to one, or kept (P13)."""
        lent = [one.item for one in self.core.loans.values() if one is not None]
        there = sorted(lent + [one.item for one in self.core.idle])
        known = [item for item in self.has.values() if item is not None]
        return there == sorted(known + [item for item, _ in self.kept])

    @invariant
    def never_more_items_than_places(self) -> bool:
        """Nor than there were, if the pool was reduced: what is made or closed counts, too."""
        items = [item for item in self.has.values() if item is not None]
        return len(items) + len(self.kept) + len(self.closing) <= FULL

    @invariant
    def nothing_is_given_back_twice(self) -> bool:
        """Whoever has no place cannot give one back, and the attempt leaves no trace."""
        return invariants.refuses(self.core, lambda core: core.release("one more"))

    # ==== Step properties ====

    @step
    def only_free_places_are_granted(self, before: Any) -> bool:
        """Whoever is granted a place is granted one that was there (O3, O4)."""
        return not self.granted() or len(self.places) <= self.core.max_size

    @step
    def the_newest_is_lent_and_the_oldest_closed(self, before: Any) -> bool:
        """So what is not needed grows old, and is closed."""
        return self.handed == self.due

    @step
    def items_are_made_where_one_is_missing(self, before: Any) -> bool:
        """No place is taken beyond those that there are, or ahead of more than there should be."""
        if self.size <= before.size:
            return True
        ahead = HELPER in self.has and HELPER not in before.has
        return self.size <= (AHEAD if ahead else self.core.max_size)

    # ==== Temporal properties ====

    @leads_to(who=BORROWERS)
    def who_waits_is_granted(self, who: str) -> tuple[bool, bool]:
        """If borrowers go on, whoever waits is granted a place, or gives up, or is told."""
        waits = who in self.in_queue()
        return waits, not waits
