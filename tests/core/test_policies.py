"""Who stands before whom: the three policies, and the levels behind the priorities."""

import gc
from collections.abc import Callable
from typing import Any, cast

import pytest

from structsync import Arbiter, CapacityLimiter, Lock, Semaphore
from structsync._core.primitives.capacity_limiter import CapacityLimiterCore
from structsync._core.primitives.job_queue import JobQueueCore
from structsync._core.primitives.lock import LockCore
from structsync._core.primitives.semaphore import SemaphoreCore
from structsync._core.queue.levels import Level, Levels
from structsync._core.queue.policy import Fifo, Priority, levels_of
from structsync._core.queue.request import Queue, Request


def spent(**options: object) -> SemaphoreCore:
    """A semaphore on which every task has to wait."""
    return SemaphoreCore(0, **options)  # type: ignore[arg-type]


def submit_all(core: SemaphoreCore, *priorities: int) -> list[str]:
    """Queue one claim per priority, named by its place of arrival; return who stands where."""
    for place, priority in enumerate(priorities):
        core.submit(1, priority, "abcdefgh"[place])
    return [request.waiter for request in core.waiting()]


def granted(core: SemaphoreCore, permits: int) -> list[str]:
    return [request.waiter for request in core.release(permits)]


# ==== fifo ====


def test_fifo_grants_in_the_order_of_arrival() -> None:
    core = spent()
    submit_all(core, 0, 0, 0)
    assert granted(core, 3) == ["a", "b", "c"]


def test_fifo_lets_no_task_pass_a_head_that_does_not_fit() -> None:
    core = SemaphoreCore(1)
    core.submit(2, waiter="large")
    core.submit(1, waiter="small")
    assert [request.waiter for request in core.waiting()] == ["large", "small"]


def test_fifo_does_not_admit_a_newcomer_that_would_fit_while_a_task_waits() -> None:
    core = SemaphoreCore(1)
    core.submit(2)
    assert not core.admissible(1)


# ==== eligible ====


def test_eligible_passes_over_what_does_not_fit() -> None:
    core = SemaphoreCore(0, policy="eligible")
    core.submit(3, waiter="large")
    core.submit(1, waiter="small")
    assert granted(core, 2) == ["small"]


def test_eligible_grants_the_oldest_that_fits() -> None:
    core = SemaphoreCore(0, policy="eligible")
    for claim, waiter in [(1, "a"), (2, "b"), (1, "c")]:
        core.submit(claim, waiter=waiter)
    assert granted(core, 2) == ["a", "c"]


def test_eligible_admits_a_newcomer_that_fits_past_those_that_do_not() -> None:
    core = SemaphoreCore(1, policy="eligible")
    core.submit(2)
    assert core.admissible(1)


# ==== priority ====


def test_priority_serves_the_smaller_number_first_and_equals_in_order_of_arrival() -> None:
    core = spent(policy="priority", ageing=None)
    assert submit_all(core, 1, 0, 1, 0, -1) == ["e", "b", "d", "a", "c"]


def test_a_level_that_has_no_rank_leaves_the_queue_as_it_was() -> None:
    core, wrong = SemaphoreCore(0, policy="priority"), cast(Any, "high")
    for _ in range(2):
        with pytest.raises(TypeError):
            core.submit(1, wrong)
    assert not core.waiting()
    first = core.submit(1)
    assert core.release(1) == [first]


def test_without_levels_in_use_priority_is_fifo() -> None:
    core = spent(policy="priority")
    assert submit_all(core, 0, 0, 0) == ["a", "b", "c"]


@pytest.mark.parametrize("ageing", [1, 2, 3])
def test_at_most_ageing_later_arrivals_per_level_overtake(ageing: int) -> None:
    core = spent(policy="priority", ageing=ageing)
    core.submit(1, 1, "patient")
    for _ in range(ageing + 3):
        core.submit(1, 0, "eager")
    # the key decides, ties by arrival: the arrival whose key is equal stands behind
    assert [request.waiter for request in core.waiting()].index("patient") == ageing - 1


def test_a_grant_at_once_counts_as_an_arrival_that_overtook() -> None:
    core = SemaphoreCore(1, policy="priority", ageing=3)
    core.submit(2, 1, "patient")
    for _ in range(2):
        assert core.admissible(1)
        core.release(core.submit(1).claim)
    assert not core.admissible(1)


class Plain(Arbiter[int]):
    """As a user writes one, who says nothing of ageing."""

    def admits(self, claim: int) -> bool:
        return False

    def admit(self, claim: int) -> None: ...
    def discharge(self, claim: int) -> None: ...


@pytest.mark.parametrize(
    "make",
    [
        lambda: Plain(policy="priority"),
        lambda: SemaphoreCore(1, policy="priority"),
        lambda: LockCore(policy="priority"),
        lambda: CapacityLimiterCore(1, policy="priority"),
        lambda: JobQueueCore(1, 1, policy="priority"),
        lambda: Semaphore(1, policy="priority")._core,
        lambda: Lock(policy="priority")._core,
        lambda: CapacityLimiter(1, policy="priority")._core,
    ],
    ids=["arbiter", *("semaphore", "lock", "limiter", "jobs"), *("Semaphore", "Lock", "Limiter")],
)
def test_a_hundred_later_arrivals_per_level_may_overtake_where_nothing_else_is_said(
    make: Callable[[], Arbiter[Any]],
) -> None:
    assert cast(Priority, make().policy).ageing == 100


