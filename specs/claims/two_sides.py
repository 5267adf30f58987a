"""Both sides of a buffer: tasks that wait there for something else too, what cannot be compared, and batches."""

from __future__ import annotations

from typing import Any

from structsync import Status
from structsync._core.primitives.buffer import BufferCore
from structsync._core.primitives.items import SmallestFirst
from structsync._core.primitives.lent_items import NumberedSmallestFirst
from structsync._core.primitives.semaphore import SemaphoreCore
from structsync._core.primitives.sides import Batch, Get, Lend, One, Sides
from structsync._core.queue.group import Claims, settle_transitively
from structsync._core.queue.request import Request

from ._queue import BOUND, all_are

PUT_ONE, PUT_TWO, GET_ONE, GET_TWO, LEND = range(5)


def claim_of(kind: int) -> Any:
    """Return a new claim of that kind."""
    if kind == LEND:
        return Lend("borrower")
    return {PUT_ONE: ("a",), PUT_TWO: ("a", "b"), GET_ONE: One(), GET_TWO: Get(2)}[kind]


def has_its_part(core: BufferCore, kind: int, there: list[int], member: Request[Any]) -> bool:
    """Return whether the member of a group was granted what was there."""
    left = [*core.items]
    if kind == PUT_ONE:
        done = left == [*there, "a"] and member.claim == ("a",)
    elif kind == PUT_TWO:
        done = left == [*there, "a", "b"] and member.claim == ("a", "b")
    elif kind == GET_ONE:
        done = left == there[1:] and member.claim == there[0]
    elif kind == GET_TWO:
        done = not left and member.claim == there
    else:
        done = core.item_of(member.claim) == there[0] and len(left) == len(there) - 1
    return done and member.status is Status.GRANTED and not core.queue


def a_group_has_its_part_of_a_buffer_once_the_rest_is_there(kind: int, there: int) -> None:
    assert 0 <= kind <= 4
    assert 0 <= there <= 2
    core, other = BufferCore(2), SemaphoreCore(0)
    items = [*range(there)]
    core.items.extend(items)
    group = Claims(True, [(core, claim_of(kind)), (other, 1)])
    group.join()
    assert core.settle() == []  # it does not consent
    assert [*core.items] == items
    assert core.next_ones() == group.members[:1]
    settle_transitively(other.release(1))
    if there < 2 if kind == PUT_ONE else there == 0 if kind == PUT_TWO else there > 0:
        assert has_its_part(core, kind, items, group.members[0])
        assert other.value == 0
    else:
        assert all_are(Status.PENDING, group.members)
        assert [*core.items] == items
        assert other.value == 1


def a_group_has_its_part_of_a_buffer_that_changes(kind: int, is_first: bool) -> None:
    assert 0 <= kind <= 4
    core, other = BufferCore(2), SemaphoreCore(1)
    wanted = [(core, claim_of(kind)), (other, 1)]
    group = Claims(True, wanted if is_first else wanted[::-1])
    there: list[int] = []
    ended: list[Request[Any]] = []
    if kind <= PUT_TWO:
        there = [1] if kind == PUT_ONE else []
        core.items.extend([0, 1])
        assert not group.submit()
        for _ in range(1 if kind == PUT_ONE else 2):
            assert all_are(Status.PENDING, group.members)
            _, ended = core.ask(One())
    else:
        there = [7]
        assert not group.submit()
        _, ended = core.ask((7,))
    (member,) = [one for one in group.members if one.arbiter is core]
    assert ended[1:] == [member]
    assert has_its_part(core, kind, there, member)
    assert other.value == 0
    assert all_are(Status.GRANTED, group.members)


def of_a_choice_one_is_taken(kind: int, there: int) -> None:
    assert 0 <= kind <= 4
    assert 0 <= there <= 2
    core, other = BufferCore(2), SemaphoreCore(0)
    group = Claims(False, [(other, 1), (core, claim_of(kind))])
    group.join()
    items = [*range(there)]
    core.items.extend(items)
    ended = core.settle()
    settle_transitively(ended)
    if there < 2 if kind == PUT_ONE else there == 0 if kind == PUT_TWO else there > 0:
        assert ended == group.members[1:]
        assert has_its_part(core, kind, items, group.members[1])
        assert group.members[0].status is Status.WITHDRAWN
        assert group.standing is group.members[1]
        assert not other.queue
    else:
        assert ended == []
        assert all_are(Status.PENDING, group.members)
        assert group.standing is group.members[0]


# ==== What cannot be compared ====


class Odd:
    """A rank that compares with nothing."""

    def __lt__(self, other: object) -> bool:
        raise LookupError("of the user")


def a_put_that_cannot_be_compared_ends_alone(behind: int, is_odd: bool) -> None:
    assert 0 <= behind <= 1
    core = BufferCore(1, policy="priority")
    core.items.put((5, "there"))
    rank: Any = Odd() if is_odd else 3
    first = core.submit(((rank, "odd"),))
    others = [core.submit(((number, number),)) for number in range(behind)]
    get, ended = core.ask(One())
    assert get.claim == "there"
    if is_odd:
        assert first.status is Status.BROKEN
        assert isinstance(first.cause, LookupError)
        assert ended == [get, first, *others]
        assert [item for _, item in core.items] == [*range(behind)]
    else:
        assert ended == [get, first]
        assert all_are(Status.PENDING, others)
        assert [*core.items] == [(3, "odd")]


