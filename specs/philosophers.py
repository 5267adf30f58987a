"""Philosophers who take both forks in one step never deadlock and never starve.

Each sits between two forks, a lock each, and needs both to eat. A philosopher takes them with
`acquire_all`, in whichever order they are written: the left one first or the right one, and another
way each time. A task that waits may withdraw. A task that eats leaves eventually (a *fair* action); no
philosopher has to become hungry. The state is the locks with their queues, and their holders.

A deadlock is a state in which a philosopher waits, and so does every holder of a fork; starvation is a
philosopher who waits forever while others come and go. Neither may happen.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from structsync._core.primitives.lock import LockCore
from structsync.checking import action, implies, invariant, leads_to, start

from ._queues import Queues
from .several_queues import SeveralQueuesSpec, Want, idle

# ==== Bounds ====

# With three, each is a neighbour of both others; with four, two can eat that have no fork in common;
# with five, one can wait for a neighbour that waits for a neighbour that eats, on either side.
LEFT_FIRST, RIGHT_FIRST = "left first", "right first"
ORDERS = (LEFT_FIRST, RIGHT_FIRST)


def names(seats: int) -> tuple[str, ...]:
    return tuple("abcde"[:seats])


def both_forks(seats: int) -> dict[str, Want]:
    """Return which forks each philosopher needs; a claim on a lock is the claimant's name."""
    return {
        who: (True, ((left, who), ((left + 1) % seats, who)))
        for left, who in enumerate(names(seats))
    }


def forks(seats: int) -> Sequence[LockCore]:
    return [LockCore() for _ in range(seats)]


class TableSpec(SeveralQueuesSpec):
    """A table, its forks, and which philosophers eat."""

    abstract = True

    # ==== Actions ====

    @action(who=idle, order=ORDERS)
    def become_hungry(self, who: str, order: str) -> None:
        every, (left, right) = self.wants[who]
        self.submit(who, every, (left, right) if order == LEFT_FIRST else (right, left))

    # ==== Invariants ====

    @invariant
    def forks_are_held_only_while_eating(self) -> bool:
        """Each fork that was granted belongs to a philosopher that eats, and all others are on the table."""
        eats_with = {fork: who for who, fork in self.held}
        each_has_its_own = len(eats_with) == len(self.held)
        return each_has_its_own and all(
            lock.owner == eats_with.get(fork) for fork, lock in enumerate(self.core.arbiters)
        )

    @invariant
    def one_eats_while_one_waits(self) -> bool:
        """No deadlock: while one waits, another has a fork and waits for nothing."""
        waiting = self.waiting()
        owners = [fork.owner for fork in self.core.arbiters if fork.owner is not None]
        eats = any(owner not in waiting for owner in owners)
        return implies(bool(waiting), eats)


class ThreePhilosophersSpec(TableSpec):
    """Each is a neighbour of all others."""

    wants = both_forks(3)
    core: Queues = start(Queues, partial(forks, 3))

    @leads_to(who=names(3))
    def a_hungry_philosopher_eats(self, who: str) -> tuple[bool, bool]:
        """No starvation: if those that eat leave, every task that waits eats eventually, or withdraws."""
        waits = who in self.waiting()
        return waits, not waits


class FourPhilosophersSpec(TableSpec):
    """Two may eat at a time."""

    wants = both_forks(4)
    core: Queues = start(Queues, partial(forks, 4))

    @leads_to(who=names(4))
    def a_hungry_philosopher_eats(self, who: str) -> tuple[bool, bool]:
        """No starvation: if those that eat leave, every task that waits eats eventually, or withdraws."""
        waits = who in self.waiting()
        return waits, not waits


class FivePhilosophersSpec(TableSpec):
    """Dijkstra's table."""

    wants = both_forks(5)
    core: Queues = start(Queues, partial(forks, 5))

    @leads_to(who=names(5))
    def a_hungry_philosopher_eats(self, who: str) -> tuple[bool, bool]:
        """No starvation: if those that eat leave, every task that waits eats eventually, or withdraws."""
        waits = who in self.waiting()
        return waits, not waits
