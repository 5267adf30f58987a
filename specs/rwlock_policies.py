"""Three other orders for a read-write lock: phases in turn, readers first, writers first.

Within each mode it is first come, first served, whatever the policy.

* "phase": where a writer leaves, all readers that wait enter; so nobody starves. A reader sees one writer pass at most,
  and the writer who is next sees readers enter once at most.
* "readers": a reader waits only for the one who writes. Writers may starve.
* "writers": a reader waits while any writer waits. Readers may starve.
"""

from __future__ import annotations

from typing import Any

from structsync._core.primitives.rwlock import WRITE, RWLockCore, make_core
from structsync._core.queue.request import Request
from structsync.checking import invariant, invariants, leads_to, start, step

from .rwlock import READERS, TASKS, WRITERS, RWSpec

# The bounds are those of `rwlock.py`.


class ModesSpec(RWSpec):
    """A read-write lock whose queue is not one line."""

    abstract = True

    @step
    def each_mode_is_served_in_queue(self, before: Any) -> bool:
        """Of those who want the same, nobody is passed by a later arrival (I2)."""
        queues = (
            [[who for who in names if who in mode] for mode in (READERS, WRITERS)]
            for names in (before.in_queue(), self.granted(), self.in_queue())
        )
        return all(invariants.served_in_queue(*each) for each in zip(*queues, strict=True))


class PhaseSpec(ModesSpec):
    """A phase-fair lock, and which waiting readers saw a writer be let in."""

    core: RWLockCore = start(make_core, "phase")
    saw: tuple[str, ...] = start(tuple)  # one name for each writer, up to two
    next_writer: tuple[str, int] = start(lambda: ("", 0))  # how often readers entered meanwhile

    # ==== Words that actions use ====

    def got(self, request: Request[Any]) -> None:
        super().got(request)
        if request.claim.mode is WRITE:
            wait = [who for who in self.in_queue() if who in READERS and self.saw.count(who) < 2]
            self.saw = tuple(sorted((*self.saw, *wait)))

    def note(self, ended: Any) -> None:
        super().note(ended)
        was_next, phases = self.next_writer
        now_next = next((who for who in self.in_queue() if who in WRITERS), "")
        entered = any(who in READERS for who in self.granted())
        counts = now_next and now_next == was_next
        self.next_writer = (now_next, min(phases + entered, 2) if counts else 0)
        self.saw = tuple([who for who in self.saw if who in self.in_queue()])

    # ==== Invariants ====

    @invariant
    def a_reader_sees_one_writer_pass(self) -> bool:
        """Nobody who waits to read sees two writers be let in."""
        return len(self.saw) == len({*self.saw})

    @invariant
    def the_next_writer_sees_readers_enter_once(self) -> bool:
        """Whoever is the next to write sees one phase of readers begin, and not two."""
        return self.next_writer[1] <= 1

    # ==== Step properties ====

    @step
    def where_a_writer_leaves_readers_enter(self, before: Any) -> bool:
        """All readers that wait enter together, and no others do while a writer waits."""
        readers = [who for who in before.in_queue() if who in READERS]
        if self.wrote:
            return [who for who in self.granted() if who in READERS] == readers
        in_queue = any(who in WRITERS for who in self.in_queue())
        return not (in_queue and any(who in READERS for who in self.granted()))

    # ==== Temporal properties ====

    @leads_to(who=TASKS)
    def who_stays_in_queue_is_served(self, who: str) -> tuple[bool, bool]:
        """If holders release it, whoever waits gets it eventually, or gives up, or is told."""
        waits = who in self.in_queue()
        return waits, not waits


class ReadersFirstSpec(ModesSpec):
    """A lock that prefers readers."""

    core: RWLockCore = start(make_core, "readers")

    # ==== Invariants ====

    @invariant
    def a_reader_waits_for_a_writer_inside(self) -> bool:
        """Nobody waits to read unless somebody writes."""
        return bool(self.writing) or not any(who in READERS for who in self.in_queue())

    # ==== Temporal properties ====

    @leads_to(who=READERS)
    def readers_are_served(self, who: str) -> tuple[bool, bool]:
        """If writers release it, whoever waits to read does so eventually, or gives up, or is told."""
        waits = who in self.in_queue()
        return waits, not waits


class WritersFirstSpec(ModesSpec):
    """A lock that prefers writers."""

    core: RWLockCore = start(make_core, "writers")

    # ==== Step properties ====

    @step
    def a_writer_waits_for_no_later_reader(self, before: Any) -> bool:
        """No reader is let in while anybody waits to write."""
        in_queue = any(who in WRITERS for who in self.in_queue())
        return not (in_queue and any(who in READERS for who in self.granted()))

    # ==== Temporal properties ====

    @leads_to(who=WRITERS)
    def writers_are_served(self, who: str) -> tuple[bool, bool]:
        """If holders release it, whoever waits to write does so eventually, or gives up, or is told."""
        waits = who in self.in_queue()
        return waits, not waits
