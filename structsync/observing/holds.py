"""Which task holds something, from its grant to its release."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from functools import lru_cache
from typing import Any, Generic, TypeVar

from structsync._core.monitors.monitor import MonitorCore
from structsync._core.primitives.capacity_limiter import CapacityLimiterCore
from structsync._core.primitives.job_queue import JobQueueCore
from structsync._core.primitives.lock import LockCore
from structsync._core.primitives.resource_pool import ResourcePoolCore
from structsync._core.primitives.rwlock import RWLockCore
from structsync._core.primitives.semaphore import SemaphoreCore
from structsync._core.primitives.sides import Lend
from structsync._core.queue.claimants import ClaimantArbiter
from structsync._runtime.events import PrimitiveEvent

from .per_primitive import PerPrimitive

#: Of each primitive so many holders are remembered, the latest; and so many grants of one of them.
MOST_HOLDERS, MOST_OF_ONE = 20_000, 64

_RELEASABLE = (
    *(LockCore, MonitorCore, RWLockCore, CapacityLimiterCore),
    *(SemaphoreCore, JobQueueCore, ResourcePoolCore),
)


Mark = TypeVar("Mark")


class Holds(Generic[Mark]):
    """Which task holds what, and a mark that was made at its grant, such as the time."""

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
        live = event.primitive
        is_releasable, whose = _traits(type(live._core))
        if not (is_releasable or isinstance(event.claim, Lend)):
            return
        held = self._taken.to_write(live)
        who = event.task if whose is None else whose(live._core, event.claim)
        taken = held.get(who)
        if taken is None:
            taken = held[who] = []
            if len(held) > MOST_HOLDERS:
                del held[next(iter(held))]
        taken.append((mark, live._units(event.claim)))
        # Of permits that are signals, and that no task releases, not too many are kept.
        if len(taken) > MOST_OF_ONE:
            del taken[0]

    def released(self, event: PrimitiveEvent) -> list[Mark]:
        """Return the marks of what is released by the task that took it, the latest first."""
        live = event.primitive
        held, who = self._taken.of(live), holder_of(event)
        taken = held.get(who)
        marks: list[Mark] = []
        if taken is None:  # a permit that another task took
            return marks
        units = live._units(event.claim)
        if len(taken) == 1 and taken[0][1] == units:  # mostly: all that it has taken
            del held[who]
            return [taken[0][0]]
        while taken and units > 0:
            mark, of_it = taken.pop()
            if of_it > units:
                taken.append((mark, of_it - units))
            units -= of_it
            marks.append(mark)
        if not taken:
            del held[who]
        return marks


def holder_of(event: PrimitiveEvent) -> Hashable:
    """Return the holder of what an event is about, the same at its grant and at its release."""
    core = event.primitive._core
    whose = _traits(type(core))[1]
    return event.task if whose is None else whose(core, event.claim)


@lru_cache(maxsize=256)
def _traits(core: type[Any]) -> tuple[bool, Callable[[Any, Any], Hashable] | None]:
    """Return whether what is granted is released, and whose a claim is, if not the task's.

    To look this up each time would cost more than the rest: cores have an abstract base.
    """
    is_releasable = core.user_written or issubclass(core, _RELEASABLE)
    if issubclass(core, ClaimantArbiter):
        return is_releasable, core.claimant_of
    return is_releasable, _the_claim if issubclass(core, JobQueueCore) else None


def _the_claim(core: Any, claim: Hashable) -> Hashable:
    return claim
