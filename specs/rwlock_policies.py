"""Three other orders for a read-write lock: phases in turn, readers first, writers first.

Within each mode it is first come, first served, whatever the policy.

* "phase": where a writer leaves, all readers that wait enter; so no task starves. A reader that waits sees at most one
  writer pass, and the writer that is next sees readers enter at most once.
* "readers": a reader waits only for the one that writes. Writers may starve.
* "writers": a reader waits while any writer waits. Readers may starve.

State, actions and bounds are those of `rwlock.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from structsync._core.primitives.rwlock import WRITE, RWLockCore, make_core
from structsync._core.queue.request import Request
from structsync.checking import implies, invariant, invariants, leads_to, start, step

from .rwlock import READERS, TASKS, WRITERS, RWSpec


def readers_of(names: Sequence[str]) -> list[str]:
    return [who for who in names if who in READERS]


def writers_of(names: Sequence[str]) -> list[str]:
    return [who for who in names if who in WRITERS]


class ModesSpec(RWSpec):
    """A read-write lock whose readers and writers are two queues, each served in order."""

    abstract = True

    @step
    def each_mode_is_served_in_queue(self, before: Any) -> bool:
        """First come, first served among readers, and among writers (I2)."""
        waited, granted, wait = before.in_queue(), self.granted(), self.in_queue()
        return all(
            invariants.served_in_queue(of_mode(waited), of_mode(granted), of_mode(wait))
            for of_mode in (readers_of, writers_of)
        )


class PhaseSpec(ModesSpec):
    """A phase-fair lock; which waiting readers saw a writer enter, and what the next writer saw."""

    core: RWLockCore = start(make_core, "phase")
    saw: tuple[str, ...] = start(tuple)  # a reader's name for each writer that it saw, up to two
    # The writer that is next, and how often readers entered since it is, up to two.
    next_writer: tuple[str, int] = start(lambda: ("", 0))

    # ==== Words that actions use ====

    def got(self, request: Request[Any]) -> None:
        super().got(request)
        if request.claim.mode is WRITE:
            counted = [who for who in readers_of(self.in_queue()) if self.saw.count(who) < 2]
            self.saw = tuple(sorted((*self.saw, *counted)))

    def note(self, ended: Any) -> None:
        super().note(ended)
        was_next, phases = self.next_writer
        now_next = next(iter(writers_of(self.in_queue())), "")
        entered = bool(readers_of(self.granted()))
        is_the_same = now_next and now_next == was_next
        self.next_writer = (now_next, min(phases + entered, 2) if is_the_same else 0)
        self.saw = tuple([who for who in self.saw if who in self.in_queue()])

    # ==== Invariants ====

    @invariant
    def a_reader_sees_one_writer_pass(self) -> bool:
        """A reader that waits sees at most one writer enter."""
        return all(self.saw.count(who) <= 1 for who in READERS)

    @invariant
    def the_next_writer_sees_readers_enter_once(self) -> bool:
        """The writer that is next sees readers enter at most once."""
        _, phases_of_readers = self.next_writer
        return phases_of_readers <= 1

    # ==== Step properties ====

    @step
    def where_a_writer_leaves_readers_enter(self, before: Any) -> bool:
        """Where a writer leaves or becomes a reader, all that waited to read enter; else none does past a writer."""
        entered = readers_of(self.granted())
        if self.wrote:
            return entered == readers_of(before.in_queue())
        return not (entered and writers_of(self.in_queue()))

    # ==== Temporal properties ====

    @leads_to(who=TASKS)
    def a_queued_request_is_served(self, who: str) -> tuple[bool, bool]:
        """If holders release it, every task that waits gets it eventually, or withdraws, or is ended."""
        waits = who in self.in_queue()
        return waits, not waits


class ReadersFirstSpec(ModesSpec):
    """A lock that prefers readers."""

    core: RWLockCore = start(make_core, "readers")

    # ==== Invariants ====

    @invariant
    def a_reader_waits_for_a_writer_inside(self) -> bool:
        """A reader waits only while a task writes."""
        return implies(bool(readers_of(self.in_queue())), bool(self.writing))

    # ==== Temporal properties ====

    @leads_to(who=READERS)
    def readers_are_served(self, who: str) -> tuple[bool, bool]:
        """If writers release it, every task that waits to read does so eventually, or withdraws, or is ended."""
        waits = who in self.in_queue()
        return waits, not waits


class WritersFirstSpec(ModesSpec):
    """A lock that prefers writers."""

    core: RWLockCore = start(make_core, "writers")

    # ==== Step properties ====

    @step
    def a_writer_waits_for_no_later_reader(self, before: Any) -> bool:
        """No reader enters while a writer waits."""
        return not (readers_of(self.granted()) and writers_of(self.in_queue()))

    # ==== Temporal properties ====

    @leads_to(who=WRITERS)
    def writers_are_served(self, who: str) -> tuple[bool, bool]:
        """If holders release it, every task that waits to write does so eventually, or withdraws, or is ended."""
        waits = who in self.in_queue()
        return waits, not waits
