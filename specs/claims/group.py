"""A group takes everything or nothing, or exactly one thing, whatever is there.

Two semaphores stand for two primitives: a group asks only whether a claim fits.
"""

from __future__ import annotations

from structsync import Status
from structsync._core.primitives.semaphore import SemaphoreCore
from structsync._core.queue.group import Claims, settle_transitively
from structsync.checking.invariants import nothing_grantable_waits

from ._queue import all_are


def all_that_is_there_is_taken_or_nothing(first: int, second: int, one: int, other: int) -> None:
    assert first >= 0
    assert second >= 0
    assert one >= 1
    assert other >= 1
    a, b = SemaphoreCore(first), SemaphoreCore(second)
    group = Claims(True, [(a, one), (b, other)])
    group.submit()
    if one <= first and other <= second:
        assert all_are(Status.GRANTED, group.members)
        assert (a.value, b.value) == (first - one, second - other)
        assert not a.queue
        assert not b.queue
    else:
        assert all_are(Status.PENDING, group.members)
        assert (a.value, b.value) == (first, second)
        assert len(a.queue) == len(b.queue) == 1
    assert nothing_grantable_waits(a)
    assert nothing_grantable_waits(b)


def a_choice_takes_one_of_what_is_there(first: int, second: int, one: int, other: int) -> None:
    assert first >= 0
    assert second >= 0
    assert one >= 1
    assert other >= 1
    a, b = SemaphoreCore(first), SemaphoreCore(second)
    Claims(False, [(a, one), (b, other)]).submit()
    if one <= first:
        assert (a.value, b.value) == (first - one, second)
    elif other <= second:
        assert (a.value, b.value) == (first, second - other)
    else:
        assert (a.value, b.value) == (first, second)
        assert len(a.queue) == len(b.queue) == 1
    assert nothing_grantable_waits(a)
    assert nothing_grantable_waits(b)


def what_comes_back_is_granted_with_what_is_there(back: int, second: int, other: int) -> None:
    assert back >= 1
    assert 0 <= second < other  # so that the group waits
    a, b = SemaphoreCore(0), SemaphoreCore(second)
    group = Claims(True, [(a, 1), (b, other)])
    group.submit()
    settle_transitively(a.release(1))
    settle_transitively(b.release(back))
    if second + back >= other:
        assert all_are(Status.GRANTED, group.members)
        assert (a.value, b.value) == (0, second + back - other)
    else:
        assert all_are(Status.PENDING, group.members)
        assert (a.value, b.value) == (1, second + back)


def a_choice_that_is_granted_leaves_the_other_queue(back: int, one: int, at_first: bool) -> None:
    assert back >= 1
    assert one >= 1
    cores = [SemaphoreCore(0), SemaphoreCore(0)]
    group = Claims(False, [(core, one) for core in cores])
    group.submit()
    core = cores[0] if at_first else cores[1]
    settle_transitively(core.release(back))
    if back >= one:
        assert core.value == back - one
        assert [len(each.queue) for each in cores] == [0, 0]
        assert len(group.granted()) == 1
    else:
        assert core.value == back
        assert [len(each.queue) for each in cores] == [1, 1]


def a_request_behind_a_withdrawn_group_is_granted(behind: int, there: int) -> None:
    assert 1 <= behind <= there
    a, b = SemaphoreCore(0), SemaphoreCore(there)
    group = Claims(True, [(a, 1), (b, 1)])
    group.submit()
    waiting = b.submit(behind)
    assert b.value == there  # it stands behind the group
    first = group.members[0]
    settle_transitively([first, *(a.withdraw(first) or [])])
    assert all_are(Status.WITHDRAWN, group.members)
    assert all_are(Status.GRANTED, [waiting])
    assert b.value == there - behind


def a_group_that_is_granted_is_an_arrival_in_each_queue(
    first: int, second: int, all_of: bool
) -> None:
    assert 0 <= first <= 1
    assert 0 <= second <= 1
    a, b = SemaphoreCore(first), SemaphoreCore(second)
    group = Claims(all_of, [(a, 1), (b, 1)], "waiter")
    assert not group.parked
    assert [one.waiter for one in group.members] == ["waiter"] * 2
    granted = group.submit()
    if all_of and not (first and second):
        assert granted == ()
        assert (a.next_ticket, b.next_ticket) == (1, 1)  # it waits in both
        assert group.standing is group.members[0]
    elif granted:
        assert (a.next_ticket, b.next_ticket) == ((1, 1) if all_of else (first, 1 - first))
        assert group.granted() == [*granted]
        assert group.standing is granted[0]
    else:
        assert (a.next_ticket, b.next_ticket) == (1, 1)
        assert not first
        assert not second


def of_a_group_the_member_that_ended_it_stands_for_all(which: int, is_broken: bool) -> None:
    assert 0 <= which <= 1
    cores = [SemaphoreCore(0), SemaphoreCore(0)]
    group = Claims(False, [(core, 1) for core in cores])
    group.join()
    if is_broken:
        cores[which].end("closed")
    else:
        cores[which].release(1)
    assert group.standing is group.members[which]
    assert group.standing.status is (Status.BROKEN if is_broken else Status.GRANTED)
    assert group.members[1 - which].status is Status.WITHDRAWN
    group.members[which].parked = True
    assert group.members[1 - which].parked
