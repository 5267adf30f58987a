"""A lock has one owner, only the owner releases it, and it passes straight to the next.

Ints stand for the claimants: the core only asks whether two of them are equal.
"""

from __future__ import annotations

from typing import Any, cast

from structsync import Status
from structsync._core.primitives.lock import LockCore
from structsync.checking.invariants import nothing_grantable_waits

from ._queue import (
    BOUND,
    ByEquality,
    all_are,
    claims_of,
    distinct,
    in_queue,
    index_is_exact,
    with_queue,
)


def owned_by(owner: int, names: list[int]) -> LockCore:
    """A lock that has an owner, and others in the queue."""
    core = LockCore()
    core.pending = cast("dict[Any, Any]", ByEquality())
    core.admit(owner)
    return with_queue(core, names)


def only_the_owner_releases(owner: int, names: list[int], who: int) -> None:
    assert len(names) <= BOUND
    assert distinct([owner, *names])
    core = owned_by(owner, names)
    try:
        core.discharge(who)
    except RuntimeError:
        assert who != owner
        assert core.owner == owner
    else:
        assert who == owner
        assert core.owner is None
    assert claims_of(core.waiting()) == names


def no_task_releases_a_free_lock(who: int) -> None:
    assert who >= 0  # any claimant
    core = LockCore()
    try:
        core.discharge(who)
    except RuntimeError:
        assert core.owner is None
    else:
        raise AssertionError("released")


def a_release_passes_the_lock_to_the_oldest_waiter(owner: int, names: list[int]) -> None:
    assert len(names) <= BOUND
    assert distinct([owner, *names])
    core = owned_by(owner, names)
    granted = core.release(owner)
    assert claims_of(granted) == names[:1]
    assert all_are(Status.GRANTED, granted)
    assert core.owner == (names[0] if names else None)
    assert claims_of(core.waiting()) == names[1:]
    assert nothing_grantable_waits(core)
    assert index_is_exact(core)


def a_newcomer_waits_while_there_is_an_owner(owner: int, names: list[int], who: int) -> None:
    assert len(names) < BOUND
    assert distinct([owner, who, *names])
    core = owned_by(owner, names)
    assert not core.admissible(who)
    assert core.submit(who).status is Status.PENDING
    assert core.owner == owner
    assert claims_of(core.waiting()) == [*names, who]


def a_second_claim_is_refused_and_changes_nothing(waiting: int, who: int) -> None:
    assert 0 <= who <= waiting <= BOUND  # the owner is 0, and those in the queue follow
    core = owned_by(0, list(range(1, waiting + 1)))
    try:
        core.enqueue(who)
    except RuntimeError:
        assert core.owner == 0
        assert claims_of(core.waiting()) == list(range(1, waiting + 1))
        assert core.next_ticket == waiting
    else:
        raise AssertionError("queued twice")


def a_task_that_withdrew_may_claim_again(owner: int, names: list[int], position: int) -> None:
    assert len(names) <= BOUND
    assert 0 <= position < len(names)
    assert distinct([owner, *names])
    core = owned_by(owner, names)
    assert core.withdraw(in_queue(core, position)) == []
    assert names[position] not in core.pending
    core.enqueue(names[position])
    assert claims_of(core.waiting()) == [*names[:position], *names[position + 1 :], names[position]]
    assert index_is_exact(core)


def a_task_that_owned_it_may_claim_it_again(owner: int, names: list[int]) -> None:
    assert 1 <= len(names) <= BOUND
    assert distinct([owner, *names])
    core = owned_by(owner, names)
    core.release(owner)
    core.release(names[0])
    assert names[0] not in core.pending
    again = core.submit(names[0])
    assert (again.status is Status.GRANTED) == (len(names) == 1)


def a_lock_is_idle_exactly_if_it_has_no_owner(owned: bool, waiting: int) -> None:
    assert 0 <= waiting <= BOUND
    assert owned or not waiting
    core = owned_by(0, list(range(1, waiting + 1))) if owned else LockCore()
    assert core.is_idle is not owned


def an_owner_that_exits_breaks_the_lock_and_all_waiters(owner: int, names: list[int]) -> None:
    assert len(names) <= BOUND
    assert distinct([owner, *names])
    core = owned_by(owner, names)
    ended = core.owner_exited(owner, "exited")
    assert claims_of(ended) == names
    assert all_are(Status.BROKEN, ended)
    assert core.cause == "exited"
    assert not core.queue


def another_that_exits_leaves_the_lock_usable(owner: int, names: list[int], who: int) -> None:
    assert len(names) <= BOUND
    assert distinct([owner, *names])
    assert who != owner
    core = owned_by(owner, names)
    ended = core.owner_exited(who, "exited")
    assert claims_of(ended) == [name for name in names if name == who]
    assert all_are(Status.WITHDRAWN, ended)
    assert core.owner == owner
    assert core.cause is None
    assert claims_of(core.waiting()) == [name for name in names if name != who]
    assert index_is_exact(core)
