"""Half a group, or two choices: each refuted by a claim about groups."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from structsync._core.primitives.semaphore import SemaphoreCore
from structsync._core.queue.group import Claims, Member
from structsync._core.queue.request import GRANTED, Request

from ...plants import groups  # noqa: TID252 - the one home of the faults
from ._planting import Shared, fault


@fault(Claims, "admissible", refuted_by="group.all_that_is_there_is_taken_or_nothing")
def what_is_free_is_taken(group: Claims) -> Sequence[Member]:
    return [one for one in group.members if one.arbiter.admissible(one.claim)]


@fault(Claims, "take", refuted_by="group.a_choice_takes_one_of_what_is_there")
def every_choice_is_taken(group: Claims, members: Sequence[Member]) -> None:
    for member in group.members:
        member.arbiter.take(member.claim)
        member.status = GRANTED


one_queue_decides = Shared(
    groups.a_group_is_granted_where_there_is_no_room,
    "group.what_comes_back_is_granted_with_what_is_there",
)


the_other_position_is_kept = Shared(
    groups.a_group_stays_in_the_other_queues,
    "group.a_choice_that_is_granted_leaves_the_other_queue",
)


@fault(SemaphoreCore, "settle", refuted_by="group.a_request_behind_a_withdrawn_group_is_granted")
def no_task_is_let_in(core: SemaphoreCore) -> list[Request[Any]]:
    return []


@fault(Claims, "take", refuted_by="group.a_group_that_is_granted_is_an_arrival_in_each_queue")
def a_group_that_is_granted_is_no_arrival(group: Claims, members: Sequence[Member]) -> None:
    for member in members:
        member.arbiter.grant(member)
    group._withdraw_pending()


def the_first(group: Claims) -> Member:
    return group.members[0]


the_first_stands_for_all = fault(
    Claims, "standing", refuted_by="group.of_a_group_the_member_that_ended_it_stands_for_all"
)(property(the_first))
