"""Where an item belongs among those of a buffer, by its rank; which puts fit; and what a get is handed."""

from __future__ import annotations

from itertools import pairwise

from structsync._core.primitives.buffer import BLOCKED, BufferCore
from structsync._core.primitives.items import SmallestFirst
from structsync._core.primitives.sides import Get

from ._queue import BOUND


def a_rank_stands_behind_the_greater_and_before_the_equal(ranks: list[int], rank: int) -> None:
    assert len(ranks) <= BOUND
    assert all(one >= other for one, other in pairwise(ranks))
    items = SmallestFirst([(one, None) for one in ranks])
    position = items._place(rank)
    assert all(one > rank for one in ranks[:position])
    assert not any(one > rank for one in ranks[position:])


def what_is_put_is_kept_in_order(ranks: list[int], rank: int) -> None:
    assert len(ranks) <= BOUND
    assert all(one >= other for one, other in pairwise(ranks))
    items = SmallestFirst([(one, None) for one in ranks])
    items.extend([(rank, "new")])
    kept = [one for one, _ in items]
    assert len(kept) == len(ranks) + 1
    assert all(one >= other for one, other in pairwise(kept))


def items_are_put_exactly_where_there_is_room(there: int, several: int, room: int) -> None:
    assert 0 <= there <= room
    assert there <= BOUND
    assert 1 <= several <= BOUND
    core = BufferCore(room)
    core.items.extend([*range(there)])
    claim = tuple(range(several))
    if core.exchange(claim, None, True) is not BLOCKED:
        assert len(core.items) == there + several <= room
    else:
        assert len(core.items) == there > room - several


def who_gets_has_what_leaves_the_buffer(there: int, most: int) -> None:
    assert 0 <= there <= BOUND
    assert most >= 1
    core = BufferCore(BOUND)
    core.items.extend([*range(there)])
    claim = Get(most)
    handed = core.exchange(claim, None, True)
    if handed is not BLOCKED:
        assert handed == list(range(min(there, most)))
        assert len(core.items) == there - len(handed)
        assert handed
    else:
        assert there == 0
