"""The naive model of a pool: which task has a place with which item, which items are kept, and which are being closed.

A *place* is the right to have one item. Its task makes an item there, if none came with it, or has one closed there;
so an item that is being made or closed counts as one that exists. The model is made from nothing but what the core
answers, and says itself what the core should have lent: what is *due*. Time matters only to a pool
whose items grow old (`resource_pool_ageing.py`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import partial
from typing import Any

from structsync._core.primitives.resource_pool import Kept, ResourcePoolCore
from structsync._core.queue.request import Request
from structsync.checking import start

from .common import FifoSpec

# ==== Bounds ====

FULL = 2  # one item may be lent while another one is idle, made or closed
REDUCED = 1  # below what is lent
AHEAD = 1  # of two idle items whose lifetime is over, one is kept
LIFETIME = 1  # in ticks: an idle item is new, or its lifetime is over
BORROWERS = ("a", "b", "c")  # one with each item and one behind them, or two in the queue
HELPER = "helper"  # one is enough: two of them have nothing to do with each other

# Two exist; a third where a faulty pool has one too many, and one more that is made then.
ITEMS = (1, 2, 3, 4)

# ==== Which task may do what ====


def idle(spec: PoolModelSpec) -> list[str]:
    """Return which tasks neither have a place nor wait for one, while the pool is open."""
    busy = {*spec.has, *spec.in_queue()}
    return [who for who in spec.borrowers if who not in busy] if spec.core.cause is None else []


def making(spec: PoolModelSpec) -> list[str]:
    """Return which tasks have a place with nothing in it, and close nothing there."""
    return [who for who, item in spec.places if item is None and who not in tasks_that_close(spec)]


def tasks_that_close(spec: PoolModelSpec) -> list[str]:
    return [who for who, _ in spec.closing]


def with_item(spec: PoolModelSpec) -> list[str]:
    return [who for who, item in spec.places if item is not None]


def borrowing(spec: PoolModelSpec) -> list[str]:
    return [who for who in with_item(spec) if who in BORROWERS]


def may_discard(spec: PoolModelSpec) -> list[str]:
    return [who for who in borrowing(spec) if who not in (*spec.unfit, *spec.discarded)]


def from_idle(spec: PoolModelSpec) -> list[str]:
    """Return which tasks have an item that was idle before, and not made in this place."""
    found = {who: spec.core.loans[who] for who in may_discard(spec)}
    return [who for who, kept in found.items() if kept is not None and kept.since != math.inf]


# ==== The model ====


def _ago(now: int, since: float | None) -> float | None:
    return since if since in (None, math.inf) else max(since - now, -LIFETIME)


class PoolModelSpec(FifoSpec):
    """A pool, which task has which of its items, and which are kept."""

    abstract = True

    borrowers: tuple[str, ...] = BORROWERS
    newcomers = (("one more", 0),)
    core: ResourcePoolCore = start(ResourcePoolCore, FULL)
    now: int = start(lambda: 0)
    places: tuple[tuple[str, int | None], ...] = start(tuple)  # of each task, with what in it
    closing: tuple[tuple[str, int], ...] = start(tuple)  # which task closes what in its place
    # Which items are idle since when, oldest first; None is an item that is to be closed.
    kept: tuple[tuple[int, int | None], ...] = start(tuple)
    unfit: tuple[str, ...] = start(tuple)  # those that were granted an item that is to be closed
    discarded: tuple[str, ...] = start(tuple)  # those that want their items to be closed
    handed: tuple[object, ...] = start(tuple)  # which idle items the last action took
    due: tuple[object, ...] = start(tuple)  # which it should have taken, by the model

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

    # ==== Views ====

    @property
    def has(self) -> dict[str, int | None]:
        """The tasks that have a place, and the item in it."""
        return dict(self.places)

    @property
    def size(self) -> int:
        """How many items there are, those that are being made and closed included."""
        return len(self.places) + len(self.kept)

    def is_over(self, since: float | None) -> bool:
        """Return whether an item that is idle since then is to be closed: discarded, or too old."""
        if since is None:
            return True
        core = self.core
        return bool(core.max_idle and self.size > core.min_size and self.now - since >= LIFETIME)

    def new_item(self) -> int:
        used = {*self.has.values(), *dict(self.kept), *dict(self.closing).values()}
        return next(item for item in ITEMS if item not in used)

    # ==== Words that actions use ====

    def note(self, ended: Iterable[Request[Any]]) -> None:
        self.handed = self.due = ()
        super().note(ended)

    def got(self, request: Request[Any]) -> None:
        self.take(request.waiter, self.kept[-1:])

    def take(self, who: str, due: tuple[Any, ...]) -> None:
        """Record what the core says that a task was given, and which idle item was due to it."""
        given = self.core.loans.get(who)
        items = () if given is None else (given.item,)
        self.handed += items
        self.due += tuple(item for item, _ in due)
        self.kept = tuple(one for one in self.kept if one[0] not in items)
        self.put(who, *items)
        if given is not None and given.since is None:
            self.unfit = tuple(sorted({*self.unfit, who}))

    def put(self, who: str, item: int | None = None) -> None:
        """Record that a task has a place, with this item in it, or with none."""
        self.places = tuple(sorted((self.has | {who: item}).items()))

    def leave(self, who: str) -> None:
        """Release a task's place, and keep what is in it."""
        item = self.has[who]
        self.places = tuple(one for one in self.places if one[0] != who)
        if item is not None and who in (*self.unfit, *self.discarded):
            self.kept = ((item, None), *self.kept)
        elif item is not None:
            self.kept = (*self.kept, (item, self.now))
        self.unfit = tuple(one for one in self.unfit if one != who)
        self.discarded = tuple(one for one in self.discarded if one != who)
        self.note(self.core.put_back(who, self.now))

    def begin_to_close(self, who: str) -> None:
        """Take the item in a task's place out, to be closed there."""
        item = self.core.take_out(who)
        self.closing = tuple(sorted((*self.closing, (who, item))))
        self.put(who)
        self.unfit = tuple(one for one in self.unfit if one != who)
        self.note(())
