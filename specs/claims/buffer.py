"""Where a rank belongs among those of a buffer, and how many items a get is handed."""

from __future__ import annotations

from itertools import pairwise

from structsync._core.primitives.items import SmallestFirst

from ._queue import BOUND


def a_rank_stands_behind_the_greater_and_before_the_equal(ranks: list[int], rank: int) -> None:
    assert len(ranks) <= BOUND
    assert all(one >= other for one, other in pairwise(ranks))
    items = SmallestFirst([(one, None) for one in ranks])
    place = items._place(rank)
    assert all(one > rank for one in ranks[:place])
    assert not any(one > rank for one in ranks[place:])


def what_is_put_is_kept_in_order(ranks: list[int], rank: int) -> None:
    assert len(ranks) <= BOUND
    assert all(one >= other for one, other in pairwise(ranks))
    items = SmallestFirst([(one, None) for one in ranks])
    items.extend([(rank, "new")])
    kept = [one for one, _ in items]
    assert len(kept) == len(ranks) + 1
    assert all(one >= other for one, other in pairwise(kept))
