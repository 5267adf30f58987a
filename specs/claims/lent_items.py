"""What was lent goes back to where it was, by its number and its rank; and numbers count as far as they order.

Items are in the order in which they were put, their numbers 0, 1, 2 and so on.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from structsync._core.primitives.buffer import BufferCore
from structsync._core.primitives.items import (
    FirstInFirstOut,
    LastInFirstOut,
    SmallestFirst,
    make_items,
)
from structsync._core.primitives.lent_items import (
    NumberedFirstInFirstOut,
    NumberedLastInFirstOut,
    NumberedSmallestFirst,
)
from structsync._core.primitives.sides import Get, Lend

from ._queue import BOUND, LONG

ORDERS = ("fifo", "lifo", "priority")

#: Of each order the items that have no numbers, and those that do.
KINDS: dict[str, tuple[type[Any], type[Any]]] = {
    "fifo": (FirstInFirstOut, NumberedFirstInFirstOut),
    "lifo": (LastInFirstOut, NumberedLastInFirstOut),
    "priority": (SmallestFirst, NumberedSmallestFirst),
}


def buffer(order: int, ranks: Sequence[int]) -> BufferCore:
    """Return a buffer of items 10, 11, 12 and so on with these ranks, which count in one order alone."""
    core = BufferCore(LONG, policy=ORDERS[order])
    for number, rank in enumerate(ranks):
        item = 10 + number
        core.items.put((rank, item) if core.items.compares else item)
    return core


def drained(core: BufferCore) -> list[int]:
    """Return the items in the order in which they come out."""
    return [core.items.take() for _ in range(len(core.items))]


def lend(core: BufferCore, several: int) -> list[Lend]:
    return [core.lend(Lend(number)) for number in range(several)]


def what_comes_back_stands_where_it_was(
    order: int, there: int, lent: int, first: int, ranks: list[int]
) -> None:
    assert 0 <= order <= 2
    assert 1 <= there <= BOUND
    assert 1 <= lent <= there
    assert 0 <= first < lent
    assert len(ranks) == there
    expected = drained(buffer(order, ranks))
    core = buffer(order, ranks)
    claims = lend(core, lent)
    items = [core.item_of(one) for one in claims]
    assert items == expected[:lent]
    for number in range(lent):  # in another order, too
        core.put_back(claims[(first + number) % lent])
    assert drained(core) == expected
    assert not core.lent
    assert core.room == LONG


def what_is_put_meanwhile_is_younger(order: int, rank: int, new: int) -> None:
    assert 0 <= order <= 2
    core = buffer(order, [rank])
    (claim,) = lend(core, 1)
    assert type(core.items) is KINDS[core.items.name][1]
    core.items.put((new, "new") if order == 2 else "new")
    core.items.extend([(new, "last") if order == 2 else "last"])
    core.put_back(claim)
    if order == 0:
        assert drained(core) == [10, "new", "last"]
    elif order == 1:
        assert drained(core) == ["last", "new", 10]
    elif rank <= new:
        assert drained(core) == [10, "new", "last"]
    else:
        assert drained(core) == ["new", "last", 10]


def a_situation_with_lent_items_can_be_gone_back_to(
    order: int, there: int, lent: int, ranks: list[int]
) -> None:
    assert 0 <= order <= 2
    assert 1 <= there <= BOUND
    assert 0 <= lent <= there
    assert len(ranks) == there
    core = buffer(order, ranks)
    claims = lend(core, lent)
    twin = BufferCore(LONG, policy=ORDERS[order])
    twin.restore(core.snapshot())
    assert twin.snapshot() == core.snapshot()
    assert twin.items.name == core.items.name
    assert len(twin.lent) == lent
    assert all(one in twin.lent for one in claims)
    assert hasattr(twin.items, "next_number") == (lent > 0)
    for one in claims:
        twin.put_back(one)
        core.put_back(one)
    assert drained(twin) == drained(core)


def equal_situations_have_equal_snapshots(order: int, ranks: list[int]) -> None:
    assert 0 <= order <= 2
    assert len(ranks) == 2
    once, twice = buffer(order, ranks), buffer(order, ranks)
    for core in (once, twice, twice):
        core.put_back(core.lend(Lend()))
    if order == 0:  # the same items, the last of which was put once more
        twice.items.put(twice.items.pop()[0])
    assert once.snapshot() == twice.snapshot()
    assert once.items.copy() == once.items
    assert once.items.copy().next_number == once.items.next_number


def what_is_used_up_makes_room(there: int, lent: int, is_given_twice: bool) -> None:
    assert 1 <= lent <= there <= BOUND
    core = buffer(0, [0] * there)
    claims = lend(core, lent)
    assert core.room == LONG - lent
    core.discharge(claims[0])
    assert core.room == LONG - lent + 1
    assert [*core.lent] == claims[1:]
    if is_given_twice:
        try:
            core.discharge(claims[0])
        except RuntimeError:
            assert core.room == LONG - lent + 1
        else:
            raise AssertionError("released twice")


def items_are_kept_by_a_snapshot_of_them(order: int, ranks: list[int]) -> None:
    assert 0 <= order <= 2
    assert len(ranks) <= BOUND
    items = buffer(order, ranks).items
    twin = items.restored(items.snapshot())
    assert type(twin) is type(items) is type(make_items(ORDERS[order]))
    assert [*twin] == [*items]
    assert twin is not items


def a_claim_is_what_it_claims(most: int, other: int, is_plain: bool) -> None:
    assert most >= 1
    assert (Get(most) == Get(other)) == (most == other)
    is_another = Get(most) == (most if is_plain else Lend())
    assert not is_another
    assert Lend() != Lend()
    lend = Lend()
    assert lend == lend
