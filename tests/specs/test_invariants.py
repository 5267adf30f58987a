"""The invariants in executable form: each says yes to a core as it should be, and no to a wrong one."""

from typing import Any

import pytest

from structsync import Primitive, Status
from structsync._core.primitives.lock import LockCore
from structsync._core.primitives.semaphore import SemaphoreCore
from structsync.checking import invariants


def queue(*claims: int, policy: str = "fifo") -> SemaphoreCore:
    """Return a semaphore of three permits, all out, and these claims in the queue."""
    core = SemaphoreCore(3, max_value=3, policy=policy)
    core.submit(3, waiter="holder")
    for number, claim in enumerate(claims):
        core.submit(claim, waiter=f"waiter {number}")
    return core


@pytest.mark.parametrize("policy", ["fifo", "eligible", "priority"])
def test_a_queue_whose_next_does_not_fit_is_quiescent(policy: str) -> None:
    assert invariants.nothing_grantable_waits(queue(2, 3, policy=policy))


@pytest.mark.parametrize("policy", ["fifo", "eligible", "priority"])
def test_a_lost_wakeup_is_noticed(policy: str) -> None:
    core = queue(2, 3, policy=policy)
    core.discharge(3)
    assert not invariants.nothing_grantable_waits(core)


def test_a_small_claim_behind_a_large_one_is_a_lost_wakeup_only_if_it_may_pass() -> None:
    core = queue(3, 1)
    core.discharge(1)
    assert invariants.nothing_grantable_waits(core)
    core = queue(3, 1, policy="eligible")
    core.discharge(1)
    assert not invariants.nothing_grantable_waits(core)


def test_a_forgotten_waiter_of_a_closed_core_is_noticed() -> None:
    core = queue(1)
    assert invariants.nothing_waits_when_closed_or_broken(core)
    core.cause = "closed"
    assert not invariants.nothing_waits_when_closed_or_broken(core)


@pytest.mark.parametrize("policy", ["fifo", "eligible", "priority"])
def test_nowait_agrees_with_a_queue_and_without_one(policy: str) -> None:
    assert invariants.nowait_agrees(queue(2, policy=policy), 1)
    assert invariants.nowait_agrees(SemaphoreCore(1, policy=policy), 1)


def test_nowait_agrees_that_an_impossible_claim_is_not_granted() -> None:
    assert invariants.nowait_agrees(SemaphoreCore(3, max_value=3), 4)


def test_nowait_agrees_that_nothing_is_granted_by_what_is_closed() -> None:
    core = SemaphoreCore(1)
    core.end("closed")
    assert invariants.nowait_agrees(core, 1)


def test_barging_is_noticed() -> None:
    class Barging(SemaphoreCore):
        def admissible(self, claim: int, priority: int = 0) -> bool:
            return self.admits(claim)

    core = Barging(3)
    core.submit(1)
    core.enqueue(3)
    assert not invariants.nowait_agrees(core, 1)


def test_a_nowait_that_refuses_without_need_is_noticed() -> None:
    class Shy(SemaphoreCore):
        def admissible(self, claim: int, priority: int = 0) -> bool:
            return False

    assert not invariants.nowait_agrees(Shy(3), 1)


def test_a_refusal_without_a_trace_is_one() -> None:
    assert invariants.refuses(queue(1), lambda core: core.release(4))


def test_what_is_not_refused_is_noticed() -> None:
    assert not invariants.refuses(queue(1), lambda core: core.release(1))


def test_a_refusal_that_comes_too_late_is_noticed() -> None:
    class Late(SemaphoreCore):
        def discharge(self, claim: int) -> None:
            self.value += claim
            raise ValueError("too late")

    assert not invariants.refuses(Late(3), lambda core: core.release(1))


def test_an_ended_request_has_ended_for_good() -> None:
    core = queue(1, 2)
    first, second = core.queue
    core.withdraw(first)
    core.release(3)
    assert invariants.ended_for_good(core, first)
    assert invariants.ended_for_good(core, second)