def a_get_is_granted_past_a_put_that_cannot_be_compared(several: int) -> None:
    assert 1 <= several <= 2
    core = BufferCore(several, policy="priority")
    core.items.extend([(rank, rank) for rank in range(several)])
    odd = core.enqueue(tuple([(Odd(), number) for number in range(several)]))
    plain = core.enqueue(((9, "plain"),))
    get, ended = core.ask(Get(several))
    assert get.claim == [*range(several)]
    assert ended == [get, odd, plain]
    assert odd.status is Status.BROKEN
    assert plain.status is Status.GRANTED


def what_is_put_now_raises_what_the_comparison_raised(there: int) -> None:
    assert 0 <= there <= BOUND
    core = BufferCore(BOUND + 1, policy="priority")
    core.items.extend([(rank, rank) for rank in range(there)])
    try:
        core.submit(((Odd(), "odd"),))
    except LookupError as error:
        words = str(error)
    else:
        raise AssertionError("put")
    assert words == "of the user"
    assert len(core.items) == there
    assert not core.queue
    assert core.next_ticket == 0


def what_cannot_be_compared_any_more_is_not_lost(there: int, is_numbered: bool) -> None:
    assert 0 <= there <= BOUND
    items: Any = NumberedSmallestFirst() if is_numbered else SmallestFirst()
    if is_numbered:
        items.next_number = 0
    for rank in range(there):
        items.put((rank, rank))
    items.put((Odd(), "odd"))  # it could be compared a moment ago
    assert [pair[1] for pair in items][::-1] == [*range(there), "odd"]
    if is_numbered:
        items.put_back((Odd(), "back", -1))
        assert items.take() == "back"  # it comes out next
        assert len(items) == there + 1
    else:
        twin = items.copy()
        assert twin is not items
        assert [*twin] == [*items]


# ==== The queue ====


def a_successor_takes_the_position_on_its_side(kinds: int, which: int) -> None:
    assert 0 <= kinds < 8
    assert 0 <= which < BOUND
    queue = Sides()
    claims = [("item",) if kinds >> number & 1 else One() for number in range(BOUND)]
    requests: list[Request[Any]] = [Request(claim, n) for n, claim in enumerate(claims)]
    for request in requests:
        queue.append(request)
    successor: Request[Any] = Request(claims[which], which, "successor")
    queue.replace(requests[which], successor)
    requests[which] = successor
    assert [*queue] == requests
    assert len(queue) == BOUND
    assert successor.queue is queue
    for lane in (queue.gets, queue.puts):
        assert [*lane] == [
            one for one in requests if (type(one.claim) is tuple) == (lane is queue.puts)
        ]


def those_whose_end_is_closed_are_broken_and_no_others(closed: int, is_full: bool) -> None:
    assert 0 <= closed < 8
    core = BufferCore(1)
    core.items.extend(["there"] if is_full else [])
    claims: list[Any] = [("a",), ("b",), ("c",)] if is_full else [One(), One(), One()]
    requests = [core.enqueue(claim, waiter=number) for number, claim in enumerate(claims)]
    gone = [number for number in range(BOUND) if closed >> number & 1]
    ended = core.break_waiters(gone, "closed")
    assert ended == [requests[number] for number in gone]
    assert all_are(Status.BROKEN, ended)
    assert all(one.cause == "closed" for one in ended)
    left = [one for one in requests if one not in ended]
    assert [*core.queue] == left
    assert all_are(Status.PENDING, left)


def those_behind_a_broken_request_are_let_in(is_closed: bool) -> None:
    assert is_closed in (False, True)
    core = BufferCore(2)
    core.items.extend(["there"])
    large = core.submit(("a", "b"), waiter="large")
    small = core.submit(("c",), waiter="small")
    ended = core.break_waiters(["large"] if is_closed else ["no task"], "closed")
    assert ended == ([large, small] if is_closed else [])
    assert [*core.items] == (["there", "c"] if is_closed else ["there"])


# ==== Batches ====


def a_batch_waits_until_its_window_ends(there: int, most: int, is_another: bool) -> None:
    assert 0 <= there <= BOUND
    assert 1 <= most <= BOUND
    core = BufferCore(BOUND)
    opened: list[object] = []

    class Watched(Batch):
        def opened(self) -> None:
            opened.append(self)

    claim = Watched(most)
    request, ended = core.ask(claim)
    for number in range(there):
        more = core.ask((number,))[1][1:]
        ended = more or ended
    begun, full = there > 0, there >= most
    assert (ended == [request]) == (request.status is Status.GRANTED) == full
    assert opened == ([claim] if begun and most > 1 else [])
    over = core.end_window(core.enqueue(One()) if is_another else request)
    assert over == ([request] if begun and not full and not is_another else [])
    if request.status is Status.GRANTED:
        assert request.claim == [*range(min(there, most))]
        assert core.collecting is None
        assert not core.window_over
    else:
        assert core.collecting is (request if begun else None)
