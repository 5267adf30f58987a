"""Who may overtake whom: levels, ageing, and first come first served among equals.

Tickets count from the oldest in the queue, whose ticket is 0, so ``later`` is how many came after it.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from structsync._core.primitives.semaphore import SemaphoreCore
from structsync._core.queue import policy as policies
from structsync._core.queue.policy import Priority, make_policy
from structsync._core.queue.request import Request
from structsync.checking.invariants import nothing_grantable_waits

from ._queue import BOUND, claims_of, in_queue, waiters_of, with_queue

# More than the heap of ranks keeps of those who withdrew: the next one that joins sweeps it.
MANY = 32


def overtakes(ageing: int | None, old: int, later: int, new: int) -> bool:
    """Whether the newcomer stands before the only one in the queue, whose priority is ``old``."""
    core = with_queue(SemaphoreCore(0, policy="priority", ageing=ageing), [1], [old])
    core.next_ticket = later
    core.value = 1  # room for one of the two
    return core.admissible(1, new)


def at_most_ageing_later_arrivals_per_level_overtake(
    ageing: int, old: int, later: int, new: int
) -> None:
    assert ageing >= 0
    assert later >= 1
    if overtakes(ageing, old, later, new):
        assert new < old
        assert later < ageing * (old - new)
    else:
        assert later >= ageing * (old - new)


def strict_levels_let_exactly_the_better_level_pass(old: int, later: int, new: int) -> None:
    assert later >= 1
    assert overtakes(None, old, later, new) == (new < old)


def among_equals_the_first_to_come_is_first(ageing: int | None, level: int, later: int) -> None:
    assert ageing is None or ageing >= 0
    assert later >= 1
    assert not overtakes(ageing, level, later, level)


def a_queue_of_levels_is_served_in_the_order_of_rank(levels: list[int], room: int) -> None:
    assert len(levels) <= BOUND
    assert room >= 1
    core = SemaphoreCore(0, policy="priority", ageing=None)
    order = waiters_of(with_queue(core, [1] * len(levels), levels).release(room))
    served = [(levels[who], who) for who in order]
    left = [(levels[who], who) for who in waiters_of(core.waiting())]
    assert len(served) == min(room, len(levels))
    assert all(one < other for one, other in zip(served, served[1:] + left[:1], strict=False))
    assert nothing_grantable_waits(core)


def a_withdrawn_rank_does_not_block_the_others(levels: list[int], who: int) -> None:
    assert len(levels) <= BOUND
    assert 0 <= who < len(levels)
    core = with_queue(SemaphoreCore(0, policy="priority"), [1] * len(levels), levels)
    core.withdraw(in_queue(core, who))
    served = waiters_of(core.release(len(levels)))
    assert len(served) == len(levels) - 1
    assert who not in served


def a_withdrawn_rank_does_not_hold_up_a_newcomer(first: int, second: int, new: int) -> None:
    assert first != second
    core = with_queue(SemaphoreCore(0, policy="priority", ageing=None), [1], [first])
    core.withdraw(in_queue(core, 0))
    core.enqueue(1, second)
    core.value = 1
    assert core.admissible(1, new) == (new < second)


def dropping_many_withdrawn_ranks_forgets_nobody_in_queue(levels: list[int]) -> None:
    assert len(levels) == BOUND
    assert all(level >= 0 for level in levels)
    core = with_queue(SemaphoreCore(0, policy="priority", ageing=None), [1, 1], levels[:2])
    assert isinstance(core.policy, Priority)
    core.policy._ranks[:0] = [(-1, ticket) for ticket in range(-MANY, 0)]
    core.enqueue(1, levels[2], waiter=2)
    assert len(core.policy._ranks) == len(levels)
    served = [(levels[who], who) for who in waiters_of(core.release(len(levels)))]
    assert len(served) == len(levels)
    assert all(one < other for one, other in pairwise(served))


def a_head_of_better_rank_blocks_those_that_would_fit(value: int, needs: list[int]) -> None:
    assert len(needs) == 2
    assert value >= 0
    assert all(need >= 1 for need in needs)
    core = SemaphoreCore(0, policy="priority", ageing=None)
    with_queue(core, needs, [1, 0])  # the second stands before the first
    core.value = value
    granted = claims_of(core.settle())
    assert [*granted, *claims_of(core.waiting())] == [needs[1], needs[0]]
    assert nothing_grantable_waits(core)


def eligible_lets_a_newcomer_pass_exactly_if_it_fits(value: int, need: int, n: int) -> None:
    assert n >= 1
    assert need > value
    core = with_queue(SemaphoreCore(value, policy="eligible"), [need])
    assert core.admissible(n) == (n <= value)


def fifo_lets_nobody_pass(ticket: int, priority: int) -> None:
    assert ticket >= 1
    core = with_queue(SemaphoreCore(0), [1])
    assert not make_policy("fifo", None).may_pass(core.queue, ticket, priority)
    oldest = next(iter(core.policy.candidates(core.queue)))
    assert isinstance(oldest, Request)
    assert oldest.waiter == 0


def an_ageing_that_is_impossible_is_refused(ageing: int, kind: int, policy: int) -> None:
    assert -2 <= ageing <= 2
    assert 0 <= kind <= 4
    assert 0 <= policy <= 3
    name = ("fifo", "eligible", "priority", "another")[policy]
    given: Any = (ageing, None, True, 1.5, "1")[kind]
    try:
        made = policies.make_policy(name, given)
    except TypeError:
        assert kind >= 2
    except ValueError:
        assert (kind == 0 and ageing < 0) or (kind <= 1 and name == "another")
    else:
        assert kind == 1 or (kind == 0 and ageing >= 0)
        assert made.name == name
        assert getattr(made, "ageing", given) == given
