"""The core of a buffer where no trio run shows it: situations, lanes, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from structsync._core.primitives.buffer import BufferCore
from structsync._core.primitives.semaphore import SemaphoreCore
from structsync._core.primitives.sides import Batch, Get, One
from structsync._core.queue.arbiter import EndedForGood
from structsync._core.queue.group import Claims
from structsync._core.queue.request import Request
from structsync.checking import invariants


def waiters(core: BufferCore) -> list[Any]:
    return [one.waiter for one in core.queue]


@pytest.mark.parametrize("policy", ["fifo", "lifo", "priority"])
def test_a_situation_can_be_gone_back_to(policy: str) -> None:
    core = BufferCore(2, policy=policy)
    items = [(1, "a"), (0, "b")] if policy == "priority" else ["a", "b"]
    for item in items:
        core.ask((item,))
    core.ask((items[0],), "puts")
    before = core.snapshot()
    twin = invariants.twin_of(core)
    assert twin.snapshot() == before
    assert twin.ask(One(), "gets")[1]
    assert core.snapshot() == before
    core.ask(One(), "gets")
    core.restore(before)
    assert core.snapshot() == before


def test_an_open_window_is_part_of_the_situation() -> None:
    core = BufferCore(3)
    core.ask(("a",))
    core.ask(Batch(2), "batch")
    before = core.snapshot()
    core.restore(before)
    assert core.collecting is core.queue.gets.head
    assert core.snapshot() == before
    assert core.collecting is not None
    (request,) = core.end_window(core.collecting)
    assert request.claim == ["a"]
    assert core.end_window(request) == []
    assert not core.window_over


def test_a_batch_that_waits_for_its_first_item_has_no_window() -> None:
    core = BufferCore(3)
    request, _ = core.ask(Batch(2), "batch")
    assert core.end_window(request) == []
    core.withdraw(request)
    assert not core.queue


def test_who_puts_does_not_stand_in_the_way_of_who_gets() -> None:
    """So that the explorer takes it for no overtaking."""
    assert not BufferCore(1).policy.single_queue
    core = BufferCore(1)
    core.ask(("a",))
    core.ask(("b",), "puts")
    assert core.submit(One()).status == "granted"


def test_a_successor_stands_in_the_lane_and_may_leave_it() -> None:
    core = BufferCore(1)
    request, _ = core.ask(One(), "before")
    core.replace(request, successor := Request(One(), -1, "successor"))
    assert waiters(core) == ["successor"]
    assert core.withdraw(successor) == []
    assert not core.queue


def test_both_lanes_are_one_queue_in_the_order_of_arrival() -> None:
    core = BufferCore(5)
    core.ask(tuple("abc"))
    core.ask(tuple("defgh"), "puts")
    core.ask(Batch(4), "collects")
    core.ask(("i",), "puts too")
    assert waiters(core) == ["puts", "collects", "puts too"]
    assert len(core.queue) == 3
    assert [one.waiter for one in core.next_ones()] == ["collects", "puts"]
    head = core.queue.puts.head
    assert head is not None
    core.replace(head, Request(head.claim, -1, "in its place"))
    assert waiters(core) == ["in its place", "collects", "puts too"]


def test_a_claim_is_what_it_claims() -> None:
    assert Get(2) == Get(2) != Get(3)
    assert Get(2) != Batch(2)
    assert len({Get(2), Get(2), Batch(2), One()}) == 3
    assert [repr(one) for one in (Get(2), Batch(3), One())] == ["Get(2)", "Batch(3)", "One(1)"]


def test_what_was_got_for_good_cannot_be_given_back() -> None:
    with pytest.raises(RuntimeError, match="not in hand"):
        BufferCore(1).release(One())


def test_who_gets_from_what_is_complete_and_empty_is_refused() -> None:
    core = BufferCore(1)
    core.complete("no more", "drained")
    assert core.complete("again", "again") == []
    for claim, cause in ((One(), "drained"), (("a",), "no more")):
        with pytest.raises(EndedForGood) as caught:
            core.ask(claim)
        assert caught.value.cause == cause


def test_a_batch_whose_end_of_a_channel_is_closed_collects_no_more() -> None:
    core = BufferCore(2)
    core.ask(("item",), "sender")
    batch, _ = core.ask(Batch(2), "receiver")
    assert core.collecting is batch
    assert core.break_waiters({"receiver"}, "closed") == [batch]
    assert core.collecting is None
    assert core.end_window(batch) == []
    core.ask(("another",), "sender")
    assert core.items.snapshot() == ("item", "another")


@pytest.mark.parametrize("puts", [False, True])
def test_a_group_stands_behind_who_came_before_it_although_it_would_fit(puts: bool) -> None:
    core, semaphore = BufferCore(2), SemaphoreCore(0)
    core.ask(("a",))
    core.ask(("b", "c") if puts else Batch(2), "before")
    claim: Any = ("d",) if puts else One()
    group = Claims(True, [(core, claim), (semaphore, 1)], "group")
    assert not group.submit()
    assert core.admits(claim)
    assert semaphore.release(1) == []
    (before,) = [one for one in core.queue if one.waiter == "before"]
    core.withdraw(before)
    assert [one.status for one in group.members] == ["granted", "granted"]


def test_an_item_stays_where_it_is_while_the_group_of_who_is_next_waits_elsewhere() -> None:
    core, semaphore = BufferCore(2), SemaphoreCore(0)
    group = Claims(True, [(core, One()), (semaphore, 1)], "group")
    assert not group.submit()
    assert len(core.ask(("a",))[1]) == 1  # the put alone
    assert list(core.items) == ["a"]
    semaphore.release(1)
    assert [one.status for one in group.members] == ["granted", "granted"]
    assert not core.items


def test_what_cannot_be_compared_is_not_put() -> None:
    core = BufferCore(2, policy="priority")
    core.submit(((1, "one"),))
    with pytest.raises(TypeError, match="not supported"):
        core.submit((("two", "two"),))
    assert list(core.items) == [(1, "one")]
