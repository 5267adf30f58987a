"""Which request may overtake which: levels, ageing, and first come first served among equals.

Tickets count from the oldest in the queue, whose ticket is 0, so ``later`` is how many came after it.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, cast

from structsync import Status
from structsync._core.primitives.semaphore import SemaphoreCore
from structsync._core.queue import policy as policies
from structsync._core.queue.levels import Level
from structsync._core.queue.policy import levels_of, make_policy
from structsync._core.queue.request import Request
from structsync.checking.invariants import nothing_grantable_waits

from ._queue import BOUND, ByEquality, claims_of, in_queue, waiters_of, with_queue

# So many empty levels, beside two that wait, that the next new level has them forgotten.
MANY = 20


def by_priority(ageing: int | None = 100) -> SemaphoreCore:
    """A semaphore whose levels are found by what their numbers are equal to."""
    core = SemaphoreCore(0, policy="priority", ageing=ageing)
    levels_of(core.queue).by_number = cast("dict[Any, Any]", ByEquality())
    return core


def overtakes(ageing: int | None, old: int, later: int, new: int) -> bool:
    """Whether the newcomer stands before the only one in the queue, whose priority is ``old``."""
    core = with_queue(by_priority(ageing), [1], [old])
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
    core = by_priority(None)
    order = waiters_of(with_queue(core, [1] * len(levels), levels).release(room))
    served = [(levels[who], who) for who in order]
    left = [(levels[who], who) for who in waiters_of(core.waiting())]
    assert len(served) == min(room, len(levels))
    assert all(one < other for one, other in zip(served, served[1:] + left[:1], strict=False))
    assert nothing_grantable_waits(core)


def a_level_that_is_left_does_not_block_the_others(levels: list[int], who: int) -> None:
    assert len(levels) <= BOUND
    assert 0 <= who < len(levels)
    core = with_queue(by_priority(), [1] * len(levels), levels)
    core.withdraw(in_queue(core, who))
    served = waiters_of(core.release(len(levels)))
    assert len(served) == len(levels) - 1
    assert who not in served


def a_level_that_is_left_does_not_hold_up_a_newcomer(first: int, second: int, new: int) -> None:
    assert first != second
    core = with_queue(by_priority(None), [1], [first])
    core.withdraw(in_queue(core, 0))
    core.enqueue(1, second)
    core.value = 1
    assert core.admissible(1, new) == (new < second)


def a_level_has_the_rank_of_its_first_request(level: int, later: int, other: int) -> None:
    assert later >= 1
    core = with_queue(by_priority(1), [1], [level])
    core.next_ticket = later
    core.enqueue(1, level, waiter=1)
    core.withdraw(in_queue(core, 0))
    core.enqueue(1, other, waiter=2)
    assert waiters_of(core.release(1)) == [2 if other + 1 < level else 1]


def forgetting_the_levels_that_are_left_forgets_no_request_in_the_queue(levels: list[int]) -> None:
    assert len(levels) == BOUND
    assert all(level >= 0 for level in levels)
    assert all(level != levels[-1] for level in levels[:-1])
    core = with_queue(by_priority(None), [1, 1], levels[:-1])
    queue = levels_of(core.queue)
    for number in range(-MANY, 0):
        queue.by_number[number] = Level(number)
    queue.tops[:0] = [
        (level.number, -1, level) for level in queue.by_number.values() if level.number < 0
    ]
    core.enqueue(1, levels[-1], waiter=2)
    assert len(queue.tops) == len(queue.by_number) <= len(levels)
    served = [(levels[who], who) for who in waiters_of(core.release(len(levels)))]
    assert len(served) == len(levels)
    assert all(one < other for one, other in pairwise(served))


def a_head_of_better_rank_blocks_those_that_would_fit(value: int, needs: list[int]) -> None:
    assert len(needs) == 2
    assert value >= 0
    assert all(need >= 1 for need in needs)
    core = by_priority(None)
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


def fifo_lets_no_request_pass(ticket: int, priority: int) -> None:
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


def a_request_that_names_no_priority_has_none(which: int) -> None:
    assert 0 <= which < 5
    core = SemaphoreCore(1, policy="priority", ageing=None)
    last = core.enqueue(5, 1)
    if which < 2:
        assert (core.admissible, core.admissible_or_error)[which](1)
    elif which == 2:
        assert core.submit(1).status is Status.GRANTED
    elif which == 3:
        first = core.enqueue(5)
        assert core.waiting() == [first, last]
    else:
        request: Request[int] = Request(5, -1)
        core.join(request)
        assert core.waiting() == [request, last]
