"""Links that are wrong, or left behind: each refuted by a claim about the queue's links."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from structsync._core.queue.levels import Levels
from structsync._core.queue.request import Queue, Request

from ...plants import queue  # noqa: TID252 - the one home of the faults
from ._planting import Shared, fault


@fault(Queue, "append", refuted_by="links.a_request_that_joins_is_the_last")
def a_request_that_joins_stands_before_all(queue: Queue[Any], request: Request[Any]) -> None:
    request.queue, request.ahead, request.behind = queue, None, queue.head
    if queue.head is None:
        queue.tail = request
    else:
        queue.head.ahead = request
    queue.head = request
    queue.length += 1


@fault(Queue, "remove", refuted_by="links.the_others_keep_their_order")
def the_one_behind_still_names_the_one_that_left(queue: Queue[Any], request: Request[Any]) -> None:
    if request.ahead is None:
        queue.head = request.behind
    else:
        request.ahead.behind = request.behind
    if request.behind is None:
        queue.tail = request.ahead
    request.queue = request.ahead = request.behind = None
    queue.length -= 1


@fault(Queue, "remove", refuted_by="links.a_request_that_left_is_linked_to_none")
def a_request_that_left_holds_the_one_behind_it(queue: Queue[Any], request: Request[Any]) -> None:
    behind = request.behind
    intact_remove(queue, request)
    request.behind = behind


the_one_behind_does_not_see_the_successor = Shared(
    queue.a_successor_is_not_linked_from_behind,
    "links.a_successor_stands_where_the_other_stood",
)


@fault(Queue, "__iter__", refuted_by="links.the_one_yielded_last_may_leave")
def the_next_is_looked_up_when_the_last_has_left(queue: Queue[Any]) -> Iterator[Request[Any]]:
    request = queue.head
    while request is not None:
        yield request
        request = request.behind


@fault(Levels, "append", refuted_by="links.of_a_level_both_ends_are_known_and_all_in_between")
def a_level_does_not_know_its_last(
    levels: Levels[Any], request: Request[Any], number: int = 0
) -> None:
    level = levels.by_number.get(number)
    last = level and level.ahead
    intact_append(levels, request, number)
    if level:
        level.ahead = last


@fault(Levels, "remove", refuted_by="links.of_a_level_both_ends_are_known_and_all_in_between")
def the_one_on_a_level_still_names_the_one_that_left(
    levels: Levels[Any], request: Request[Any]
) -> None:
    ahead, behind = request.ahead, request.behind
    assert ahead
    ahead.behind = behind
    request.queue = request.ahead = request.behind = None
    levels.length -= 1


@fault(Levels, "replace", refuted_by="links.of_a_level_both_ends_are_known_and_all_in_between")
def a_successor_is_found_from_one_side_only(
    levels: Levels[Any], request: Request[Any], successor: Request[Any]
) -> None:
    behind = request.behind
    intact_replace(levels, request, successor)
    assert behind
    behind.ahead = request


intact_remove, intact_append, intact_replace = Queue.remove, Levels.append, Levels.replace
