"""Items of a buffer that are in hand: lent to a block, and put back where they were if it fails.

A lent item keeps its room: a put waits until the block ends, so that it can always be put back. And it
keeps its position, for which items have numbers: in the order in which they were put, from the first loan
on. A buffer that lends nothing knows none of this.

What is complete may still get an item back, so a task that waits for one waits until nothing is lent any more.
"""

from __future__ import annotations

from bisect import insort
from collections import deque
from collections.abc import Hashable, Iterable
from operator import itemgetter
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias, TypeVar, cast

from structsync._core.queue.arbiter import Arbiter
from structsync._core.queue.request import Request

from .items import FirstInFirstOut, Items, SmallestFirst
from .sides import Lend

#: What is kept of an item: its rank if items have ranks, the item, and its number.
Entry: TypeAlias = tuple[Any, ...]

NumberedT = TypeVar(
    "NumberedT", "NumberedFirstInFirstOut", "NumberedLastInFirstOut", "NumberedSmallestFirst"
)


class NumberedFirstInFirstOut(deque[Entry]):
    """The oldest item comes out next; one that is put back is older than those that never were out."""

    __slots__ = ("next_number",)
    name: ClassVar[str] = "fifo"
    compares: ClassVar[bool] = False
    next_number: int

    def extend(self, items: Iterable[Any]) -> None:
        """Put items in that were never in it."""
        _number(self, items)

    def put(self, item: Any) -> None:
        _number(self, (item,))

    def copy(self) -> NumberedFirstInFirstOut:
        return _copy(self)

    def take(self) -> Any:
        return self.popleft()[0]

    def take_entry(self) -> Entry:
        return self.popleft()

    def put_back(self, entry: Entry) -> None:
        """Put an entry in where it was; never raises."""
        insort(self, entry, key=itemgetter(-1))


class NumberedLastInFirstOut(list[Entry]):
    """The youngest item comes out next, wherever those are that were put before it."""

    __slots__ = ("next_number",)
    name: ClassVar[str] = "lifo"
    compares: ClassVar[bool] = False
    next_number: int

    def extend(self, items: Iterable[Any]) -> None:
        _number(self, items)

    def put(self, item: Any) -> None:
        _number(self, (item,))

    def copy(self) -> NumberedLastInFirstOut:
        return _copy(self)

    def take(self) -> Any:
        return self.pop()[0]

    def take_entry(self) -> Entry:
        return self.pop()

    def put_back(self, entry: Entry) -> None:
        insort(self, entry, key=itemgetter(-1))


class NumberedSmallestFirst(SmallestFirst):
    """The item of the smallest rank comes out next, the oldest among equals."""

    __slots__ = ("next_number",)
    next_number: int

    def copy(self) -> NumberedSmallestFirst:
        return _copy(self)

    def insert(self, place: Any, pair: Any) -> None:
        super().insert(place, (*pair, self.next_number))
        self.next_number += 1

    def take_entry(self) -> Entry:
        return self.pop()

    def put_back(self, entry: Entry) -> None:
        low, high = 0, len(self)
        try:
            while low < high:
                middle = (low + high) // 2
                if self._is_after(self[middle], entry):
                    low = middle + 1
                else:
                    high = middle
        except BaseException:  # noqa: BLE001 - of the user; it must not be lost
            low = len(self)  # where it comes out next
        super().insert(low, entry)

    @staticmethod
    def _is_after(one: Entry, entry: Entry) -> bool:
        return bool(entry[0] < one[0] or (one[-1] > entry[-1] and not one[0] < entry[0]))


def _number(numbered: Any, items: Iterable[Any]) -> None:
    for item in items:
        numbered.append((item, numbered.next_number))
        numbered.next_number += 1


def _copy(numbered: NumberedT) -> NumberedT:
    found: Any = type(numbered)(numbered)
    found.next_number = numbered.next_number
    return cast(NumberedT, found)


def _numbered(items: Items) -> Any:
    """Return the same items with numbers: in the order in which they come out, or for a stack in the other."""
    if isinstance(items, SmallestFirst):
        found: Any = NumberedSmallestFirst()
        entries = [(*pair, number) for number, pair in enumerate(reversed(items))]
        list.extend(found, reversed(entries))
    else:
        found = (
            NumberedFirstInFirstOut()
            if type(items) is FirstInFirstOut
            else NumberedLastInFirstOut()
        )
        found.next_number = 0
        found.extend(items)
    found.next_number = len(items)
    return found


class LendingArbiter(Arbiter[Any]):
    """What a buffer knows of items that are in hand."""

    max_items: float  # an int >= 1 or math.inf
    room: float  # for how many items there is room beside those that are lent; -inf at the end
    if TYPE_CHECKING:  # an annotation that is executed would declare state
        items: Any

    def start_lending(self) -> None:
        """Begin with nothing lent."""
        self.room = self.max_items
        self.lent: dict[Hashable, Entry] = {}

    @property
    def is_idle(self) -> bool:
        return not self.queue and not self.lent

    def lend(self, claim: Lend) -> Lend:
        """Take the next item out for a claim, which is used up or put back."""
        if not hasattr(self.items, "next_number"):
            self.items = _numbered(self.items)
        self.lent[claim] = self.items.take_entry()
        self.room -= 1
        return claim

    def item_of(self, claim: Hashable) -> Any:
        """Return the item that is lent for a claim."""
        return self.lent[claim][-2]

    def discharge(self, claim: Any) -> None:
        """Let an item that was lent be used up: there is room for another one."""
        if claim not in self.lent:
            raise RuntimeError("this item of the buffer is not in hand any more")
        del self.lent[claim]
        self.room += 1

    def put_back(self, claim: Hashable) -> list[Request[Any]]:
        """Put an item that was lent where it was; drop it if the buffer is closed."""
        entry = self.lent[claim]
        self.discharge(claim)
        if self.cause is None:
            self.items.put_back(entry)
        return self.settle()

    # Numbers count as far as they order: equal situations have equal snapshots.

    def snapshot_of_items(self) -> Hashable:
        """Return the items, and those that are lent."""
        if not hasattr(self.items, "next_number"):
            return (None, self.items.snapshot(), ())
        rank = {
            number: rank
            for rank, number in enumerate(
                sorted(entry[-1] for entry in (*self.items, *self.lent.values()))
            )
        }

        def renumbered(entry: Entry) -> Entry:
            return (*entry[:-1], rank[entry[-1]])

        lent = sorted(self.lent.items(), key=lambda pair: pair[1][-1])
        return (
            type(self.items),
            tuple(renumbered(entry) for entry in self.items),
            tuple((claim, renumbered(entry)) for claim, entry in lent),
        )

    def restore_items(self, snapshot: Any, empty: Items) -> None:
        """Return to the items of a snapshot; ``empty`` are those of the policy."""
        numbered, entries, lent = snapshot
        self.lent = dict(lent)
        if numbered is None:
            self.items = empty.restored(entries)
            return
        self.items = numbered(entries)
        self.items.next_number = len(entries) + len(lent)
