"""A round of a barrier goes in whole or breaks whole, and numbers its parties once."""

from __future__ import annotations

from structsync import Status
from structsync._core.primitives.barrier import BarrierCore

from ._queue import BOUND, all_are, claims_of, in_queue, waiters_of


def barrier(parties: int, waiting: int) -> BarrierCore:
    """A barrier at which so many wait."""
    core = BarrierCore(parties)
    for number in range(waiting):
        core.enqueue(None, waiter=number)
    return core


def a_round_is_full_with_its_last_party(parties: int, waiting: int) -> None:
    assert 0 <= waiting <= BOUND
    assert parties > waiting
    core = barrier(parties, waiting)
    assert not core.full
    core.enqueue(None)
    assert core.full == (waiting == parties - 1)


def a_full_round_goes_in_and_each_has_a_number(parties: int) -> None:
    assert 1 <= parties <= BOUND
    core = barrier(parties, parties)
    granted = core.release_round()
    assert all_are(Status.GRANTED, granted)
    assert waiters_of(granted) == list(range(parties))
    assert claims_of(granted) == list(range(parties))
    assert core.places == 0
    assert not core.queue


def a_party_that_leaves_is_not_counted(waiting: int, position: int) -> None:
    assert 1 <= waiting <= BOUND
    assert 0 <= position < waiting
    core = barrier(waiting + 1, waiting)
    assert core.withdraw(in_queue(core, position)) == []
    core.enqueue(None)
    assert not core.full


def a_party_that_deserts_takes_the_others_along(waiting: int, position: int) -> None:
    assert 1 <= waiting <= BOUND
    assert 0 <= position < waiting
    core = barrier(waiting + 1, waiting)
    broken = core.leave_and_break(in_queue(core, position), "broken")
    assert broken is not None
    assert len(broken) == waiting - 1
    assert all_are(Status.BROKEN, broken)
    assert core.broken
    assert core.cause == "broken"
    assert not core.queue


def a_party_that_leaves_for_good_is_not_waited_for(parties: int, waiting: int) -> None:
    assert 0 <= waiting <= BOUND
    assert waiting < parties
    core = barrier(parties, waiting)
    granted = core.remove_party()
    assert core.parties == parties - 1
    is_complete = waiting == parties - 1 and waiting > 0
    assert claims_of(granted) == (list(range(waiting)) if is_complete else [])
    assert len(core.queue) == (0 if is_complete else waiting)


def a_round_is_broken_for_what_its_action_says(parties: int, fails: bool) -> None:
    assert 1 <= parties <= BOUND
    core = barrier(parties, parties)
    ended = core.complete_round(lambda: "failed" if fails else None)
    assert all_are(Status.BROKEN if fails else Status.GRANTED, ended)
    assert len(ended) == parties
    assert core.cause == ("failed" if fails else None)
    assert not core.queue


def a_reset_begins_anew_unless_it_is_closed(waiting: int, closed: bool, broken: bool) -> None:
    assert 0 <= waiting <= BOUND
    core = barrier(waiting + 1, waiting)
    if broken:
        core.break_round("broken")
    if closed:
        core.end("closed")
    core.reset("reset")
    assert not core.broken
    assert core.cause == ("closed" if closed else None)
    assert not core.queue
