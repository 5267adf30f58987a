"""The readers in the queue are indexed, and who has left the queue is not.

No specification sees it, because restoring makes the index anew, and no random walk comes here: eight
steps in this order.
"""

from __future__ import annotations

import pytest

from structsync._core.primitives.rwlock import READ, WRITE, Access, PhaseFairCore, RWLockCore
from structsync._core.queue.request import GRANTED, PENDING
from structsync.checking.invariants import twin_of


def who_enters_where_a_writer_leaves() -> set[object]:
    """A reader was let in by a withdrawal, not by a writer that left, and is long gone."""
    core = PhaseFairCore()
    core.submit(Access(READ, "a"))
    writer = core.submit(Access(WRITE, "w"))
    reader = core.submit(Access(READ, "b"))
    core.withdraw(writer)
    assert reader.status is GRANTED
    core.release(Access(READ, "a"))
    core.release(Access(READ, "b"))
    core.submit(Access(WRITE, "x"))
    core.release(Access(WRITE, "x"))
    return {*core.readers}


def test_a_reader_that_was_let_in_by_a_withdrawal_is_not_let_in_again() -> None:
    assert who_enters_where_a_writer_leaves() == set()


def test_without_the_upkeep_it_would_be(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PhaseFairCore, "left", RWLockCore.left)
    assert who_enters_where_a_writer_leaves() == {"b"}


def test_a_copy_has_an_index_of_its_own() -> None:
    """What is tried on a copy must not grant a request of the original."""
    core = PhaseFairCore()
    core.submit(Access(WRITE, "w"))
    reader = core.submit(Access(READ, "b"))
    twin_of(core).release(Access(WRITE, "w"))
    assert reader.status is PENDING
    assert core.waiting() == [reader]
