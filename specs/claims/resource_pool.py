"""A pool lends what is idle, makes no more than it may, and never forgets an item that comes back.

Ints stand for the borrowers and for their items: those that have a place are 0, 1, ... and those that wait follow.
"""

from __future__ import annotations

from structsync import Status
from structsync._core.primitives.resource_pool import Kept, ResourcePoolCore
from structsync.checking.invariants import nothing_grantable_waits

from ._queue import BOUND, claims_of, with_queue

OLD, NEW = "the oldest idle item", "the newest idle item"


def pool(max_size: int, lent: int, idle: int, waiting: int = 0) -> ResourcePoolCore:
    """A pool with so many places, so many of them taken, so many idle items, and a queue."""
    core = ResourcePoolCore(max_size)
    core.loans = {who: Kept(who, 0) for who in range(lent)}
    core.idle.extend([Kept(item, 0) for item in (OLD, "one between them", NEW)[:idle]])
    if idle:
        core.idle[-1] = Kept(NEW, 0)
    return with_queue(core, range(lent, lent + waiting))


def a_place_is_granted_exactly_while_one_is_free(max_size: int, lent: int, idle: int) -> None:
    assert 0 <= idle <= BOUND
    assert 0 <= lent <= BOUND
    assert lent + idle <= max_size or (lent >= max_size >= 1 and idle == 0)
    core = pool(max_size, lent, idle)
    before = core.size
    request = core.submit(lent)
    assert (request.status is Status.GRANTED) == (lent < max_size)
    if lent < max_size:
        assert core.loans[lent] == (Kept(NEW, 0) if idle else None)
        assert before <= core.size <= max_size


def what_comes_back_is_kept_and_its_place_is_the_next_ones(
    max_size: int, lent: int, waiting: int, who: int, now: int
) -> None:
    assert 0 <= who < lent <= BOUND
    assert 0 <= waiting <= BOUND
    assert max_size >= 1
    assert lent >= max_size or not waiting
    core = pool(max_size, lent, 0, waiting)
    granted = core.put_back(who, now)
    assert claims_of(granted) == ([lent] if waiting and lent <= max_size else [])
    items = [kept.item for kept in (*core.loans.values(), *core.idle) if kept is not None]
    assert sorted(items) == list(range(lent))
    assert nothing_grantable_waits(core)


def an_item_is_over_once_it_was_idle_for_its_lifetime(
    lent: int, ahead: int, lifetime: int, since: int, now: int
) -> None:
    assert 0 <= lent <= BOUND
    assert ahead >= 0
    assert lifetime >= 1
    core = pool(lent + 1, lent, 0)
    core.min_size, core.max_idle = ahead, lifetime
    core.loans["borrower"] = Kept("item", since)
    assert core.is_fit("borrower", now) == (lent + 1 <= ahead or now - since < lifetime)
    core.discard("borrower")
    assert not core.is_fit("borrower", now)


def the_oldest_is_closed_where_there_are_too_many(max_size: int, lent: int, idle: int) -> None:
    assert 0 <= idle <= BOUND
    assert 0 <= lent <= BOUND
    assert max_size >= 1
    core = pool(max_size, lent, idle)
    oldest = core.idle[0] if idle else None
    stale = core.evict("the closer", 0)
    assert stale == (idle > 0 and lent + idle > max_size)
    assert core.size == lent + idle
    if stale:
        assert core.loans["the closer"] == oldest


def no_more_are_made_ahead_than_are_missing(lent: int, idle: int, ahead: int) -> None:
    assert 0 <= idle <= BOUND
    assert 0 <= lent <= BOUND
    assert ahead >= 0
    core = pool(lent + idle + ahead, lent, idle)
    core.min_size = ahead
    assert core.reserve("the maker") == (lent + idle < ahead)
    assert core.size == lent + idle + (lent + idle < ahead)


def an_item_is_known_by_itself(lent: int, closing: int, which: int) -> None:
    assert 0 <= lent <= BOUND
    assert -1 <= closing < lent
    assert -1 <= which < lent
    core = ResourcePoolCore(BOUND)
    items = [["equal"] for _ in range(lent)]
    for who, item in enumerate(items):
        core.admit(who)
        core.put_in(who, item)
    if closing >= 0:
        assert core.take_out(closing) is items[closing]
        assert core.take_out(closing) is None
    item = items[which] if which >= 0 else ["equal"]
    assert core.loan_of(item) == (which if 0 <= which != closing else None)


def the_last_place_says_that_there_is_none_left(max_size: int, lent: int) -> None:
    assert 0 <= lent < max_size
    assert lent <= BOUND
    core = pool(max_size, lent, 0)
    assert core.admit(lent) == (lent + 1 == max_size)
    assert len(core.loans) == lent + 1
