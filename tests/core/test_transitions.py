"""Transitions of the cores: what each does, and that a refused one raises and nothing happens."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest

from structsync._core.primitives.barrier import BarrierCore
from structsync._core.primitives.capacity_limiter import CapacityLimiterCore
from structsync._core.primitives.job_queue import JobQueueCore
from structsync._core.primitives.latch import LatchCore
from structsync._core.primitives.lock import LockCore
from structsync._core.primitives.parker import Busy, ParkerCore
from structsync._core.primitives.rate_limiter import RateLimiterCore
from structsync._core.primitives.rwlock import READ, WRITE, Access, PhaseFairCore, RWLockCore
from structsync._core.primitives.semaphore import SemaphoreCore
from structsync._core.primitives.value import Awaited, ValueCore
from structsync._core.primitives.wait_queue import WaitQueueCore
from structsync._core.queue.arbiter import Arbiter, EndedForGood
from structsync._core.queue.request import WITHDRAWN, Request


def semaphore(value: int, max_value: int | None = None, *claims: int) -> SemaphoreCore:
    core = SemaphoreCore(value, max_value=max_value)
    for place, claim in enumerate(claims):
        core.submit(claim, waiter="abcdef"[place])
    return core


def held_lock(*waiting: str) -> LockCore:
    core = LockCore()
    for who in ("owner", *waiting):
        core.submit(who, waiter=who)
    return core


def lent_limiter(total: float, *borrowers: str) -> CapacityLimiterCore:
    core = CapacityLimiterCore(total)
    for who in borrowers:
        core.submit(who, waiter=who)
    return core


def reading(*writers: str) -> RWLockCore:
    core = RWLockCore()
    core.submit(Access(READ, "reader"), waiter="reader")
    for who in writers:
        core.submit(Access(WRITE, who), waiter=who)
    return core


def blocked_parker() -> ParkerCore:
    core = ParkerCore()
    core.submit(None)
    return core


def ended() -> SemaphoreCore:
    core = SemaphoreCore(1)
    core.end("closed")
    return core


def waiters(requests: list[Request[Any]] | None) -> list[str]:
    assert requests is not None
    return [request.waiter for request in requests]


# ==== refused transitions raise, and nothing happens ====

REFUSED: dict[str, tuple[Callable[[], Arbiter[Any]], Callable[[Any], object], type[Exception]]] = {
    "more permits than there ever were": (
        lambda: semaphore(0, 2, 1),
        lambda core: core.submit(3),
        ValueError,
    ),
    "giving back what was seen": (
        lambda: ValueCore(1),
        lambda core: core.release(None),
        NotImplementedError,
    ),
    "giving back what time brings": (
        lambda: RateLimiterCore(1, 1, 1),
        lambda core: core.release(1),
        NotImplementedError,
    ),
    "a release too many": (lambda: semaphore(1, 2), lambda core: core.release(2), ValueError),
    "resizing what has no size": (lambda: semaphore(1), lambda core: core.resize(3), ValueError),
    "acquiring one's own lock": (held_lock, lambda core: core.submit("owner"), RuntimeError),
    "waiting twice for a lock": (
        lambda: held_lock("a"),
        lambda core: core.submit("a"),
        RuntimeError,
    ),
    "releasing another task's lock": (
        lambda: held_lock("a"),
        lambda core: core.release("a"),
        RuntimeError,
    ),
    "borrowing twice": (lambda: lent_limiter(2, "a"), lambda core: core.submit("a"), RuntimeError),
    "waiting twice for a token": (
        lambda: lent_limiter(1, "a", "b"),
        lambda core: core.submit("b"),
        RuntimeError,
    ),
    "giving back what one has not": (
        lambda: lent_limiter(1, "a", "b"),
        lambda core: core.release("b"),
        RuntimeError,
    ),
    "joining what has ended": (ended, lambda core: core.submit(1), EndedForGood),
    "a second block": (blocked_parker, lambda core: core.submit(None), Busy),
    "giving back a meeting": (
        lambda: BarrierCore(2),
        lambda core: core.release(None),
        NotImplementedError,
    ),
    "reading twice": (reading, lambda core: core.submit(Access(READ, "reader")), RuntimeError),
    "an upgrade": (reading, lambda core: core.submit(Access(WRITE, "reader")), RuntimeError),
    "waiting to read and to write": (
        lambda: reading("writer"),
        lambda core: core.submit(Access(READ, "writer")),
        RuntimeError,
    ),
    "a downgrade of a reader": (reading, lambda core: core.downgrade("reader"), RuntimeError),
    "counting below zero": (lambda: LatchCore(2), lambda core: core.release(3), ValueError),
    "giving back a wait": (WaitQueueCore, lambda core: core.release(None), NotImplementedError),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_refused_transition_raises_and_nothing_happens(case: str) -> None:
    make, attempt, error = REFUSED[case]
    core = make()
    before, ticket = core.snapshot(), core.next_ticket
    with pytest.raises(error):
        attempt(core)
    assert (core.snapshot(), core.next_ticket) == (before, ticket)


# ==== the arbiter ====


def test_what_fits_is_granted_at_once() -> None:
    assert semaphore(1).submit(1).status == "granted"


def test_withdrawing_the_head_lets_in_those_behind_it() -> None:
    core = semaphore(1, None, 2, 1)
    assert waiters(core.withdraw(core.waiting()[0])) == ["b"]


@pytest.mark.parametrize("ending", ["granted", "withdrawn", "broken"])
def test_withdrawing_an_ended_request_returns_none_and_changes_nothing(ending: str) -> None:
    core = semaphore(0)
    request = core.submit(1)
    if ending == "granted":
        core.release(1)
    elif ending == "withdrawn":
        core.withdraw(request)
    else:
        core.end("closed")
    before = core.snapshot()
    assert core.withdraw(request) is None
    assert (core.snapshot(), request.status) == (before, ending)


def test_ending_breaks_every_task_in_queue_with_the_cause() -> None:
    core = semaphore(0, None, 1, 1)
    ended = core.end("why")
    assert [(one.status, one.cause) for one in ended] == [("broken", "why")] * 2
    assert not core.queue


def test_the_first_cause_stays() -> None:
    core = semaphore(0)
    core.end("first")
    assert core.end("second") == []
    assert core.cause == "first"


def test_nothing_is_admissible_after_the_end() -> None:
    core = semaphore(1)
    core.end("closed")
    assert not core.admissible(1)


def test_giving_back_works_after_the_end() -> None:
    core = semaphore(0, 1)
    core.end("closed")
    core.release(1)
    assert core.value == 1


def test_a_core_without_its_three_functions_is_refused_when_it_is_made() -> None:
    class Half(Arbiter[str]):
        def admits(self, claim: str) -> bool:
            return True

    with pytest.raises(TypeError, match=r"abstract .*admit.*discharge"):
        Half()  # type: ignore[abstract]  # on purpose


def test_a_request_shows_how_it_stands() -> None:
    assert repr(semaphore(1).submit(1)) == "<granted request 0 for 1>"


def test_a_request_for_a_value_shows_what_it_waits_for() -> None:
    request = ValueCore(0).submit(Awaited(bool))
    assert repr(request) == "<pending request 0 for <wait for <class 'bool'>>>"


# ==== semaphore ====


def test_a_claim_is_all_or_nothing() -> None:
    core = semaphore(0, None, 2)
    assert core.release(1) == []
    assert core.value == 1
    assert waiters(core.release(1)) == ["a"]


def test_a_queued_claim_survives_a_shrink_and_waits_for_growth() -> None:
    core = semaphore(0, 3, 3)
    core.resize(1)
    assert core.value == -2
    core.release(2)
    assert core.value == 0
    assert core.resize(3) == []
    assert waiters(core.release(1)) == ["a"]


def test_a_claim_that_once_was_possible_is_not_refused() -> None:
    core = semaphore(1, 3)
    core.resize(1)
    assert core.submit(3).status == "pending"


# ==== lock ====


def test_releasing_hands_the_lock_to_the_next_in_queue() -> None:
    core = held_lock("a", "b")
    assert waiters(core.release("owner")) == ["a"]
    assert core.owner == "a"


def test_an_owner_that_exits_breaks_the_lock() -> None:
    core = held_lock("a")
    assert [one.status for one in core.owner_exited("owner", "exited")] == ["broken"]
    assert core.cause == "exited"


def test_the_request_of_a_task_that_exits_is_withdrawn() -> None:
    core = held_lock("a", "b")
    request = core.waiting()[0]
    assert core.owner_exited("a", "exited") == [request]
    assert request.status == "withdrawn"
    assert core.cause is None


def test_the_exit_of_a_bystander_changes_nothing() -> None:
    core = held_lock("a")
    before = core.snapshot()
    assert core.owner_exited("b", "exited") == []
    assert core.snapshot() == before


@pytest.mark.parametrize("held", [True, False])
def test_a_lock_is_idle_when_no_task_owns_it_or_waits(held: bool) -> None:
    core = held_lock() if held else LockCore()
    assert core.is_idle is not held


# ==== capacity limiter ====


def test_nought_tokens_pause() -> None:
    core = lent_limiter(0, "a")
    assert waiters(core.waiting()) == ["a"]


def test_infinitely_many_tokens_let_every_task_in() -> None:
    assert set(lent_limiter(math.inf, "a", "b").borrowers) == {"a", "b"}


def test_after_a_decrease_no_task_is_let_in_until_there_is_room() -> None:
    core = lent_limiter(2, "a", "b", "c")
    core.resize(1)
    assert core.release("a") == []
    assert waiters(core.release("b")) == ["c"]


def test_an_increase_lets_in_as_many_as_there_is_room_for() -> None:
    core = lent_limiter(1, "a", "b", "c", "d")
    assert waiters(core.resize(3)) == ["b", "c"]


def test_a_borrower_that_withdrew_may_ask_again() -> None:
    core = lent_limiter(1, "a", "b")
    core.withdraw(core.waiting()[0])
    assert core.submit("b").status == "pending"


# ==== wait queue and parker ====


def test_a_wake_grants_the_oldest() -> None:
    core = WaitQueueCore()
    for who in "abc":
        core.submit(None, waiter=who)
    assert waiters(core.wake(2)) == ["a", "b"]


def test_a_wake_that_finds_no_task_is_not_kept() -> None:
    core = WaitQueueCore()
    core.wake(3)
    assert core.submit(None).status == "pending"


def test_an_unblock_that_comes_first_is_kept() -> None:
    core = ParkerCore()
    core.release(None)
    assert core.submit(None).status == "granted"


def test_each_block_uses_one_unblock() -> None:
    core = ParkerCore()
    core.release(None)
    core.submit(None)
    assert core.submit(None).status == "pending"


# ==== the read-write lock ====


@pytest.mark.parametrize("writers", [(), ("w",)])
def test_a_waiter_of_a_read_write_lock_that_exits_leaves_its_place(
    writers: tuple[str, ...],
) -> None:
    core = reading("gone", *writers)
    core.submit(Access(READ, "behind"), waiter="behind")
    assert waiters(core.owner_exited("gone", "why")) == ["gone", *([] if writers else ["behind"])]
    assert core.cause is None
    assert core.owner_exited("unknown", "why") == []


def test_a_phase_fair_lock_finds_the_readers_without_a_search() -> None:
    """It knows who waits to read after each way out of the queue, and after a restore."""
    core = PhaseFairCore()
    core.submit(Access(WRITE, "w"), waiter="w")
    requests = [core.submit(Access(READ, who), waiter=who) for who in "abc"]
    core.submit(Access(WRITE, "v"), waiter="v")
    core.withdraw(requests[0])
    assert core.withdraw(requests[0]) is None
    core.restore(core.snapshot())
    assert waiters(core.release(Access(WRITE, "w"))) == ["b", "c"]
    assert core.readers_in_queue == {}
    core.release(Access(READ, "b"))
    assert waiters(core.release(Access(READ, "c"))) == ["v"]


# ==== the barrier ====


def test_who_is_in_no_queue_cannot_desert_a_barrier() -> None:
    core = BarrierCore(2)
    request = core.enqueue(None)
    core.withdraw(request)
    assert core.leave_and_break(request, "why") is None
    assert core.cause is None


def test_breaking_a_closed_barrier_changes_nothing() -> None:
    core = BarrierCore(2)
    core.end("closed")
    assert core.break_round("broken") == core.reset("reset") == []
    assert (core.cause, core.broken) == ("closed", False)


def test_a_borrower_that_exited_breaks_the_limiter_if_it_holds_a_token_and_else_only_leaves() -> (
    None
):
    core = lent_limiter(1, "holder", "waiter")
    assert (core.held_by("holder"), core.held_by("waiter")) == ("holder", None)
    [left] = core.owner_exited("waiter", "exited")
    assert left.status is WITHDRAWN
    assert core.cause is None
    assert core.owner_exited("no task", "exited") == []
    assert core.owner_exited("holder", "exited") == []  # no task waits any more
    assert core.cause == "exited"


# ==== the queue of a pool ====


def test_a_job_queue_is_idle_once_it_is_closed_and_its_last_job_has_ended() -> None:
    core = JobQueueCore(1, 2)
    core.submit("runs")
    core.submit("waits")
    seen = [core.is_idle]
    core.close("closed")
    seen.append(core.is_idle)
    core.release("runs")
    seen.append(core.is_idle)
    core.release("waits")
    assert (seen, core.is_idle) == ([False] * 3, True)
    assert not JobQueueCore(1, 2).is_idle  # its workers belong to a run


def test_a_request_that_joins_the_queue_has_every_field_that_its_constructor_sets() -> None:
    """The queue makes it without a call of that, which is the same written twice."""
    core = SemaphoreCore(0)
    queued = core.enqueue(1)
    made = type(queued)(1, queued.ticket)
    fields = {name for kind in type(queued).__mro__ for name in getattr(kind, "__slots__", ())}
    unset = {name for name in fields if hasattr(made, name) and not hasattr(queued, name)}
    assert not unset
    assert (queued.status, queued.parked) == (made.status, made.parked)
