"""The queue itself: requests linked to each other, in order, from both ends, and all counted.

The requests are numbered in the order of their arrival.
"""

from __future__ import annotations

from typing import Any

from structsync._core.queue.levels import Levels, on
from structsync._core.queue.request import Queue, Request

from ._queue import BOUND, links_are_exact


def filled(queue: Queue[Any], waiting: int) -> list[Request[Any]]:
    """Put so many requests into a queue that is empty, and return them."""
    requests: list[Request[Any]] = [Request(None, number, number) for number in range(waiting)]
    for request in requests:
        queue.append(request)
    return requests


def a_request_that_joins_is_the_last(waiting: int) -> None:
    assert 0 <= waiting <= BOUND
    queue: Queue[Any] = Queue()
    requests = filled(queue, waiting)
    assert [*queue] == requests
    assert links_are_exact(queue)


def the_others_keep_their_order(waiting: int, who: int) -> None:
    assert 0 <= who < waiting <= BOUND
    queue: Queue[Any] = Queue()
    requests = filled(queue, waiting)
    queue.remove(requests[who])
    assert [*queue] == requests[:who] + requests[who + 1 :]
    assert links_are_exact(queue)


def a_request_that_left_is_linked_to_none(waiting: int, who: int) -> None:
    assert 0 <= who < waiting <= BOUND
    queue: Queue[Any] = Queue()
    request = filled(queue, waiting)[who]
    queue.remove(request)
    assert (request.queue, request.ahead, request.behind) == (None, None, None)


def a_successor_stands_where_the_other_stood(waiting: int, who: int) -> None:
    assert 0 <= who < waiting <= BOUND
    queue: Queue[Any] = Queue()
    requests = filled(queue, waiting)
    successor: Request[Any] = Request(None, who, "successor")
    queue.replace(requests[who], successor)
    assert [*queue] == [*requests[:who], successor, *requests[who + 1 :]]
    old = requests[who]
    assert (old.queue, old.ahead, old.behind) == (None, None, None)
    assert links_are_exact(queue)


def the_one_yielded_last_may_leave(waiting: int, first: int) -> None:
    assert 0 <= first < waiting <= BOUND  # from here on each leaves when it is yielded
    queue: Queue[Any] = Queue()
    requests = filled(queue, waiting)
    found = []
    for request in queue:
        found.append(request)
        if request.waiter >= first:
            queue.remove(request)
    assert found == requests
    assert [*queue] == requests[:first]
    assert links_are_exact(queue)


def of_a_level_both_ends_are_known_and_all_in_between(waiting: int, who: int, other: int) -> None:
    assert 0 <= who < waiting <= BOUND
    assert 0 <= other < waiting
    levels: Levels[Any] = Levels()
    requests = filled(levels, waiting)
    successor: Request[Any] = Request(None, other, "successor")
    levels.replace(requests[other], successor)
    left = [*requests[:other], successor, *requests[other + 1 :]]
    gone = left.pop(who)
    levels.remove(gone)
    level = levels.by_number[0]
    assert [*on(level)] == [*levels] == left
    assert all(one.behind.ahead is one for one in [level, *left] if one.behind)
    assert level.ahead is (left[-1] if left else level)
    for old in (gone, requests[other]):
        assert (old.queue, old.ahead, old.behind) == (None, None, None)
    assert levels.length == waiting - 1
    assert all(one.queue is levels for one in left)
