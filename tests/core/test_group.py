"""A group is in several queues and ends as a whole, without recursion and in few operations."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from structsync import Arbiter
from structsync._core.primitives.lock import LockCore
from structsync._core.primitives.rwlock import READ, WRITE, Access, RWLockCore
from structsync._core.primitives.semaphore import SemaphoreCore
from structsync._core.queue.arbiter import EndedForGood
from structsync._core.queue.group import Claims, Member, settle_transitively
from structsync._core.queue.request import GRANTED, WITHDRAWN

from .test_cost import lines_run


def all_of(who: str, *claims: tuple[Arbiter[Any], Any]) -> Claims:
    return Claims(True, claims, who)


def any_of(who: str, *claims: tuple[Arbiter[Any], Any]) -> Claims:
    return Claims(False, claims, who)


def statuses(group: Claims) -> list[str]:
    return [one.status.value for one in group.members]


def test_what_is_free_is_granted_at_once_and_leaves_no_place_in_queue() -> None:
    a, b = LockCore(), SemaphoreCore(2)
    assert len(all_of("w", (a, "w"), (b, 2)).submit()) == 2
    assert (a.owner, b.value, len(a.queue), len(b.queue)) == ("w", 0, 0, 0)


def test_a_choice_takes_the_first_that_is_free_and_withdraws_the_others() -> None:
    a, b, c = SemaphoreCore(0), SemaphoreCore(1), SemaphoreCore(1)
    group = any_of("w", (a, 1), (b, 1), (c, 1))
    group.submit()
    assert statuses(group) == ["withdrawn", "granted", "withdrawn"]
    assert [a.value, b.value, c.value] == [0, 0, 1]


@pytest.mark.parametrize("closed", [0, 1])
def test_a_refused_group_joins_no_queue(closed: int) -> None:
    cores = LockCore(), LockCore()
    for core in cores:
        core.submit("owner")
    cores[closed].end("closed")
    with pytest.raises(EndedForGood):
        all_of("w", (cores[0], "w"), (cores[1], "w")).submit()
    assert not any(core.queue or core.pending for core in cores)


def test_withdrawing_any_member_withdraws_them_all_and_only_once() -> None:
    a, b = LockCore(), LockCore()
    a.submit("owner")
    group = all_of("w", (a, "w"), (b, "w"))
    group.submit()
    behind = b.submit("behind")
    first, second = group.members
    ended = a.withdraw(first)
    assert statuses(group) == ["withdrawn", "withdrawn"]
    assert settle_transitively([first, *(ended or [])]) == [(second, [second, behind])]
    assert (a.withdraw(first), b.withdraw(second)) == (None, None)
    assert behind.status is GRANTED


def test_what_ends_in_another_queue_is_reported_in_the_order_in_which_it_ended() -> None:
    permits, lock, rwlock = SemaphoreCore(2, max_value=2), LockCore(), RWLockCore()
    permits.resize(1)
    both = all_of("both", (permits, 2), (lock, "both"))
    reads = all_of("reads", (lock, "reads"), (rwlock, Access(READ, "reads")))
    either = any_of("either", (permits, 1), (rwlock, Access(WRITE, "either")))
    for group in (both, reads, either):
        group.submit()
    behind = rwlock.submit(Access(READ, "behind"))
    # What is granted in the semaphore leaves the queue of the third, which is settled last.
    first, *_ = both.members
    ended = [first, *(permits.withdraw(first) or [])]
    granted = [
        one
        for _, others in settle_transitively(ended)
        for one in others
        if one is behind or (one.group is reads and one is not reads.members[0])
    ]
    assert granted == [reads.members[1], behind]
    assert list(rwlock.readers) == ["reads", "behind"]


def test_breaking_one_leaves_the_other_queue_as_if_it_had_never_been_joined() -> None:
    a, b = LockCore(), LockCore()
    a.submit("owner")
    before = b.snapshot()
    group = all_of("w", (a, "w"), (b, "w"))
    group.submit()
    settle_transitively(a.end("closed"))
    assert statuses(group) == ["broken", "withdrawn"]
    assert b.snapshot() == before
    assert not b.pending


def test_a_long_chain_is_settled_without_recursion() -> None:
    gates = [SemaphoreCore(2, max_value=2) for _ in range(5_000)]
    gates[0].submit(2)
    groups = [all_of(str(at), (a, 1), (b, 1)) for at, (a, b) in enumerate(pairwise(gates))]
    for group in groups:
        group.submit()
    settle_transitively(gates[0].release(2))
    assert all(one.status is GRANTED for group in groups for one in group.members)


def waiting_group(many: int) -> Member:
    """Return a member of a group of three, with so many groups before and behind it."""
    cores = [SemaphoreCore(0) for _ in range(3)]
    made = [all_of(str(at), *[(core, 1) for core in cores]) for at in range(2 * many)]
    for group in made:
        group.submit()
    return made[many].members[0]


def test_withdrawing_costs_the_same_however_many_wait() -> None:
    few, many = waiting_group(10), waiting_group(1_000)

    def withdraw(member: Member) -> None:
        settle_transitively([member, *(member.arbiter.withdraw(member) or [])])

    assert lines_run(lambda: withdraw(few)) == lines_run(lambda: withdraw(many))
    assert few.status is WITHDRAWN


def test_a_group_that_is_not_at_the_head_everywhere_waits() -> None:
    a, b = SemaphoreCore(0), SemaphoreCore(1)
    b.enqueue(2)
    group = all_of("w", (a, 1), (b, 1))
    group.submit()
    assert a.release(1) == []
    assert statuses(group) == ["pending", "pending"]
