"""How a caller takes and releases without a request, and what an error of a user's function ends."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from structsync import Arbiter, Status
from structsync._core.primitives.capacity_limiter import CapacityLimiterCore
from structsync._core.primitives.job_queue import JobQueueCore
from structsync._core.primitives.lock import LockCore
from structsync._core.primitives.rwlock import READ, WRITE, Access, PhaseFairCore
from structsync._core.primitives.semaphore import SemaphoreCore
from structsync._core.queue.arbiter import releaser_of, taker_of
from structsync._core.queue.group import Claims
from structsync._core.queue.policy import Fifo, Priority
from structsync._core.queue.request import Queue, Request
from structsync._core.queue.user_code import UserCodeFailed

from ._queue import BOUND, claims_of, with_queue


class TakesItself(SemaphoreCore):
    """A core with ways of its own to take and to release."""

    def take(self, claim: int) -> None:
        super().take(2 * claim)

    def release(self, claim: int) -> Any:
        return super().release(2 * claim)


#: What is taken for a claim of one, and whether a newcomer may overtake waiters.
TAKERS: list[tuple[Callable[[int], SemaphoreCore], int, bool]] = [
    (lambda value: SemaphoreCore(value), 1, False),
    (lambda value: SemaphoreCore(value, policy="eligible"), 1, True),
    (lambda value: SemaphoreCore(value, policy="priority"), 1, True),
    (lambda value: TakesItself(value), 2, False),
]


def a_newcomer_that_overtakes_makes_the_waiters_older(which: int, waiting: int) -> None:
    assert 0 <= which < 4
    assert 0 <= waiting <= BOUND
    make, taken, may_pass = TAKERS[which]
    core = with_queue(make(5), [6] * waiting)
    take = taker_of(core)
    assert take == (core.take if may_pass or taken == 2 else core.admit)
    core.take(1)
    assert core.value == 5 - taken
    assert core.next_ticket == waiting + (waiting > 0)
    assert len(core.queue) == waiting


def a_release_by_the_short_way_lets_in_the_same(which: int, waiting: int) -> None:
    assert 0 <= which < 4
    assert 0 <= waiting <= BOUND
    make, taken, _ = TAKERS[which]
    core, twin = (with_queue(make(0), [1] * waiting) for _ in range(2))
    ended = releaser_of(core)(1)
    assert claims_of(ended or ()) == claims_of(twin.release(1)) == [1] * min(taken, waiting)
    assert core.value == twin.value == max(0, taken - waiting)
    assert ended is not None or not waiting


def where_a_writer_leaves_by_the_short_way_all_readers_enter(readers: int) -> None:
    assert 0 <= readers <= BOUND
    core = PhaseFairCore()
    core.admit(Access(WRITE, "writer"))
    core.submit(Access(WRITE, "next"))
    entering = [Access(READ, who) for who in range(readers)]
    for one in entering:
        core.submit(one)
    ended = releaser_of(core)(Access(WRITE, "writer"))
    assert claims_of(ended or ()) == (entering or [Access(WRITE, "next")])


class Guarded(Arbiter[int]):
    """A core whose function raises for the claim of 0."""

    def admits(self, claim: int) -> bool:
        if not claim:
            raise LookupError("of the user")
        return True

    def admit(self, claim: int) -> None: ...

    def discharge(self, claim: int) -> None: ...


class OfOurs(Guarded):
    """The same, as if it shipped."""

    __module__ = "structsync._core.of_ours"


class OfOursThatEvaluates(OfOurs):
    """A core that ships, and evaluates a function of the user's."""

    __module__ = "structsync._core.of_ours"

    def admits(self, claim: int) -> bool:
        try:
            return super().admits(claim)
        except LookupError as error:
            raise UserCodeFailed(error) from None


GUARDED = (Guarded, OfOurs, OfOursThatEvaluates)


