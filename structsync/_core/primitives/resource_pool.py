"""Items that are lent, and kept for the next borrower: the decisions of :class:`structsync.ResourcePool`.

A grant is a *place*: the right to have one item. The newest idle item comes with it; where there is none, the
borrower makes one in its place. So at most as many items exist as there are places, those that are being
made and closed included, and whatever becomes of a borrower, all that can be lost is its place: which goes
to the next as soon as it is released.

A task that closes an item needs a place for that as well, and so does one that makes an item ahead. No task waits for an
item to be closed: one that is not to be lent again stays among the idle ones, at their bottom, and is closed
by the task that is granted it, or by the first to come past.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Hashable
from typing import Any, NamedTuple

from structsync._core.queue.arbiter import Arbiter
from structsync._core.queue.request import Request


class Kept(NamedTuple):
    """An item, and since when it is idle: None if it is to be closed, infinity if it never was."""

    item: Any
    since: float | None


class ResourcePoolCore(Arbiter[Any]):
    """Which task has which item, and which items are idle.

    The claim is a loan: each is made once, and stands for the place that it is granted.
    """

    max_size: int  # how many places there are; may be less than what is lent
    min_size: int  # so many items are not closed for being idle
    max_idle: float | None  # for how long an item may be idle

    def __init__(self, max_size: int, min_size: int = 0, max_idle: float | None = None) -> None:
        super().__init__()
        self.max_size = max_size
        self.min_size = min_size
        self.max_idle = max_idle
        # Which loans have a place, and what is in it: nothing while it is made or closed.
        self.loans: dict[Hashable, Kept | None] = {}
        self.idle: deque[Kept] = deque()  # the newest is at the right

    @property
    def is_idle(self) -> bool:
        return not self.queue and not self.loans

    @property
    def size(self) -> int:
        """How many items there are, those that are being made or closed included."""
        return len(self.loans) + len(self.idle)

    # The three functions.

    def admits(self, claim: Hashable) -> bool:
        return len(self.loans) < self.max_size

    def admit(self, claim: Hashable) -> bool:
        self.loans[claim] = self.idle.pop() if self.idle else None
        return len(self.loans) >= self.max_size

    def discharge(self, claim: Hashable) -> None:
        if claim not in self.loans:
            raise RuntimeError("this place in the pool was released already")
        del self.loans[claim]

    # What a borrower does in its place.

    def is_fit(self, claim: Hashable, now: float) -> bool:
        """Return whether the item in a place may be used, as far as time tells."""
        kept = self.loans[claim]
        return kept is not None and not self._is_over(kept, now)

    def put_in(self, claim: Hashable, item: Any) -> None:
        """Take note of the item that was made in a place."""
        self.loans[claim] = Kept(item, math.inf)

    def take_out(self, claim: Hashable) -> Any:
        """Return the item that is in a place, to be closed there."""
        kept, self.loans[claim] = self.loans[claim], None
        return None if kept is None else kept.item

    def next_item(self, claim: Hashable, now: float) -> None:
        """Put the newest idle item, if that may be used, in a place whose own was closed."""
        if self.idle and not self._is_over(self.idle[-1], now):
            self.loans[claim] = self.idle.pop()

    def discard(self, claim: Hashable) -> None:
        """Let the item in a place be closed, and not be lent again."""
        kept = self.loans[claim]
        if kept is not None:
            self.loans[claim] = Kept(kept.item, None)

    def loan_of(self, item: Any) -> Hashable:
        """Return the claim in whose place an item is; None if it is not lent."""
        for claim, kept in self.loans.items():
            if kept is not None and kept.item is item:
                return claim
        return None

    # Transitions.

    def put_back(self, claim: Hashable, now: float) -> list[Request[Any]]:
        """Release a place; what is in it is kept for the next."""
        kept = self.loans[claim]
        self.discharge(claim)
        if kept is not None:
            if kept.since is None:
                self.idle.appendleft(kept)
            else:
                self.idle.append(Kept(kept.item, now))
        return self.settle()

    def evict(self, claim: Hashable, now: float) -> bool:
        """Take a place with an idle item that is to be closed, the oldest; return whether there is one."""
        if not self.has_stale(now):
            return False
        self.loans[claim] = self.idle.popleft()
        return True

    def has_stale(self, now: float) -> bool:
        """Return whether an idle item is to be closed: no block may use it, or there are too many."""
        if not self.idle:
            return False
        return (
            self.cause is not None or self.size > self.max_size or self._is_over(self.idle[0], now)
        )

    def reserve(self, claim: Hashable) -> bool:
        """Take a place for an item to be made ahead; return whether one is missing."""
        if self.cause is not None or self.size >= self.min_size:
            return False
        self.loans[claim] = None
        return True

    def resize(self, max_size: int) -> list[Request[Any]]:
        """Change the number of places; those that are taken stay taken."""
        if max_size < self.min_size:
            raise ValueError(
                f"max_size must be >= min_size, which is {self.min_size}, not {max_size}"
            )
        self.max_size = max_size
        return self.settle()

    def change_clock(self, now: float) -> None:
        """Go on by another clock, which shows ``now``; what was idle is so from now on."""
        self.idle = deque([_idle_since(kept, now) for kept in self.idle])
        for claim, kept in self.loans.items():
            if kept is not None:
                self.loans[claim] = _idle_since(kept, now)

    def _is_over(self, kept: Kept, now: float) -> bool:
        if kept.since is None:
            return True
        if self.max_idle is None or self.size <= self.min_size:
            return False
        return now - kept.since >= self.max_idle

    def snapshot(self) -> Hashable:
        return (tuple(self.loans.items()), tuple(self.idle), super().snapshot())

    def restore(self, snapshot: Any) -> None:
        loans, idle, rest = snapshot
        super().restore(rest)
        self.loans = dict(loans)
        self.idle = deque(idle)


def _idle_since(kept: Kept, now: float) -> Kept:
    return kept if kept.since in (None, math.inf) else Kept(kept.item, now)