def test_ageing_of_nought_ignores_priorities() -> None:
    core = spent(policy="priority", ageing=0)
    assert submit_all(core, 5, -5, 0) == ["a", "b", "c"]


def test_strict_levels_never_age() -> None:
    core = spent(policy="priority", ageing=None)
    core.submit(1, 1, "patient")
    for _ in range(200):
        core.submit(1, 0, "eager")
    assert core.waiting()[-1].waiter == "patient"


def test_a_newcomer_that_fits_and_ranks_before_the_head_is_admitted() -> None:
    core = SemaphoreCore(1, policy="priority")
    core.submit(2)
    assert core.admissible(1, -1)
    assert not core.admissible(1, 0)


# ==== the levels, and those that no task is on any more ====


def known(core: SemaphoreCore) -> set[int]:
    """The levels that are known; each has one entry in the heap."""
    levels = levels_of(core.queue)
    entries = [level.number for *_, level in levels.tops]
    assert sorted(entries) == sorted(levels.by_number)
    return {*entries}


def test_a_level_that_is_left_and_joined_again_keeps_the_order_of_arrival() -> None:
    core = spent(policy="priority", ageing=3)
    submit_all(core, 1, 0)
    core.withdraw(core.waiting()[0])
    core.submit(1, 0, "c")
    core.submit(1, 0, "d")
    assert [request.waiter for request in core.waiting()] == ["c", "a", "d"]
    assert granted(core, 3) == ["c", "a", "d"]


def test_of_equal_ranks_on_two_levels_the_older_is_first() -> None:
    core = spent(policy="priority", ageing=2)
    assert submit_all(core, 1, 0, 0, 0) == ["b", "a", "c", "d"]
    assert granted(core, 4) == ["b", "a", "c", "d"]


def test_a_request_that_joins_when_empty_levels_are_forgotten_keeps_its_place() -> None:
    core = spent(policy="priority", ageing=None)
    for number in range(100):
        request = core.submit(1, number)
        assert core.waiting() == [request]
        core.withdraw(request)


def test_a_withdrawn_request_is_never_granted() -> None:
    core = spent(policy="priority")
    requests = [core.submit(1, place % 2, name) for place, name in enumerate("abcd")]
    core.withdraw(requests[0])
    core.withdraw(requests[1])
    assert granted(core, 4) == ["c", "d"]


def test_the_levels_are_never_many_more_than_those_who_wait() -> None:
    core = spent(policy="priority", ageing=None)
    core.submit(1, -1)  # stays the first, so that none is dropped from the top
    for number in range(1_000):
        core.withdraw(core.submit(1, number))
        assert len(known(core)) <= 2 * len(core.queue) + 17


def test_a_level_that_gets_to_the_top_empty_is_forgotten() -> None:
    core = spent(policy="priority", ageing=None)
    first, _ = core.submit(1, 1), core.submit(1, 2)
    core.withdraw(first)
    assert known(core) == {2}


def test_to_forget_empty_levels_loses_none_of_those_who_wait() -> None:
    core = spent(policy="priority", ageing=None)
    stay = []
    for number in range(200):
        request = core.submit(1, -number)
        if number % 4:
            core.withdraw(request)
        else:
            stay.append(request)
    assert core.waiting() == stay[::-1]
    assert core.release(200) == stay[::-1]


@pytest.mark.parametrize("restored", [False, True])
def test_a_level_that_is_forgotten_is_freed_without_the_collector(restored: bool) -> None:
    def alive() -> int:
        return sum(type(one) is Level for one in gc.get_objects())

    core = spent(policy="priority", ageing=None)
    core.submit(1, -1)
    before = alive()
    gc.disable()
    try:
        for number in range(1_000):
            core.withdraw(core.submit(1, number))
        if restored:
            core.restore(core.snapshot())
        assert alive() <= before + (0 if restored else 18)
    finally:
        gc.enable()


def test_who_says_no_level_is_on_that_of_priority_0() -> None:
    core = spent(policy="priority", ageing=None)
    core.submit(1, 1)
    request = Request(1, core.next_ticket, "new")
    cast("Levels[int]", core.queue).append(request)
    assert core.waiting()[0] is request


# ==== names and numbers ====


@pytest.mark.parametrize("policy", ["FIFO", "", "lifo"])
def test_an_unknown_policy_is_refused(policy: str) -> None:
    with pytest.raises(ValueError, match="policy must be"):
        spent(policy=policy)


@pytest.mark.parametrize(
    ("ageing", "error"), [(True, TypeError), (1.5, TypeError), (-1, ValueError)]
)
def test_an_impossible_ageing_is_refused(ageing: object, error: type[Exception]) -> None:
    with pytest.raises(error, match="ageing must be"):
        spent(policy="priority", ageing=ageing)


# ==== a policy of one's own ====


class NewestFirst(Fifo):
    """Serves the newest of those whom the policy below would serve."""

    def candidates(self, queue: Queue[Any]) -> list[Request[Any]]:
        return [*super().candidates(queue)][::-1]


def test_a_policy_that_overrides_the_candidates_is_asked_from_then_on() -> None:
    core = spent()
    old, new = core.submit(1), core.submit(1)
    core.policy = NewestFirst()
    assert core.release(1) == [new]
    assert core.waiting() == [old]