def test_a_pending_request_has_not_ended() -> None:
    core = queue(1)
    (request,) = core.queue
    assert not invariants.ended_for_good(core, request)


def test_an_ended_request_that_is_still_in_queue_is_noticed() -> None:
    core = queue(1)
    (request,) = core.queue
    request.status = Status.WITHDRAWN
    assert not invariants.ended_for_good(core, request)


def test_a_second_withdrawal_that_changes_something_is_noticed_and_undone() -> None:
    class Twice(SemaphoreCore):
        def withdraw(self, request: Any) -> None:
            self.value += 1

    core = Twice(3)
    assert not invariants.ended_for_good(core, core.submit(1))
    assert core.value == 2


def test_of_several_requests_the_last_one_is_looked_at_too() -> None:
    core = queue(1, 2)
    first, second = core.queue
    core.withdraw(first)
    assert not invariants.ended_for_good(core, first, second)
    core.withdraw(second)
    assert invariants.ended_for_good(core, first, second)
    assert invariants.ended_for_good(core)


def test_what_a_second_withdrawal_changes_is_noticed_though_the_next_one_changes_it_back() -> None:
    class ToAndFro(SemaphoreCore):
        def withdraw(self, request: Any) -> None:
            self.value = 5 - self.value

    core = ToAndFro(4)
    requests = core.submit(1), core.submit(1)
    assert not invariants.ended_for_good(core, *requests)
    assert core.value == 2


def test_a_second_withdrawal_that_claims_to_have_ended_something_is_noticed() -> None:
    class Boasts(SemaphoreCore):
        def withdraw(self, request: Any) -> Any:
            return []

    core = Boasts(3)
    assert not invariants.ended_for_good(core, core.submit(1))


@pytest.mark.parametrize(
    ("ended", "after"),
    [("", "abc"), ("b", "ac"), ("", "abcx"), ("ab", "cx"), ("abc", ""), ("", "abcxy")],
)
def test_a_task_that_has_not_ended_keeps_its_place(ended: str, after: str) -> None:
    assert invariants.positions_are_kept("abc", ended, after)


@pytest.mark.parametrize(
    ("ended", "after"),
    [("", "acb"), ("", "ab"), ("", "xabc"), ("a", "abc"), ("a", "bca"), ("", "abxc")],
)
def test_a_lost_place_is_noticed(ended: str, after: str) -> None:
    assert not invariants.positions_are_kept("abc", ended, after)


@pytest.mark.parametrize(
    ("granted", "after"), [("", "abc"), ("a", "bc"), ("abc", ""), ("b", "c"), ("abcx", "")]
)
def test_grants_from_the_head_are_in_queue(granted: str, after: str) -> None:
    assert invariants.served_in_queue("abc", granted, after)


@pytest.mark.parametrize(("granted", "after"), [("b", "ac"), ("ba", "c"), ("x", "abc")])
def test_overtaking_is_noticed(granted: str, after: str) -> None:
    assert not invariants.served_in_queue("abc", granted, after)


def test_a_copy_can_be_driven_without_a_trace_on_the_original() -> None:
    core = LockCore()
    core.submit("a", waiter="a")
    core.submit("b", waiter="b")
    before, requests = core.snapshot(), list(core.queue)
    twin = invariants.twin_of(core)
    twin.release("a")
    twin.submit("c", waiter="c")
    assert core.snapshot() == before
    assert list(core.queue) == requests
    assert all(one.status is Status.PENDING for one in requests)
    assert {*core.pending} == {"b"}


def test_the_copy_of_a_live_core_asks_its_own_state() -> None:
    class Seats(SemaphoreCore):
        """A user's core; its primitive puts a guard on it."""

    class Bench(Primitive[int]):
        pass

    core = Seats(1)
    Bench(core)
    twin = invariants.twin_of(core)
    core.admit(1)
    assert twin.admits(1)
    assert not core.admits(1)
