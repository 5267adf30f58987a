"""A read-write lock has readers or a writer, lets readers in a row in together, and upgrades no reader.

Ints stand for the claimants: those in the queue are 0, 1, 2, and a task that is inside is negative.
"""

from __future__ import annotations

from structsync import Status
from structsync._core.primitives.rwlock import (
    READ,
    WRITE,
    Access,
    PhaseFairCore,
    RWLockCore,
    make_core,
)
from structsync.checking.invariants import nothing_grantable_waits

from ._queue import BOUND, all_are, claims_of, in_queue, index_is_exact, with_queue

WRITER = -1


def claims(writes: list[bool]) -> list[Access]:
    """What those in the queue want: to write, or to read."""
    return [Access(WRITE if one else READ, who) for who, one in enumerate(writes)]


def written(writes: list[bool]) -> RWLockCore:
    """A lock that a task holds for writing, and others in the queue."""
    core = RWLockCore()
    core.admit(Access(WRITE, WRITER))
    return with_queue(core, claims(writes))


def read(readers: int, writes: list[bool]) -> RWLockCore:
    """A lock that so many hold for reading, and others in the queue, the first of them to write."""
    core = RWLockCore()
    for number in range(readers):
        core.admit(Access(READ, -1 - number))
    return with_queue(core, claims(writes))


def in_a_row(writes: list[bool]) -> int:
    """How many of the queue enter a lock that is free: a writer, or the readers before the first."""
    if writes and writes[0]:
        return 1
    return writes.index(True) if True in writes else len(writes)


def a_writer_that_leaves_lets_in_the_next_writer_or_readers_in_a_row(writes: list[bool]) -> None:
    assert len(writes) <= BOUND
    core = written(writes)
    granted = core.release(Access(WRITE, WRITER))
    entered = in_a_row(writes)
    assert claims_of(granted) == claims(writes)[:entered]
    assert all_are(Status.GRANTED, granted)
    assert len(core.queue) == len(writes) - entered
    assert core.writer is None or not core.readers
    assert nothing_grantable_waits(core)
    assert index_is_exact(core)


def a_reader_that_leaves_lets_a_writer_in_only_as_the_last(
    readers: int, writes: list[bool]
) -> None:
    assert 1 <= readers <= 2
    assert 1 <= len(writes) <= BOUND
    assert writes[0]
    core = read(readers, writes)
    granted = core.release(Access(READ, -1))
    assert len(granted) == (readers == 1)
    assert core.writer == (0 if readers == 1 else None)
    assert len(core.readers) == readers - 1
    assert nothing_grantable_waits(core)


def a_writer_that_withdraws_lets_in_the_readers_behind_it(writes: list[bool]) -> None:
    assert len(writes) < BOUND
    core = read(1, [True, *writes])
    entered = core.withdraw(in_queue(core, 0))
    behind = 0 if writes and writes[0] else in_a_row(writes)
    assert entered is not None
    assert len(entered) == behind
    assert len(core.readers) == 1 + behind
    assert core.writer is None
    assert index_is_exact(core)


def a_writer_that_becomes_a_reader_lets_no_writer_in(writes: list[bool]) -> None:
    assert len(writes) <= BOUND
    core = written(writes)
    granted = core.downgrade(WRITER)
    assert core.writer is None
    assert WRITER in core.readers
    assert len(granted) == (0 if writes and writes[0] else in_a_row(writes))
    assert nothing_grantable_waits(core)


def a_task_inside_is_refused(readers: int, writes: bool, who: int) -> None:
    assert 0 <= readers <= BOUND
    assert -readers <= who < 0 or (readers == 0 and who == WRITER)
    core = read(readers, []) if readers else written([])
    try:
        core.enqueue(Access(WRITE if writes else READ, who))
    except RuntimeError:
        assert not core.queue
        assert core.next_ticket == 0
    else:
        raise AssertionError("queued")


def only_what_is_held_is_released(writing: bool, who: int) -> None:
    assert who < 0
    core = written([]) if writing else read(1, [])
    try:
        core.discharge(Access(WRITE, who))
    except RuntimeError:
        assert not writing or who != WRITER
        assert core.held_by(WRITER) is not None
    else:
        assert writing
        assert who == WRITER
        assert core.is_idle


def a_holder_that_exits_breaks_the_lock_and_all_waiters(reads: bool, writes: list[bool]) -> None:
    assert len(writes) < BOUND
    core = read(1, [True, *writes]) if reads else written([True, *writes])
    ended = core.owner_exited(-1, "exited")
    assert claims_of(ended) == claims([True, *writes])
    assert all_are(Status.BROKEN, ended)
    assert core.cause == "exited"
    assert not core.queue


def another_that_exits_only_leaves_the_queue(writes: list[bool], who: int) -> None:
    assert len(writes) <= BOUND
    assert who >= 0
    core = written(writes)
    ended = core.owner_exited(who, "exited")
    assert claims_of(ended) == [one for one in claims(writes) if one.claimant == who]
    assert all_are(Status.WITHDRAWN, ended)
    assert core.writer == WRITER
    assert core.cause is None
    assert index_is_exact(core)


def a_phase_of_readers_is_all_that_wait_to_read(writes: list[bool]) -> None:
    assert len(writes) <= BOUND
    core = PhaseFairCore()
    core.admit(Access(WRITE, WRITER))
    with_queue(core, claims(writes))
    granted = core.release(Access(WRITE, WRITER))
    readers = [one for one in claims(writes) if one.mode is READ]
    writers = [one for one in claims(writes) if one.mode is WRITE]
    assert claims_of(granted) == (readers or writers[:1])
    assert claims_of(core.waiting()) == (writers if readers else writers[1:])
    assert not core.readers_in_queue
    assert index_is_exact(core)


def a_holder_is_told_what_to_do_instead(holds_to_write: bool, wants_to_write: bool) -> None:
    assert holds_to_write in (False, True)
    core = RWLockCore()
    core.admit(Access(WRITE if holds_to_write else READ, 0))
    try:
        core.enqueue(Access(WRITE if wants_to_write else READ, 0))
    except RuntimeError as error:
        words = str(error)
    else:
        raise AssertionError("queued")
    if holds_to_write:
        assert words.endswith("release() first" if wants_to_write else "downgrade() to read on")
    else:
        assert ("upgrade" in words) == wants_to_write
        assert wants_to_write or words.endswith("it is not reentrant")
    assert ("for writing that this task" in words) == (holds_to_write and wants_to_write)
    assert not core.queue


def a_task_with_a_request_makes_no_second_one(policy: int, mine: bool, wants: bool) -> None:
    assert 0 <= policy < 4
    core = make_core(("fifo", "phase", "readers", "writers")[policy])
    core.admit(Access(READ, WRITER))
    first = core.enqueue(Access(WRITE if mine else READ, 0))
    again = Access(WRITE if wants else READ, 0)
    assert not core.admissible(again)
    try:
        core.submit(again)
    except RuntimeError as error:
        words = str(error)
    else:
        raise AssertionError("queued twice")
    assert "already has a live request" in words
    assert core.waiting() == [first]
