"""One transition of any queue: grants in order, no request left asleep, each ended once.

The arbiter is the same for every primitive; the semaphore stands for all of them here, because its
claims differ in size: only there can one in front fit while the one behind does not, and reversely.
"""

from __future__ import annotations

from structsync import Status
from structsync._core.primitives.semaphore import SemaphoreCore
from structsync.checking.invariants import nothing_grantable_waits

from ._queue import BOUND, LONG, all_are, claims_of, in_queue, waiters_of, with_queue


def a_release_grants_from_the_head_until_one_does_not_fit(
    value: int, needs: list[int], n: int
) -> None:
    assert len(needs) <= BOUND
    assert n >= 1
    assert all(need >= 1 for need in needs)
    assert not needs or needs[0] > value
    core = with_queue(SemaphoreCore(value), needs)
    granted = core.release(n)
    assert claims_of(granted) + claims_of(core.waiting()) == needs
    assert core.value == value + n - sum(claims_of(granted))
    assert not granted or core.value >= 0
    assert nothing_grantable_waits(core)


def a_release_grants_all_of_a_long_queue_that_fit(waiting: int, n: int) -> None:
    assert 0 <= waiting <= LONG
    assert 1 <= n <= LONG
    core = with_queue(SemaphoreCore(0), [1] * waiting)
    granted = core.release(n)
    assert waiters_of(granted) == list(range(waiting))[:n]
    assert core.value == n - len(granted)
    assert nothing_grantable_waits(core)


def a_withdrawal_lets_in_those_behind(value: int, needs: list[int], who: int) -> None:
    assert len(needs) <= BOUND
    assert 0 <= who < len(needs)
    assert all(need >= 1 for need in needs)
    assert needs[0] > value
    core = with_queue(SemaphoreCore(value), needs)
    request = in_queue(core, who)
    granted = core.withdraw(request)
    assert granted is not None
    assert request.status is Status.WITHDRAWN
    assert claims_of(granted) + claims_of(core.waiting()) == needs[:who] + needs[who + 1 :]
    assert core.value == value - sum(claims_of(granted))
    assert nothing_grantable_waits(core)


def a_withdrawal_behind_the_head_lets_no_task_in(value: int, needs: list[int], who: int) -> None:
    assert len(needs) <= BOUND
    assert 1 <= who < len(needs)
    assert all(need >= 1 for need in needs)
    assert needs[0] > value
    core = with_queue(SemaphoreCore(value), needs)
    assert core.withdraw(in_queue(core, who)) == []
    assert core.value == value


def an_ended_request_cannot_be_withdrawn(value: int, needs: list[int], n: int) -> None:
    assert len(needs) <= BOUND
    assert n >= 1
    assert all(need >= 1 for need in needs)
    assert needs
    assert needs[0] > value
    core = with_queue(SemaphoreCore(value), needs)
    head = in_queue(core, 0)
    if head in core.release(n):
        left, value = claims_of(core.waiting()), core.value
        assert core.withdraw(head) is None
        assert head.status is Status.GRANTED
        assert claims_of(core.waiting()) == left
        assert core.value == value


def a_newcomer_is_granted_only_if_no_task_waits(value: int, needs: list[int], n: int) -> None:
    assert len(needs) <= BOUND
    assert n >= 1
    assert all(need >= 1 for need in needs)
    assert not needs or needs[0] > value
    core = with_queue(SemaphoreCore(value), needs)
    admissible = core.admissible(n)
    newcomer = core.submit(n)
    assert admissible == (newcomer.status is Status.GRANTED) == (not needs and n <= value)
    assert claims_of(core.waiting()) == (needs if admissible else [*needs, n])
    assert core.value == (value - n if admissible else value)
    assert newcomer.ticket == core.next_ticket - 1 == len(needs)  # granted or not, it counts
    assert nothing_grantable_waits(core)


def a_resize_leaves_no_request_waiting_that_fits(
    value: int, max_value: int, needs: list[int], new: int
) -> None:
    assert len(needs) <= BOUND
    assert value <= max_value
    assert new >= 0
    assert all(1 <= need <= max_value for need in needs)
    assert not needs or needs[0] > value
    core = with_queue(SemaphoreCore(value, max_value=max_value), needs)
    granted = core.resize(new)
    assert claims_of(granted) + claims_of(core.waiting()) == needs
    assert new - core.value == max_value - value + sum(claims_of(granted))
    assert nothing_grantable_waits(core)


def closing_breaks_all_in_the_queue_and_takes_nothing(value: int, needs: list[int]) -> None:
    assert len(needs) <= BOUND
    assert all(need >= 1 for need in needs)
    assert not needs or needs[0] > value
    core = with_queue(SemaphoreCore(value), needs)
    ended = core.end("closed")
    assert claims_of(ended) == needs
    assert all_are(Status.BROKEN, ended)
    assert all(request.cause == core.cause == "closed" for request in ended)
    assert not core.queue
    assert core.value == value


def a_closed_queue_stays_closed_for_the_first_reason(value: int, needs: list[int]) -> None:
    assert len(needs) <= BOUND
    assert all(need >= 1 for need in needs)
    assert not needs or needs[0] > value
    core = with_queue(SemaphoreCore(value), needs)
    core.end("closed")
    assert core.end("closed again") == []
    assert core.cause == "closed"


def nothing_is_granted_after_closing(value: int, needs: list[int], n: int, more: int) -> None:
    assert len(needs) <= BOUND
    assert n >= 1
    assert more >= 1
    assert all(need >= 1 for need in needs)
    assert not needs or needs[0] > value
    core = with_queue(SemaphoreCore(value), needs)
    core.end("closed")
    assert core.release(more) == []
    assert core.value == value + more  # releasing still works
    assert not core.admissible(n)


def eligible_grants_what_fits_oldest_first(value: int, needs: list[int], n: int) -> None:
    assert len(needs) <= BOUND
    assert n >= 1
    assert all(need >= 1 for need in needs)
    assert all(need > value for need in needs)
    core = with_queue(SemaphoreCore(value, policy="eligible"), needs)
    spare = value + n
    expected = []
    for number, need in enumerate(needs):
        if need <= spare:
            spare -= need
            expected.append(number)
    assert waiters_of(core.release(n)) == expected
    assert core.value == spare
    assert nothing_grantable_waits(core)
