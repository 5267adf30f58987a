"""What a thread asks for ends once: by being done, or by an interrupt that comes first."""

from __future__ import annotations

from structsync._core.primitives.errand import ASKED, BEGUN, ENDED, ErrandCore


def test_what_is_interrupted_before_it_begins_does_not_begin() -> None:
    errand = ErrandCore()
    assert errand.interrupt()
    assert not errand.begin()
    assert not errand.end()


def test_what_has_begun_ends_by_itself_although_it_is_interrupted() -> None:
    errand = ErrandCore()
    assert errand.begin()
    assert not errand.begin()
    assert not errand.interrupt()
    assert errand.interrupted
    assert errand.end()


def test_an_interrupt_after_the_end_changes_nothing() -> None:
    errand = ErrandCore()
    errand.begin()
    errand.end()
    assert not errand.interrupt()
    assert not errand.interrupted


def test_what_must_be_done_begins_although_it_is_interrupted() -> None:
    errand = ErrandCore(must=True)
    assert not errand.interrupt()
    assert errand.begin()


def test_a_snapshot_tells_how_far_it_is() -> None:
    errand, other = ErrandCore(), ErrandCore()
    stages = [errand.snapshot()[0]]
    errand.begin()
    errand.interrupt()
    stages.append(errand.snapshot()[0])
    other.restore(errand.snapshot())
    assert other.snapshot() == errand.snapshot()
    assert other.interrupted
    other.end()
    assert [*stages, other.stage] == [ASKED, BEGUN, ENDED]
