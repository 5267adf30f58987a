"""Where an item belongs among those of a buffer, by its rank; which puts fit; and what a get is handed."""

from __future__ import annotations

from itertools import pairwise

from structsync._core.primitives.buffer import BLOCKED, BufferCore
from structsync._core.primitives.items import SmallestFirst
from structsync._core.primitives.sides import Get
from structsync._core.queue.user_code import UserCodeFailed

from ._queue import BOUND, LONG


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


def a_task_that_gets_has_what_leaves_the_buffer(there: int, most: int) -> None:
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


class Rank:
    """A rank that compares with its own kind alone."""

    def __init__(self, number: int) -> None:
        self.number = number

    def __lt__(self, other: object) -> bool:
        if not isinstance(other, Rank):
            raise LookupError
        return self.number < other.number


def what_cannot_be_compared_is_refused_and_nothing_is_put(there: int, new: int, odd: int) -> None:
    assert 0 <= there <= 1
    assert 1 <= new <= BOUND
    assert -2 <= odd < new
    core = BufferCore(LONG, policy="priority")
    core.items.extend([(object() if odd == -2 else Rank(1), "there")] * there)
    pairs = tuple((object() if number == odd else Rank(number), number) for number in range(new))
    can = odd == -1 or (odd == -2 and not there)
    try:
        core.exchange(pairs, None, True)
    except UserCodeFailed:
        assert not can
        assert len(core.items) == there
    else:
        assert can
        assert len(core.items) == there + new


def what_is_complete_is_so_once(there: int, putting: int, is_closed: bool) -> None:
    assert 0 <= there <= 1
    assert 0 <= putting <= there
    core = BufferCore(1)
    core.items.extend(["item"] * there)
    request = core.enqueue(("put",)) if putting else core.enqueue(Get(1)) if not there else None
    assert request is None or core.is_next(request) is False
    if is_closed:
        core.end("closed")
    ended = core.complete("for puts", "for gets")
    assert ended == ([] if is_closed or request is None else [request])
    assert core.completed == (None if is_closed else ("for puts", "for gets"))
    assert core.complete("again", "again") == []
    assert core.completed == (None if is_closed else ("for puts", "for gets"))
    if request is not None:
        assert request.cause == ("closed" if is_closed else "for puts" if putting else "for gets")
