"""A notification arrives: it moves a waiter to the lock's queue, and outlives its cancellation.

The waiters are numbered in the order of their arrival; the lock has an owner all the time, as it has
whenever a task notifies.
"""

from __future__ import annotations

from typing import cast

from structsync import Status
from structsync._core.primitives.condition import ConditionCore
from structsync._core.primitives.lock import LockCore
from structsync._core.queue.request import Request

from ._queue import BOUND, LONG, all_are, index_is_exact, links_are_exact, waiters_of

OWNER = "owner"


def condition(waiting: int) -> tuple[ConditionCore, list[Request[int]]]:
    """A condition with so many waiters, none of them notified yet."""
    core = ConditionCore(LockCore())
    requests = []
    for number in range(waiting):
        core.lock.admit(number)
        requests.append(core.wait(number, number)[0])
    core.lock.admit(OWNER)
    return core, requests


def indexes_are_exact(core: ConditionCore) -> bool:
    """Both indexes are exact, and the lock knows of the condition exactly while a task waits there."""
    known = core in core.lock.conditions
    return (
        index_is_exact(core)
        and index_is_exact(cast(LockCore, core.lock))
        and known == bool(core.queue)
    )


def only_the_owner_of_the_lock_may_wait_or_notify(owner: int, who: int) -> None:
    assert owner >= 0  # any claimant
    core = ConditionCore(LockCore())
    core.lock.admit(owner)
    try:
        core.refuse_unless_owner(who, "notify")
    except RuntimeError:
        assert who != owner
    else:
        assert who == owner


def without_a_notification_no_task_is_let_in(waiting: int) -> None:
    assert 0 <= waiting <= BOUND
    core, requests = condition(waiting)
    assert not core.admissible(OWNER)
    assert core.settle() == []
    assert core.waiting() == requests


def a_wait_gives_the_lock_up_in_the_same_step(others: int) -> None:
    assert 0 <= others <= BOUND
    core, _ = condition(0)
    for number in range(others):
        core.lock.enqueue(number, waiter=number)
    request, granted = core.wait(OWNER, OWNER)
    assert core.waiting() == [request]
    assert waiters_of(granted) == list(range(others))[:1]
    assert core.lock.owner == (0 if others else None)


def a_notification_moves_the_oldest_to_the_end_of_the_locks_queue(
    waiting: int, ahead: int, count: int
) -> None:
    assert 0 <= waiting <= BOUND
    assert 0 <= ahead <= 1
    assert 0 <= count <= BOUND + 1  # more than there are
    core, requests = condition(waiting)
    if ahead:
        core.lock.enqueue("ahead", waiter="ahead")
    assert core.notify(count) == []
    assert core.lock.waiting()[ahead:] == requests[:count]
    assert core.waiting() == requests[count:]
    assert all_are(Status.PENDING, requests)
    assert indexes_are_exact(core)


def notifying_all_moves_all(waiting: int) -> None:
    assert 0 <= waiting <= LONG
    core, requests = condition(waiting)
    assert core.notify(None) == []
    assert core.lock.waiting() == requests
    assert not core.queue
    assert not core.lock.conditions


def a_cancelled_notification_passes_to_the_oldest_not_notified(
    waiting: int, count: int, who: int
) -> None:
    assert 0 <= waiting <= BOUND
    assert 0 <= who < count < waiting  # notified, and at least one is not
    core, requests = condition(waiting)
    core.notify(count)
    ticket = requests[who].ticket
    assert core.cancel(requests[who]) == []
    heir = requests[count]
    assert heir.ticket == ticket
    assert links_are_exact(core.lock.queue)
    assert core.waiting() == requests[count + 1 :]
    notified = [*requests[:who], heir, *requests[who + 1 : count]]
    assert core.lock.waiting()[:-1] == notified
    assert requests[who].status is Status.WITHDRAWN
    assert core.lock.waiting()[-1].claim == who  # it must own the lock before it may raise
    assert indexes_are_exact(core)


def a_cancelled_notification_without_an_heir_ends(waiting: int, who: int) -> None:
    assert 0 <= who < waiting <= BOUND
    core, requests = condition(waiting)
    core.notify(None)
    assert core.cancel(requests[who]) == []
    assert core.lock.waiting()[:-1] == requests[:who] + requests[who + 1 :]
    assert core.lock.waiting()[-1].claim == who
    assert indexes_are_exact(core)
    assert requests[who].status is Status.WITHDRAWN


def a_cancelled_waiter_spends_no_notification(waiting: int, count: int, who: int) -> None:
    assert 0 <= count <= who < waiting <= BOUND  # not notified
    core, requests = condition(waiting)
    core.notify(count)
    assert core.cancel(requests[who]) == []
    assert core.lock.waiting()[:-1] == requests[:count]
    assert core.waiting() == requests[count:who] + requests[who + 1 :]
    assert core.lock.waiting()[-1].claim == who
    assert indexes_are_exact(core)


def a_wait_that_owns_the_lock_again_cannot_be_cancelled(waiting: int, count: int) -> None:
    assert 1 <= count <= waiting <= BOUND
    core, requests = condition(waiting)
    core.notify(count)
    assert core.lock.release(OWNER) == requests[:1]
    assert core.cancel(requests[0]) is None
    assert requests[0].status is Status.GRANTED
    assert core.lock.owner == 0
    assert core.lock.waiting() == requests[1:count]
    assert core.waiting() == requests[count:]


def breaking_the_lock_reaches_every_waiter(waiting: int, count: int) -> None:
    assert 0 <= count <= waiting <= BOUND
    core, requests = condition(waiting)
    core.notify(count)
    assert cast(LockCore, core.lock).owner_exited(OWNER, "exited") == requests
    assert all_are(Status.BROKEN, requests)
    assert all(request.cause == "exited" for request in requests)
    assert not core.queue
    assert not core.lock.queue
    assert not core.lock.conditions


def closing_a_condition_spares_those_already_notified(waiting: int, count: int) -> None:
    assert 0 <= count <= waiting <= BOUND
    core, requests = condition(waiting)
    core.notify(count)
    assert core.end("closed") == []
    assert core.lock.waiting()[:count] == requests[:count]
    assert all_are(Status.PENDING, requests[:count])
    assert all_are(Status.BROKEN, requests[count:])
    assert all(request.cause == core.cause == "closed" for request in requests[count:])
    assert not core.queue
    assert waiters_of(core.lock.waiting()) == list(range(waiting))
    assert indexes_are_exact(core)


def a_condition_stays_closed_for_the_first_reason(waiting: int) -> None:
    assert 0 <= waiting <= BOUND
    core, _ = condition(waiting)
    core.end("closed")
    assert core.end("closed again") == []
    assert core.cause == "closed"
    assert waiters_of(core.lock.waiting()) == list(range(waiting))


def a_lock_is_not_idle_while_a_task_waits_for_a_notification(waiting: int) -> None:
    assert 0 <= waiting <= BOUND
    core, _ = condition(waiting)
    core.lock.release(OWNER)
    assert core.lock.is_idle is (waiting == 0)


def no_waiter_that_is_gone_breaks_the_condition(waiting: int, gone: int) -> None:
    assert 0 <= waiting <= BOUND
    assert 0 <= gone <= BOUND
    core, requests = condition(waiting)
    assert core.held_by(gone) is None
    assert core.owner_exited(gone, "exited") == requests[gone : gone + 1]
    assert core.cause is None
    assert core.waiting() == [one for one in requests if one.claim != gone]
    assert all_are(Status.PENDING, core.waiting())
