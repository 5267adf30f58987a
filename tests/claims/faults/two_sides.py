"""Faults of both sides of a buffer, each for one claim."""

from __future__ import annotations

from collections.abc import Container, Hashable, Iterable
from typing import Any

from structsync._core.primitives.buffer import BufferCore
from structsync._core.primitives.items import SmallestFirst
from structsync._core.primitives.lent_items import NumberedSmallestFirst
from structsync._core.primitives.sides import Sides
from structsync._core.queue.group import Claims
from structsync._core.queue.request import BROKEN, Request
from structsync._core.queue.user_code import UserCodeFailed

from ...plants import groups  # noqa: TID252 - the one home of the faults
from ._planting import Ended, Shared, fault


@fault(
    BufferCore,
    "is_next",
    refuted_by="two_sides.a_group_has_its_part_of_a_buffer_once_the_rest_is_there",
)
def a_buffer_is_never_next(core: BufferCore, request: Request[Any]) -> bool:
    return False


@fault(Claims, "grant", refuted_by="two_sides.a_group_has_its_part_of_a_buffer_that_changes")
def the_one_that_fits_is_granted_alone(group: Claims, request: Request[Any]) -> None:
    request.arbiter.grant(request)  # type: ignore[attr-defined]


the_others_go_on_waiting = Shared(
    groups.a_group_stays_in_the_other_queues, "two_sides.of_a_choice_one_is_taken"
)


@fault(BufferCore, "guard_error", refuted_by="two_sides.a_put_that_cannot_be_compared_ends_alone")
def the_cause_is_forgotten(core: BufferCore, error: BaseException) -> None: ...


@fault(
    BufferCore, "settle", refuted_by="two_sides.a_get_is_granted_past_a_put_that_cannot_be_compared"
)
def what_fails_ends_the_search(core: BufferCore, candidates: object = None) -> Ended:
    ended: Ended = []
    for lane in (core.queue.gets, core.queue.puts):
        head = lane.head
        if head is None:
            continue
        try:
            fits = core.admits(head.claim)
        except BaseException as error:  # noqa: BLE001 - of the user
            ended.append(core.end_with(head, BROKEN, core.guard_error(error)))
        else:
            if fits:
                core.grant(head)
                ended.append(head)
    return ended


@fault(
    SmallestFirst,
    "can_put",
    refuted_by="two_sides.what_is_put_now_raises_what_the_comparison_raised",
)
def a_single_rank_is_compared_with_the_others_alone(
    items: SmallestFirst, pairs: Iterable[tuple[Any, Any]]
) -> bool:
    try:
        for rank in sorted([rank for rank, _ in pairs]):
            items._place(rank)
    except Exception as error:  # noqa: BLE001 - of the user
        raise UserCodeFailed(error) from None
    return True


@fault(
    NumberedSmallestFirst,
    "put_back",
    refuted_by="two_sides.what_cannot_be_compared_any_more_is_not_lost",
)
def what_comes_back_comes_out_last(items: NumberedSmallestFirst, entry: Any) -> None:
    list.insert(items, 0, entry)


@fault(Sides, "replace", refuted_by="two_sides.a_successor_takes_the_position_on_its_side")
def the_queue_of_a_successor_is_its_side(
    queue: Sides, request: Request[Any], successor: Request[Any]
) -> None:
    queue.lane(request.claim).replace(request, successor)


@fault(
    BufferCore,
    "break_waiters",
    refuted_by="two_sides.those_whose_end_is_closed_are_broken_and_no_others",
)
def all_waiters_are_broken(core: BufferCore, waiters: Container[Any], cause: Hashable) -> Ended:
    return [core.end_with(request, BROKEN, cause) for request in [*core.queue]]


@fault(BufferCore, "break_waiters", refuted_by="two_sides.those_behind_a_broken_request_are_let_in")
def no_task_is_let_in_where_one_is_broken(
    core: BufferCore, waiters: Container[Any], cause: Hashable
) -> Ended:
    found = [request for request in core.queue if request.waiter in waiters]
    return [core.end_with(request, BROKEN, cause) for request in found]


@fault(BufferCore, "end_window", refuted_by="two_sides.a_batch_waits_until_its_window_ends")
def any_request_ends_the_window(core: BufferCore, request: Request[Any]) -> Ended:
    core.window_over = True
    return core.settle()
