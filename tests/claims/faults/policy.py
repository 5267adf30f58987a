"""Overtaking too much, too little, or out of order: each refuted by a claim about a policy."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from structsync import Arbiter
from structsync._core.queue import policy as policies
from structsync._core.queue.levels import Levels, Top
from structsync._core.queue.policy import AnyQueue, Eligible, Fifo, Priority, levels_of
from structsync._core.queue.request import Request

from ...plants import semaphore  # noqa: TID252 - the one home of the faults
from ._planting import Shared, fault


@fault(Priority, "level", refuted_by="policy.at_most_ageing_later_arrivals_per_level_overtake")
def twice_as_many_may_overtake(policy: Priority, priority: int) -> int:
    return 2 * (policy.ageing or 0) * priority


@fault(Levels, "rank", refuted_by="policy.strict_levels_let_exactly_the_better_level_pass")
def strict_levels_age_as_well(levels: Levels[Any], ticket: int, number: int) -> int:
    return ticket + 100 * number


@fault(Priority, "may_pass", refuted_by="policy.among_equals_the_first_to_come_is_first")
def an_equal_passes(policy: Priority, queue: AnyQueue, ticket: int, priority: int) -> bool:
    levels = levels_of(queue)
    return levels.rank(ticket, policy.level(priority)) <= levels.top()[0]


@fault(Levels, "append", refuted_by="policy.a_queue_of_levels_is_served_in_the_order_of_rank")
def the_heap_is_a_mere_list(levels: Levels[Any], request: Request[Any], number: int = 0) -> None:
    known, before = number in levels.by_number, [*levels.tops]
    intact_append(levels, request, number)
    if not known:
        new = (levels.rank(request.ticket, number), request.ticket, levels.by_number[number])
        levels.tops = [*before, new]


@fault(Priority, "candidates", refuted_by="policy.a_level_that_is_left_does_not_block_the_others")
def an_empty_level_hides_the_others(policy: Priority, queue: AnyQueue) -> Iterable[Request[Any]]:
    *_, level = levels_of(queue).tops[0]
    return (level.behind,) if level.behind and level.behind is not level else ()


@fault(Priority, "may_pass", refuted_by="policy.a_level_that_is_left_does_not_hold_up_a_newcomer")
def an_empty_level_is_looked_at(
    policy: Priority, queue: AnyQueue, ticket: int, priority: int
) -> bool:
    levels = levels_of(queue)
    return levels.rank(ticket, policy.level(priority)) < levels.tops[0][0]


@fault(Levels, "top", refuted_by="policy.a_level_has_the_rank_of_its_first_request")
def a_level_keeps_the_rank_of_a_request_that_left(levels: Levels[Any]) -> Top:
    """As long as a request is on it."""
    *_, level = levels.tops[0]
    return intact_top(levels) if level.behind is level else levels.tops[0]


@fault(
    Levels,
    "_drop_empty",
    refuted_by="policy.forgetting_the_levels_that_are_left_forgets_no_request_in_the_queue",
)
def the_oldest_level_is_forgotten_with_the_empty_ones(levels: Levels[Any]) -> None:
    intact_drop_empty(levels)
    del levels.tops[:1]


@fault(Eligible, "may_pass", refuted_by="policy.eligible_lets_a_newcomer_pass_exactly_if_it_fits")
def an_eligible_newcomer_queues(
    policy: Eligible, queue: AnyQueue, ticket: int, priority: int
) -> bool:
    return False


the_oldest_is_considered_first = Shared(
    semaphore.the_priority_is_ignored, "policy.a_head_of_better_rank_blocks_those_that_would_fit"
)


@fault(Fifo, "may_pass", refuted_by="policy.fifo_lets_no_request_pass")
def a_priority_counts_in_a_fifo(policy: Fifo, queue: AnyQueue, ticket: int, priority: int) -> bool:
    return priority < 0


@fault(policies, "make_policy", refuted_by="policy.an_ageing_that_is_impossible_is_refused")
def an_ageing_below_none_is_a_number(name: str, ageing: int | None) -> Any:
    return intact_make_policy(name, abs(ageing) if isinstance(ageing, int) else ageing)


intact_make_policy = policies.make_policy
intact_append, intact_top, intact_drop_empty = Levels.append, Levels.top, Levels._drop_empty


@fault(Arbiter, "join", refuted_by="policy.a_request_that_names_no_priority_has_none")
def a_request_that_names_no_priority_is_behind(
    core: Arbiter[Any], request: Request[Any], priority: int = 1
) -> None:
    intact_join(core, request, priority)


intact_join = Arbiter.join
