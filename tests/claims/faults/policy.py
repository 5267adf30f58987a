"""Overtaking too much, too little, or out of order: each refuted by a claim about a policy."""

from __future__ import annotations

from collections.abc import Iterable
from heapq import heappush
from typing import Any

from structsync._core.queue import policy as policies
from structsync._core.queue.policy import AnyQueue, Eligible, Fifo, Priority, tickets_of
from structsync._core.queue.request import Request

from ...plants import semaphore  # noqa: TID252 - the one home of the faults
from ._planting import Shared, fault


@fault(Priority, "_rank", refuted_by="policy.at_most_ageing_later_arrivals_per_level_overtake")
def twice_as_many_may_overtake(policy: Priority, ticket: int, priority: int) -> int:
    return ticket + 2 * (policy.ageing or 0) * priority


@fault(Priority, "_rank", refuted_by="policy.strict_levels_let_exactly_the_better_level_pass")
def strict_levels_age_as_well(policy: Priority, ticket: int, priority: int) -> int:
    return ticket + 100 * priority


@fault(Priority, "may_pass", refuted_by="policy.among_equals_the_first_to_come_is_first")
def an_equal_passes(policy: Priority, queue: AnyQueue, ticket: int, priority: int) -> bool:
    return policy._rank(ticket, priority) <= policy._ranks[0][0]


@fault(Priority, "joined", refuted_by="policy.a_queue_of_levels_is_served_in_the_order_of_rank")
def the_heap_is_a_mere_list(policy: Priority, queue: AnyQueue, ticket: int, priority: int) -> None:
    policy._ranks.append((policy._rank(ticket, priority), ticket))


@fault(Priority, "candidates", refuted_by="policy.a_withdrawn_rank_does_not_block_the_others")
def a_stale_rank_hides_the_others(policy: Priority, queue: AnyQueue) -> Iterable[Request[Any]]:
    ticket, tickets = policy._ranks[0][1], tickets_of(queue)
    return (tickets[ticket],) if ticket in tickets else ()


@fault(Priority, "may_pass", refuted_by="policy.a_withdrawn_rank_does_not_hold_up_a_newcomer")
def a_stale_rank_is_asked(policy: Priority, queue: AnyQueue, ticket: int, priority: int) -> bool:
    return (policy._rank(ticket, priority), ticket) < policy._ranks[0]


@fault(
    Priority,
    "joined",
    refuted_by="policy.dropping_many_withdrawn_ranks_forgets_nobody_in_queue",
)
def the_sweep_takes_the_newcomer_along(
    policy: Priority, queue: AnyQueue, ticket: int, priority: int
) -> None:
    """It is not in the queue yet while it joins: ours had this bug."""
    heappush(policy._ranks, (policy._rank(ticket, priority), ticket))
    policy._ranks = [entry for entry in policy._ranks if entry[1] in tickets_of(queue)]


@fault(Eligible, "may_pass", refuted_by="policy.eligible_lets_a_newcomer_pass_exactly_if_it_fits")
def an_eligible_newcomer_queues(
    policy: Eligible, queue: AnyQueue, ticket: int, priority: int
) -> bool:
    return False


the_oldest_is_asked_first = Shared(
    semaphore.the_priority_is_ignored, "policy.a_head_of_better_rank_blocks_those_that_would_fit"
)


@fault(Fifo, "may_pass", refuted_by="policy.fifo_lets_nobody_pass")
def a_priority_counts_in_a_fifo(policy: Fifo, queue: AnyQueue, ticket: int, priority: int) -> bool:
    return priority < 0


@fault(policies, "make_policy", refuted_by="policy.an_ageing_that_is_impossible_is_refused")
def an_ageing_below_none_is_a_number(name: str, ageing: int | None) -> Any:
    return intact_make_policy(name, abs(ageing) if isinstance(ageing, int) else ageing)


intact_make_policy = policies.make_policy
