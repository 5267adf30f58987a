"""A limiter lends each borrower one token, and never more tokens than there are.

Ints stand for the borrowers: those that hold a token are 0, 1, ... and those that wait follow them.
"""

from __future__ import annotations

from structsync._core.primitives.capacity_limiter import CapacityLimiterCore
from structsync.checking.invariants import nothing_grantable_waits

from ._queue import BOUND, claims_of, index_is_exact, with_queue


def limiter(total: int, lent: int, waiting: int) -> CapacityLimiterCore:
    """A limiter with so many tokens, so many of them lent, and so many borrowers in the queue."""
    core = CapacityLimiterCore(total)
    for borrower in range(lent):
        core.admit(borrower)
    return with_queue(core, range(lent, lent + waiting))


def a_grant_needs_a_spare_token(total: int, lent: int) -> None:
    assert 0 <= lent <= BOUND  # more may be lent than there are, after a shrink
    assert total >= 0
    core = limiter(total, lent, 0)
    if core.admits(lent):
        core.admit(lent)
        assert len(core.borrowers) == lent + 1 <= total
    else:
        assert lent >= total


def a_borrower_is_lent_one_token_at_most(total: int, lent: int, who: int) -> None:
    assert 0 <= who < lent <= BOUND
    assert total >= 0
    core = limiter(total, lent, 0)
    assert not core.admissible(who)
    try:
        core.enqueue(who)
    except RuntimeError:
        assert not core.queue
        assert len(core.borrowers) == lent
    else:
        raise AssertionError("queued")


def a_borrower_waits_once_at_most(total: int, lent: int, waiting: int, position: int) -> None:
    assert 0 <= lent <= BOUND
    assert 0 <= position < waiting <= BOUND
    assert 0 <= total <= lent
    core = limiter(total, lent, waiting)
    try:
        core.enqueue(lent + position)
    except RuntimeError:
        assert claims_of(core.waiting()) == list(range(lent, lent + waiting))
    else:
        raise AssertionError("queued twice")


def a_token_that_was_not_borrowed_cannot_be_released(
    total: int, lent: int, waiting: int, who: int
) -> None:
    assert 0 <= lent <= BOUND
    assert 0 <= waiting <= BOUND
    assert lent <= who <= lent + waiting  # the waiters, and a stranger
    assert total >= 0
    assert lent >= total or not waiting
    core = limiter(total, lent, waiting)
    try:
        core.release(who)
    except RuntimeError:
        assert list(core.borrowers) == list(range(lent))
        assert len(core.queue) == waiting
    else:
        raise AssertionError("released")


def a_returned_token_is_lent_to_the_oldest_if_it_is_spare(
    total: int, lent: int, waiting: int, who: int
) -> None:
    assert 0 <= who < lent <= BOUND
    assert 0 <= waiting <= BOUND
    assert total >= 0
    assert lent >= total or not waiting
    core = limiter(total, lent, waiting)
    granted = core.release(who)
    assert claims_of(granted) == ([lent] if waiting and lent <= total else [])
    assert (who in core.borrowers) is False
    assert len(core.borrowers) == lent - 1 + len(granted)
    assert nothing_grantable_waits(core)
    assert index_is_exact(core)


def new_tokens_are_lent_to_the_oldest_and_only_the_spare_ones(
    total: int, lent: int, waiting: int, new: int
) -> None:
    assert 0 <= lent <= BOUND
    assert 0 <= waiting <= BOUND
    assert total >= 0
    assert new >= 0
    assert lent >= total or not waiting
    core = limiter(total, lent, waiting)
    granted = core.resize(new)
    room = min(waiting, max(0, new - lent))
    assert claims_of(granted) == list(range(lent, lent + room))
    assert list(core.borrowers) == list(range(lent + room))
    assert nothing_grantable_waits(core)
    assert index_is_exact(core)
