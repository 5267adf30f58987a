"""A task that wants several resources gets all of them in one step, or the first that can be had.

To what every group is promised (`several_queues.py`) this adds three semaphores of a fixed size. An idle task may
request what it wants, and each semaphore may be closed: that ends the tasks that wait there, and takes their groups out
of the other queues too. A task behind a group waits for it, also where the semaphore has a permit; when a group
leaves, those behind it are granted what fits, in every queue.

What is promised to waiters needs holders that release (a *fair* action).
"""

from __future__ import annotations

from collections.abc import Sequence

from structsync._core.primitives.semaphore import SemaphoreCore
from structsync.checking import action, invariant, invariants, leads_to, start, terminal

from ._queues import Queues
from .several_queues import SeveralQueuesSpec, Want, idle

# ==== Bounds ====

# A large one and two small ones: at the large one two tasks may hold, and one of them may be in the way of a
# claim for both permits; a third, so that what is settled in the second queue can grant a group that leaves the third.
SIZES = (2, 1, 1)
LARGE, SMALL, OTHER = range(3)

# Groups of both kinds, which name the large one first or not; two plain requests, so that one can be before
# and behind a group in the first queue and in the last.
WANTS: dict[str, Want] = {
    "all": (True, ((LARGE, 1), (SMALL, 1))),
    "all of it": (True, ((SMALL, 1), (LARGE, 2))),
    "any": (False, ((LARGE, 1), (SMALL, 1))),
    "any small": (False, ((SMALL, 1), (OTHER, 1))),
    "both small": (True, ((OTHER, 1), (SMALL, 1))),
    "large": (True, ((LARGE, 1),)),
    "other": (True, ((OTHER, 1),)),
}


def semaphores() -> Sequence[SemaphoreCore]:
    return [SemaphoreCore(size, max_value=size) for size in SIZES]


class GroupsSpec(SeveralQueuesSpec):
    """Three semaphores, groups of both kinds, and tasks that want one thing."""

    wants = WANTS
    core: Queues = start(Queues, semaphores)

    # ==== Actions ====

    @action(who=idle)
    def request(self, who: str) -> None:
        self.submit(who, *self.wants[who])

    @action(at=range(len(SIZES)), when=lambda spec, at: spec.core.arbiters[at].cause is None)
    def close(self, at: int) -> None:
        self.note(self.core.end(at, "closed"))

    # ==== Where it may end ====

    @terminal
    def all_are_closed_and_unused(self) -> bool:
        """When all are closed, and no task waits or holds anything, nothing more need happen."""
        closed = all(one.cause is not None for one in self.core.arbiters)
        return closed and not self.waiting() and not self.held

    # ==== Invariants ====

    @invariant
    def permits_are_conserved(self) -> bool:
        """Every permit that exists is on hand, or out with a task that was granted it (I1)."""
        return all(
            semaphore.value == SIZES[at] - sum(self.claims_held(at))
            for at, semaphore in enumerate(self.core.arbiters)
        )

    @invariant
    def nothing_waits_when_closed_or_broken(self) -> bool:
        """A closed semaphore has no task in its queue: the requests of all have been ended (C8)."""
        return all(
            invariants.nothing_waits_when_closed_or_broken(one) for one in self.core.arbiters
        )

    @invariant
    def a_group_with_a_closed_member_is_refused(self) -> bool:
        """A group with a claim on a closed semaphore, first or last, is refused and leaves no trace (C8)."""
        closed = [at for at, one in enumerate(self.core.arbiters) if one.cause is not None]
        attempts = [
            (every, wanted)
            for every in (True, False)
            for at in closed
            for another in {LARGE, SMALL} - {at}
            for wanted in (((at, 1), (another, 1)), ((another, 1), (at, 1)))
        ]
        return self.refuses(attempts)

    @invariant
    def a_group_with_an_impossible_claim_is_refused(self) -> bool:
        """A group with a claim for more permits than there ever were is refused and leaves no trace (I7)."""
        too_many = (LARGE, SIZES[LARGE] + 1)
        attempts = [
            (every, wanted)
            for every in (True, False)
            for wanted in ((too_many, (SMALL, 1)), ((SMALL, 1), too_many))
        ]
        return self.refuses(attempts)

    # ==== Temporal properties ====

    @leads_to(who=tuple(WANTS))
    def a_queued_request_is_served(self, who: str) -> tuple[bool, bool]:
        """If holders release, every task that waits is granted eventually, or withdraws, or is ended by a close."""
        waits = who in self.waiting()
        return waits, not waits