def an_error_of_the_users_ends_one_request_and_ours_none(which: int, claim: int) -> None:
    assert 0 <= which < 3
    assert 0 <= claim <= 1
    core = with_queue(GUARDED[which](), [claim, 2])
    first, second = core.queue
    try:
        ended = core.settle()
    except LookupError:
        assert (which, claim) == (1, 0)
        assert first.status is second.status is Status.PENDING
    else:
        assert (which, claim) != (1, 0)
        assert ended == [first, second]
        assert first.status is (Status.GRANTED if claim else Status.BROKEN)
        assert claim or isinstance(first.cause, LookupError)
        assert second.status is Status.GRANTED


def what_is_evaluated_now_raises_what_the_user_raised(which: int, is_submitted: bool) -> None:
    assert 0 <= which < 3
    core = GUARDED[which]()
    evaluate: Callable[[int], object] = core.submit if is_submitted else core.admissible_or_error
    try:
        evaluate(0)
    except LookupError as error:
        words = str(error)
    else:
        raise AssertionError("answered")
    assert words == "of the user"
    assert not core.queue
    assert core.next_ticket == 0


def a_group_is_told_whose_error_it_is(which: int, is_next: bool) -> None:
    assert 0 <= which < 3
    core = GUARDED[which]()
    if not is_next:
        core.enqueue(1)
    group = Claims(True, [(core, 0), (SemaphoreCore(0), 1)])
    group.join()
    told: BaseException | None = None
    try:
        answer = core.is_next(group.members[0])
    except UserCodeFailed as failed:
        told = failed.error
        assert is_next
    except LookupError:
        assert which == 1
        assert is_next
    else:
        assert not is_next
        assert answer is False
    assert isinstance(told, LookupError) == (is_next and which != 1)
    assert str(UserCodeFailed(LookupError("of the user"))) == "of the user"


def what_is_granted_alone_is_handed_nothing(claim: int, waiting: int) -> None:
    assert 0 <= waiting <= BOUND
    core = SemaphoreCore(claim)
    assert core.handed_out(claim) is None
    assert core.sum_of([claim] * waiting) == claim * waiting
    assert Arbiter.sum_of(core, [claim]) == claim
    queue: Queue[Any] = Queue()
    requests: list[Request[Any]] = [Request(None, number) for number in range(waiting)]
    for one in requests:
        Fifo().join(queue, one, 3)
    assert [*queue] == requests


#: The cores whose order a user may choose, and how each is made with it.
ORDERED: list[Callable[..., Arbiter[Any]]] = [
    lambda **options: CapacityLimiterCore(1, **options),
    lambda **options: JobQueueCore(1, 1, **options),
    lambda **options: SemaphoreCore(1, **options),
    LockCore,
    Guarded,
]


def what_is_not_said_is_first_come_first_served_or_ages_by_a_hundred(which: int) -> None:
    assert 0 <= which < 5
    make = ORDERED[which]
    assert make().policy.name == "fifo"
    core = make(policy="priority")
    assert isinstance(core.policy, Priority)
    assert core.policy.ageing == 100
    strict = make(policy="priority", ageing=None)
    assert isinstance(strict.policy, Priority)
    assert strict.policy.ageing is None


def only_those_that_are_named_are_considered(which: int, value: int, waiting: int) -> None:
    assert 0 <= which < waiting <= BOUND
    assert 0 <= value <= 2
    core = with_queue(SemaphoreCore(0, policy="eligible"), [1] * waiting)
    core.value = value
    named = [*core.queue][which:]
    assert core.settle(named) == named[:value]
    assert core.value == max(0, value - len(named))
    assert len(core.queue) == waiting - min(value, len(named))


def the_next_ones_are_granted_if_there_is_room(which: int, waiting: int) -> None:
    assert 0 <= which < 3
    assert 0 <= waiting <= BOUND
    core = with_queue(TAKERS[which][0](0), [1] * waiting)
    oldest = core.waiting()
    assert core.next_ones() == (oldest if core.policy.name == "eligible" else oldest[:1])
