"""A read-write lock has many readers or one writer, and serves first come first served.

A reader behind a waiting writer waits; readers in a row enter together. A writer may become a reader,
and no other task writes in between; a reader never becomes a writer. A task that is idle may request to read or
to write; a task that waits may withdraw; a task may close the lock. A task may disappear: if it holds the lock,
for reading or for writing, the lock is broken and all in the queue are told; if it waits, it leaves the queue.

The state is the core, and which task holds it for what. What is promised to waiters needs holders that release (a
*fair* action). The other policies (`rwlock_policies.py`) share all of this but the order.
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

# One writes while two wait to write; two readers in a row and one apart; in every order in the queue. Every
# published bug of a read-write lock needs at most two readers and two writers.
READERS = ("a", "b", "c")
WRITERS = ("d", "e", "f")
TASKS = READERS + WRITERS


def access(who: str) -> Access:
    """Return what a task asks for."""
    return Access(READ if who in READERS else WRITE, who)


def idle(spec: RWSpec) -> list[str]:
    busy = {*spec.reading, *spec.writing, *spec.in_queue()}
    return [who for who in TASKS if who not in busy] if spec.core.cause is None else []


def waiting(spec: RWSpec) -> list[str]:
    return spec.in_queue()


def inside(spec: RWSpec) -> tuple[str, ...]:
    return spec.reading + spec.writing


class RWSpec(QueueSpec):
    """A read-write lock, and which tasks were granted it for what and have not released it."""

    abstract = True

    symmetric = (READERS, WRITERS)
    forgets = ("gone", "wrote")
    newcomers = ((Access(READ, "one more"), 0), (Access(WRITE, "one more"), 0))
    core: RWLockCore
    reading: tuple[str, ...] = start(tuple)
    writing: tuple[str, ...] = start(tuple)
    why: str | None = start(lambda: None)  # what closed or broke it first, by what has happened

    # What the last action was; forgotten like `ended`.
    gone: tuple[str, ...] = start(tuple)  # the task that disappeared in the queue
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
        """Change the model: a task holds the lock no longer."""
        self.wrote = who in self.writing
        self.reading = tuple([one for one in self.reading if one != who])
        self.writing = tuple([one for one in self.writing if one != who])

    # ==== Actions ====

    @action(who=idle)
    def request(self, who: str) -> None:
        self.submitted(self.core.submit(access(who), waiter=who))

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
        """While a task writes, no other reads or writes."""
        return len(self.writing) <= 1 and not (self.writing and self.reading)

    @invariant
    def the_lock_knows_its_holders(self) -> bool:
        """A task that was granted it and has not released it holds it, for what it was granted."""
        writer = self.writing[0] if self.writing else None
        return {*self.core.readers} == {*self.reading} and self.core.writer == writer

    @invariant
    def no_task_has_two_claims(self) -> bool:
        """A task that holds it or waits for it is refused, for either mode: no upgrade (I7, D5)."""
        return all(
            invariants.refuses(self.core, methodcaller("enqueue", one))
            for who in (*inside(self), *self.in_queue())
            for one in (Access(READ, who), Access(WRITE, who))
        )

    @invariant
    def only_what_is_held_is_released(self) -> bool:
        """Releasing or downgrading what one does not hold is refused, and leaves no trace."""
        held = {self.core.held_by(who) for who in inside(self)}
        names = ("one more", *inside(self), *self.in_queue()[:1])
        not_held = {Access(mode, who) for who in names for mode in (READ, WRITE)} - held
        releases = [methodcaller("release", one) for one in not_held]
        downgrades = [
            methodcaller("downgrade", one.claimant) for one in not_held if one.mode is WRITE
        ]
        return all(invariants.refuses(self.core, attempt) for attempt in (*releases, *downgrades))

    @invariant
    def it_is_broken_exactly_if_a_holder_disappeared(self) -> bool:
        """It is closed or broken by what happened first: a close, or a holder that disappeared (C5)."""
        return self.core.cause == self.why

    # ==== Step properties ====

    @step
    def a_task_that_exits_leaves_the_queue(self, before: Any) -> bool:
        """A task that disappears while it waits leaves the queue, and its request ends."""
        told = [one.waiter for one in self.ended]
        return all(who in told and who not in self.in_queue() for who in self.gone)

    @step
    def a_task_that_left_may_come_back(self, before: Any) -> bool:
        """The index of waiters has those in the queue and no others, so a task that left may come back.

        It is judged of each step, because restoring a state builds the index anew.
        """
        return self.core.pending == {one.claim.claimant: one for one in self.core.queue}


class RWLockSpec(RWSpec, FifoSpec):
    """A read-write lock with the default policy."""

    core: RWLockCore = start(RWLockCore)

    # ==== Temporal properties ====

    @leads_to(who=TASKS)
    def a_queued_request_is_served(self, who: str) -> tuple[bool, bool]:
        """If holders release it, every task that waits gets it eventually, or withdraws, or is ended."""
        waits = who in self.in_queue()
        return waits, not waits
