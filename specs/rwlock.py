"""A read-write lock has many readers or one writer, and serves first come first served.

A reader behind a waiting writer waits; readers in a row enter together. A writer may become a reader,
and nobody writes in between; a reader never becomes a writer. A task may disappear: if it holds the
lock, for reading or for writing, the lock is out of service and everybody in the queue is told; if it has
a position in the queue, the place is given up.

The other policies (`rwlock_policies.py`) share all of this but the order.
"""

from __future__ import annotations

from collections.abc import Mapping
from operator import methodcaller
from typing import Any

from structsync._core.primitives.rwlock import READ, WRITE, Access, RWLockCore
from structsync._core.queue.request import Request
from structsync.checking import action, invariant, invariants, leads_to, start, step

from .common import FifoSpec, QueueSpec

# ==== Bounds ====

# One writes and two wait to, two readers in a row and one apart, in every order in the queue: every
# published bug of a read-write lock needs at most two readers and two writers.
READERS = ("a", "b", "c")
WRITERS = ("d", "e", "f")
TASKS = READERS + WRITERS


def access(who: str) -> Access:
    """Return what somebody asks for."""
    return Access(READ if who in READERS else WRITE, who)


def idle(spec: RWSpec) -> list[str]:
    busy = {*spec.reading, *spec.writing, *spec.in_queue()}
    return [who for who in TASKS if who not in busy] if spec.core.cause is None else []


def waiting(spec: RWSpec) -> list[str]:
    return spec.in_queue()


def inside(spec: RWSpec) -> tuple[str, ...]:
    return spec.reading + spec.writing


class RWSpec(QueueSpec):
    """A read-write lock, and who was granted it for what and has not released it."""

    abstract = True

    symmetric = (READERS, WRITERS)
    forgets = ("gone", "wrote")
    newcomers = ((Access(READ, "one more"), 0), (Access(WRITE, "one more"), 0))
    core: RWLockCore
    reading: tuple[str, ...] = start(tuple)
    writing: tuple[str, ...] = start(tuple)
    why: str | None = start(lambda: None)  # by what has happened, why it is out of service

    # What the last action was; forgotten like `ended`.
    gone: tuple[str, ...] = start(tuple)  # who disappeared in the queue
    wrote: bool = start(bool)  # whether a writer released it, or became a reader

    def renamed(self, snapshot: Any, names: Mapping[str, str]) -> Any:
        found = super().renamed(snapshot, names)
        return found._replace(reading=tuple(sorted(found.reading)))

    # ==== Words that actions use ====

    def got(self, request: Request[Any]) -> None:
        if request.claim.mode is READ:
            self.reading = tuple(sorted((*self.reading, request.waiter)))
        else:
            self.writing += (request.waiter,)

    def left(self, who: str) -> None:
        """Change the model: somebody holds the lock no longer."""
        self.wrote = who in self.writing
        self.reading = tuple([one for one in self.reading if one != who])
        self.writing = tuple([one for one in self.writing if one != who])

    # ==== Actions ====

    @action(who=idle)
    def request(self, who: str) -> None:
        self.asked(self.core.submit(access(who), waiter=who))

    @action(who=waiting)
    def withdraw(self, who: str) -> None:
        self.note(self.withdrawn(who))

    @action(who=inside, fair=True)
    def release(self, who: str) -> None:
        held = Access(READ if who in self.reading else WRITE, who)
        self.left(who)
        self.note(self.core.release(held))

    @action(who=lambda spec: spec.writing)
    def downgrade(self, who: str) -> None:
        self.left(who)
        self.reading = tuple(sorted((*self.reading, who)))
        self.note(self.core.downgrade(who))

    @action(who=inside)
    def holder_disappears(self, who: str) -> None:
        self.why = self.why or "broken"
        self.note(self.core.owner_exited(who, "broken"))

    @action(who=waiting)
    def waiter_disappears(self, who: str) -> None:
        self.gone = (who,)
        self.note(self.core.owner_exited(who, "broken"))

    @action(when=lambda spec: spec.core.cause is None)
    def close(self) -> None:
        self.why = "closed"
        self.note(self.core.end("closed"))

    # ==== Invariants ====

    @invariant
    def a_writer_is_alone(self) -> bool:
        """Nobody reads while somebody writes, and one writes at a time."""
        return not self.writing or (len(self.writing) == 1 and not self.reading)

    @invariant
    def the_lock_knows_who_is_inside(self) -> bool:
        """Whoever was granted it and has not released it holds it, for what it was granted."""
        writer = self.writing[0] if self.writing else None
        return {*self.core.readers} == {*self.reading} and self.core.writer == writer

    @invariant
    def nobody_has_two_claims(self) -> bool:
        """Whoever holds it or waits for it is refused, for either mode: no upgrade (I7, D5)."""
        return all(
            invariants.refuses(self.core, methodcaller("enqueue", one))
            for who in (*inside(self), *self.in_queue())
            for one in (Access(READ, who), Access(WRITE, who))
        )

    @invariant
    def only_what_is_held_is_released(self) -> bool:
        """Nobody releases or downgrades what it does not hold, and the attempt leaves no trace."""
        held = {access for who in inside(self) if (access := self.core.held_by(who))}
        names = ("one more", *inside(self), *self.in_queue()[:1])
        others = {Access(mode, who) for who in names for mode in (READ, WRITE)} - held
        return all(
            invariants.refuses(self.core, methodcaller("release", one))
            and (
                one.mode is READ
                or invariants.refuses(self.core, methodcaller("downgrade", one.claimant))
            )
            for one in others
        )

    @invariant
    def it_is_broken_exactly_if_a_holder_disappeared(self) -> bool:
        """The first thing that takes it out of service counts: a close, or the end of a holder (C5)."""
        return self.core.cause == self.why

    # ==== Step properties ====

    @step
    def whoever_disappears_leaves_the_queue(self, before: Any) -> bool:
        """A position in the queue is given up when the task that has it disappears, and the task is told."""
        told = [one.waiter for one in self.ended]
        return all(who in told and who not in self.in_queue() for who in self.gone)

    @step
    def whoever_left_may_come_back(self, before: Any) -> bool:
        """Only those in the queue are taken for those in the queue.

        Of each step, because a state that is restored knows it anyway.
        """
        return self.core.pending == {one.claim.claimant: one for one in self.core.queue}


class RWLockSpec(RWSpec, FifoSpec):
    """A read-write lock with the default policy."""

    core: RWLockCore = start(RWLockCore)

    # ==== Temporal properties ====

    @leads_to(who=TASKS)
    def who_stays_in_queue_is_served(self, who: str) -> tuple[bool, bool]:
        """If holders release it, whoever waits gets it eventually, or gives up, or is told."""
        waits = who in self.in_queue()
        return waits, not waits
