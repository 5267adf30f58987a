"""Who holds something, from its grant to its release."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import Any, Generic, TypeVar

from structsync._core.monitors.monitor import MonitorCore
from structsync._core.primitives.capacity_limiter import CapacityLimiterCore
from structsync._core.primitives.job_queue import JobQueueCore
from structsync._core.primitives.lock import LockCore
from structsync._core.primitives.rwlock import RWLockCore
from structsync._core.primitives.semaphore import SemaphoreCore
from structsync._core.queue.claimants import ClaimantArbiter
from structsync._runtime.events import PrimitiveEvent

from .per_primitive import PerPrimitive

#: Of each primitive so many holders are remembered, the latest; and so many grants of one of them.
MOST_HOLDERS, MOST_OF_ONE = 20_000, 64

_GIVEN_BACK = (
    *(LockCore, MonitorCore, RWLockCore, CapacityLimiterCore),
    *(SemaphoreCore, JobQueueCore),
)


Mark = TypeVar("Mark")


class Holds(Generic[Mark]):
    """Who holds what, and a mark that was made at its grant, such as the time."""

    def __init__(self) -> None:
        self._taken: PerPrimitive[list[tuple[Mark, int]]] = PerPrimitive()

    def of(self, live: Any) -> dict[Hashable, list[tuple[Mark, int]]]:
        """Return for each holder the marks of what it took, the oldest first, and how many units."""
        return self._taken.of(live)

    def all(self) -> Iterator[tuple[Any, Hashable, Mark]]:
        """Yield each primitive and holder, with the mark of what it took last."""
        for live, held in self._taken.items():
            for who, taken in list(held.items()):
                yield live, who, taken[-1][0]

    def granted(self, event: PrimitiveEvent, mark: Mark) -> None:
        """Take note of a grant."""
        core = event.primitive._core
        if not (core.user_written or isinstance(core, _GIVEN_BACK)):
            return
        held = self._taken.to_write(event.primitive)
        taken = held.setdefault(holder_of(event), [])
        taken.append((mark, event.primitive._units(event.claim)))
        # Of permits that are signals, and that nobody gives back, not too many are kept.
        if len(taken) > MOST_OF_ONE:
            del taken[0]
        if len(held) > MOST_HOLDERS:
            del held[next(iter(held))]

    def released(self, event: PrimitiveEvent) -> Iterator[Mark]:
        """Yield the marks of what is given back by who took it, the latest first."""
        held, who = self._taken.of(event.primitive), holder_of(event)
        taken = held.get(who)
        if taken is None:  # a permit that another task took
            return
        units = event.primitive._units(event.claim)
        while taken and units > 0:
            mark, of_it = taken.pop()
            if of_it > units:
                taken.append((mark, of_it - units))
            units -= of_it
            yield mark
        if not taken:
            del held[who]


def holder_of(event: PrimitiveEvent) -> Hashable:
    """Return who has what an event is about, the same at its grant and at its release."""
    core, claim = event.primitive._core, event.claim
    if isinstance(core, ClaimantArbiter):
        return core.claimant_of(claim)
    return claim if isinstance(core, JobQueueCore) else event.task
