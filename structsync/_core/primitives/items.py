"""In which order the items of a buffer come out: first in, last in, or smallest first.

An order keeps the items and decides nothing else. They are containers, so that the C code of a deque
counts, puts and takes: that is a tenth of an exchange.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Iterable
from typing import Any, ClassVar, TypeAlias

from structsync._core.queue.user_code import UserCodeFailed


class FirstInFirstOut(deque[Any]):
    """The oldest item comes out next."""

    __slots__ = ()
    name: ClassVar[str] = "fifo"
    compares: ClassVar[bool] = False  # whether items have ranks, which are compared
    put: ClassVar[Any] = deque.append  # extend by one
    take: ClassVar[Any] = deque.popleft

    def snapshot(self) -> Hashable:
        """Return the items, hashable if they are."""
        return tuple(self)

    def restored(self, snapshot: Any) -> FirstInFirstOut:
        """Return other items: those of the snapshot."""
        return type(self)(snapshot)


class LastInFirstOut(FirstInFirstOut):
    """The youngest item comes out next."""

    __slots__ = ()
    name: ClassVar[str] = "lifo"
    take: ClassVar[Any] = deque.pop


class SmallestFirst(list[tuple[Any, Any]]):
    """The item of the smallest rank comes out next, the oldest among equals.

    Pairs of a rank and an item, in descending order. A sorted list rather than a heap: all that it runs
    of the user are comparisons when an item is put in, before anything has changed, and none when one is
    taken out. The price is a move of memory for each item that is put in, 10 us among 100,000.
    """

    __slots__ = ()
    name: ClassVar[str] = "priority"
    compares: ClassVar[bool] = True

    def can_put(self, pairs: Iterable[tuple[Any, Any]]) -> bool:
        """Return True, or raise UserCodeFailed if the ranks of these pairs cannot be compared."""
        try:
            ranks = [rank for rank, _ in pairs]
            sorted([*ranks, ranks[0]])  # among themselves, a single one too
            for rank in ranks:
                self._place(rank)
        except BaseException as error:  # noqa: BLE001 - of the user; it is raised as it is
            raise UserCodeFailed(error) from None
        return True

    def extend(self, pairs: Iterable[tuple[Any, Any]]) -> None:
        """Put pairs of a rank and an item in; never raises."""
        for pair in pairs:
            try:
                place = self._place(pair[0])
            except BaseException:  # noqa: BLE001 - a moment ago it could be compared
                place = 0  # where it comes out last; it must not be lost
            self.insert(place, pair)

    def put(self, pair: tuple[Any, Any]) -> None:
        self.extend((pair,))

    def take(self) -> Any:
        return self.pop()[1]

    def snapshot(self) -> Hashable:
        return tuple(self)

    def restored(self, snapshot: Any) -> SmallestFirst:
        return type(self)(snapshot)

    def copy(self) -> SmallestFirst:
        return type(self)(self)

    def _place(self, rank: Any) -> int:
        """Return where the rank belongs: behind all that are greater, before those that are equal."""
        low, high = 0, len(self)
        while low < high:
            middle = (low + high) // 2
            if rank < self[middle][0]:
                low = middle + 1
            else:
                high = middle
        return low


Items: TypeAlias = FirstInFirstOut | LastInFirstOut | SmallestFirst

ORDERS: dict[str, type[Items]] = {
    order.name: order for order in (FirstInFirstOut, LastInFirstOut, SmallestFirst)
}


def make_items(policy: str) -> Items:
    """Return the empty items of a policy.

    Raises:
      ValueError: if there is no such policy.
    """
    if policy not in ORDERS:
        raise ValueError(f"policy must be 'fifo', 'lifo' or 'priority', not {policy!r}")
    return ORDERS[policy]()
