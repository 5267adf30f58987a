"""Groups whose members are a semaphore that changes its size, a lock, and a read-write lock; and tasks that exit.

To what every group is promised (`several_queues.py`) this adds what happens to one member alone:

* The semaphore is resized. A claim that does not fit any more keeps its position; where the semaphore grows, a group
  may be granted, and those behind it in the other queues may be let in.
* A task exits. If it holds the lock or the read-write lock, that one is *broken* for good: the requests that wait
  there are ended, and groups leave the other queues. A semaphore is not broken. If the task waits, its request is
  withdrawn from each queue. What it held stays with it until it is released, by another task.
* Readers next to each other in the queue enter together, also where one of them is a member of a group.

What is promised to waiters needs holders that release, and a semaphore that grows back (*fair* actions).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from structsync._core.primitives.lock import LockCore
from structsync._core.primitives.rwlock import READ, WRITE, Access, RWLockCore
from structsync._core.primitives.semaphore import SemaphoreCore
from structsync.checking import action, invariant, invariants, leads_to, start, step

from ._queues import Queues
from .several_queues import SeveralQueuesSpec, Want, idle

# ==== Bounds ====

PERMITS, LOCK, RWLOCK = range(3)
OWNED = (LOCK, RWLOCK)  # those that break if a holder exits

# With two permits two claims for one fit beside each other, and one for both does not fit beside one for one; with
# one permit the claim for both fits never, and after a shrink `value` may be negative.
FULL, SMALL = 2, 1

# Each pair of members is claimed by a group; one wants any. Two read, so that they can enter together and
# one can be behind a writer; the plain requests are before and behind groups; one holds
# a permit alone, so that a group which wants any waits for that while the read-write lock is being read.
WANTS: dict[str, Want] = {
    "permits and lock": (True, ((PERMITS, 2), (LOCK, "permits and lock"))),
    "lock and read": (True, ((LOCK, "lock and read"), (RWLOCK, Access(READ, "lock and read")))),
    "permit or write": (False, ((PERMITS, 1), (RWLOCK, Access(WRITE, "permit or write")))),
    "write and permit": (True, ((RWLOCK, Access(WRITE, "write and permit")), (PERMITS, 1))),
    "read": (True, ((RWLOCK, Access(READ, "read")),)),
    "permit": (True, ((PERMITS, 1),)),
}


def members() -> Sequence[Any]:
    return [SemaphoreCore(FULL, max_value=FULL), LockCore(), RWLockCore()]


def may_exit(spec: MixedGroupsSpec) -> list[str]:
    """Return the tasks that wait for, or hold, the lock or the read-write lock."""
    busy = {*spec.waiting(), *spec.holding()}
    return [who for who in WANTS if who in busy and spec.owned_by(who)]


class MixedGroupsSpec(SeveralQueuesSpec):
    """A semaphore, a lock and a read-write lock, and groups of them."""

    forgets = ("exited",)
    wants = WANTS
    core: Queues = start(Queues, members)
    broken: tuple[int, ...] = start(tuple)  # the members that are broken, by what has happened
    exited: tuple[str, ...] = start(tuple)  # the task that exited while it waited; then forgotten

    # ==== Words that actions use ====

    def owned_by(self, who: str) -> list[int]:
        """Return which members that a task wants would break if it held them and exited."""
        return [at for at, _ in self.wants[who][1] if at in OWNED]

    # ==== Actions ====

    @action(who=idle)
    def request(self, who: str) -> None:
        self.submit(who, *self.wants[who])

    @action(when=lambda spec: spec.core.arbiters[PERMITS].max_value == FULL)
    def shrink(self) -> None:
        self.note(self.core.resize(PERMITS, SMALL))

    @action(when=lambda spec: spec.core.arbiters[PERMITS].max_value == SMALL, fair=True)
    def grow(self) -> None:
        self.note(self.core.resize(PERMITS, FULL))

    @action(who=may_exit)
    def task_exits(self, who: str) -> None:
        if who in self.waiting():
            self.exited = (who,)
        breaks = [at for at in self.held_by(who) if at in OWNED]
        self.broken = tuple(sorted({*self.broken, *breaks}))
        self.note(self.core.task_exits(who, self.owned_by(who)))

    # ==== Invariants ====

    @invariant
    def permits_are_conserved(self) -> bool:
        """Every permit that exists is on hand, or out with a task that was granted it, at any size (I1)."""
        semaphore = self.core.arbiters[PERMITS]
        on_hand, out = semaphore.value, sum(self.claims_held(PERMITS))
        return bool(on_hand + out == semaphore.max_value)

    @invariant
    def the_lock_has_the_owner_that_was_granted_it(self) -> bool:
        """The owner of the lock is the one task that was granted it, alone or in a group, and has not released it."""
        owner = self.core.arbiters[LOCK].owner
        return self.claims_held(LOCK) == ([] if owner is None else [owner])

    @invariant
    def the_read_write_lock_is_held_as_it_was_granted(self) -> bool:
        """The tasks that were granted it hold it, each in its mode, and no others; a writer is alone."""
        rwlock = self.core.arbiters[RWLOCK]
        held = {Access(READ, who) for who in rwlock.readers}
        if rwlock.writer is not None:
            held.add(Access(WRITE, rwlock.writer))
        alone = rwlock.writer is None or len(held) == 1
        return alone and {*self.claims_held(RWLOCK)} == held

    @invariant
    def what_a_holder_left_is_broken_and_nothing_else(self) -> bool:
        """A lock is broken exactly if a task exited while it held it, and the semaphore never is (C5)."""
        broken = [at for at in self.core.numbers if self.core.arbiters[at].cause is not None]
        return broken == [*self.broken]

    @invariant
    def nothing_waits_when_closed_or_broken(self) -> bool:
        """What is broken has no task in its queue: the requests of all have been ended (C8)."""
        return all(
            invariants.nothing_waits_when_closed_or_broken(one) for one in self.core.arbiters
        )

    @invariant
    def a_group_with_a_broken_member_is_refused(self) -> bool:
        """A group with a claim on a broken member, first or last, is refused and leaves no trace (C5)."""
        claims = {LOCK: "one more", RWLOCK: Access(READ, "one more")}
        attempts = [
            (every, wanted)
            for every in (True, False)
            for at in self.broken
            for wanted in (((PERMITS, 1), (at, claims[at])), ((at, claims[at]), (PERMITS, 1)))
        ]
        return self.refuses(attempts)

    # ==== Step properties ====

    @step
    def a_task_that_exits_leaves_every_queue(self, before: Any) -> bool:
        """When a task that waits exits, its request ends, and it is in no queue any more."""
        ended = [one.waiter for one in self.ended]
        return all(who in ended and who not in self.waiting() for who in self.exited)

    # ==== Temporal properties ====

    @leads_to(who=tuple(WANTS))
    def a_queued_request_is_served(self, who: str) -> tuple[bool, bool]:
        """If holders release and the semaphore grows back, no task waits forever."""
        waits = who in self.waiting()
        return waits, not waits
