"""Philosophers who take both forks in one step never deadlock and never starve.

Each sits between two forks, a lock each, and needs both to eat. The task is to take them with
`acquire_all`, in whichever order they are written: each philosopher may write the left one first or
the right one, and another way each time. Whoever waits may give up. Whoever eats leaves eventually
(a *fair* action); nobody has to become hungry.

Two promises: a deadlock is a state in which somebody waits, and so does everybody who has a fork; starvation is a
philosopher who waits forever while others come and go.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from structsync._core.primitives.lock import LockCore
from structsync.checking import action, invariant, leads_to, start

from ._queues import Queues
from .several_queues import SeveralQueuesSpec, Want, idle

# ==== Bounds ====

# Two neighbours share a fork from three on; with four two can eat that have no fork in common; with
# five somebody can wait for a neighbour who waits for a neighbour who eats, on either side.
LEFT_FIRST, RIGHT_FIRST = "left first", "right first"
ORDERS = (LEFT_FIRST, RIGHT_FIRST)


def names(seats: int) -> tuple[str, ...]:
    return tuple("abcde"[:seats])


def both_forks(seats: int) -> dict[str, Want]:
    """Return which forks each philosopher needs; a claim on a lock is who claims it."""
    return {
        who: (True, ((left, who), ((left + 1) % seats, who)))
        for left, who in enumerate(names(seats))
    }


def forks(seats: int) -> Sequence[LockCore]:
    return [LockCore() for _ in range(seats)]


class TableSpec(SeveralQueuesSpec):
    """A table, its forks, and who eats."""

    abstract = True

    # ==== Actions ====

    @action(who=idle, order=ORDERS)
    def become_hungry(self, who: str, order: str) -> None:
        every, forks = self.wants[who]
        self.submit(who, every, forks if order == LEFT_FIRST else forks[::-1])

    # ==== Invariants ====

    @invariant
    def a_fork_is_held_by_who_eats(self) -> bool:
        """The forks of those who eat are theirs, and all others are on the table."""
        owners = {at: who for who, at in self.held}
        return len(owners) == len(self.held) and all(
            fork.owner == owners.get(at) for at, fork in enumerate(self.core.arbiters)
        )

    @invariant
    def somebody_eats_while_somebody_waits(self) -> bool:
        """No deadlock: while somebody waits, somebody has a fork and waits for nothing."""
        waiting = self.waiting()
        return not waiting or any(
            fork.owner is not None and fork.owner not in waiting for fork in self.core.arbiters
        )


class ThreePhilosophersSpec(TableSpec):
    """Each is everybody's neighbour."""

    wants = both_forks(3)
    core: Queues = start(Queues, partial(forks, 3))

    @leads_to(who=names(3))
    def who_stays_hungry_eats(self, who: str) -> tuple[bool, bool]:
        """No starvation: if those who eat leave, whoever waits eats eventually, or gives up."""
        waits = who in self.waiting()
        return waits, not waits


class FourPhilosophersSpec(TableSpec):
    """Two may eat at a time."""

    wants = both_forks(4)
    core: Queues = start(Queues, partial(forks, 4))

    @leads_to(who=names(4))
    def who_stays_hungry_eats(self, who: str) -> tuple[bool, bool]:
        """No starvation: if those who eat leave, whoever waits eats eventually, or gives up."""
        waits = who in self.waiting()
        return waits, not waits


class FivePhilosophersSpec(TableSpec):
    """Dijkstra's table."""

    wants = both_forks(5)
    core: Queues = start(Queues, partial(forks, 5))

    @leads_to(who=names(5))
    def who_stays_hungry_eats(self, who: str) -> tuple[bool, bool]:
        """No starvation: if those who eat leave, whoever waits eats eventually, or gives up."""
        waits = who in self.waiting()
        return waits, not waits
