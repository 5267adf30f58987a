"""What semaphores of every policy have in common: permits on hand, permits out, requests for some.

An idle task may request as many permits as its weight: it is granted all of them or none. A task that waits
may withdraw at any moment. A task that holds permits releases them eventually (that is *fair*: waiters need it
of the others). The semaphore may be closed, for good.

The specification of each policy says how many tasks and permits there are, and why these are enough.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from structsync._core.primitives.semaphore import SemaphoreCore
from structsync._core.queue.request import Request
from structsync.checking import action, invariant, invariants, start, step

from .common import QueueSpec


def alike(weights: Mapping[str, int]) -> tuple[tuple[str, ...], ...]:
    """Return the groups of tasks that request equally many permits: nothing else tells them apart."""
    groups = [tuple(who for who in weights if weights[who] == n) for n in {*weights.values()}]
    return tuple(sorted(group for group in groups if len(group) > 1))


def may_request(spec: PermitsSpec) -> list[str]:
    """Return the idle tasks whose requests are not refused (see `impossible_claims_are_refused`)."""
    core, busy = spec.core, {*spec.out, *spec.in_queue()}
    if core.cause is not None:
        return []
    largest = max(spec.weights.values()) if core.largest is None else core.largest
    return [who for who, weight in spec.weights.items() if who not in busy and weight <= largest]


def waiting(spec: QueueSpec) -> list[str]:
    return spec.in_queue()


def holding(spec: PermitsSpec) -> list[str]:
    return sorted({*spec.out})


class PermitsSpec(QueueSpec):
    """A semaphore, and which tasks have its permits."""

    abstract = True

    weights: Mapping[str, int]  # how many permits each task requests
    core: SemaphoreCore
    out: tuple[str, ...] = start(tuple)  # of each permit that is out, its holder; in order of names

    def renamed(self, snapshot: Any, names: Mapping[str, str]) -> Any:
        found = super().renamed(snapshot, names)
        return found._replace(out=tuple(sorted(found.out)))

    # ==== Words that actions use ====

    def got(self, request: Request[Any]) -> None:
        self.out = tuple(sorted(self.out + (request.waiter,) * request.claim))

    def released(self, who: str, permits: int) -> None:
        left = self.out.count(who) - permits
        others = tuple([one for one in self.out if one != who])
        self.out = tuple(sorted(others + (who,) * left))

    # ==== Actions ====

    @action(who=may_request)
    def request(self, who: str) -> None:
        self.submitted(self.core.submit(self.weights[who], waiter=who))

    @action(who=waiting)
    def withdraw(self, who: str) -> None:
        self.note(self.withdrawn(who))

    @action(who=holding, fair=True)
    def release(self, who: str) -> None:
        permits = self.out.count(who)
        self.released(who, permits)
        self.note(self.core.release(permits))

    @action(when=lambda spec: spec.core.cause is None)
    def close(self) -> None:
        self.note(self.core.end("closed"))

    @action(when=lambda spec: spec.core.cause is not None)
    def close_again(self) -> None:
        self.note(self.core.end("closed again"))

    # ==== Invariants ====

    @invariant
    def permits_are_conserved(self) -> bool:
        """Every permit that exists is on hand, or out with a task that was granted it (I1)."""
        on_hand, existing = self.core.value, self.core.max_value
        return on_hand + len(self.out) == existing

    @invariant
    def impossible_claims_are_refused(self) -> bool:
        """A request for more permits than ever existed is refused, and leaves no trace (I7)."""
        too_many = (self.core.largest or 0) + 1
        return invariants.refuses(self.core, lambda core: core.enqueue(too_many, 0, "one more"))

    @invariant
    def surplus_is_refused(self) -> bool:
        """A release of more permits than are out is refused, and leaves no trace (I1)."""
        surplus = len(self.out) + 1
        return invariants.refuses(self.core, lambda core: core.release(surplus))

    # ==== Step properties ====

    @step
    def only_free_permits_are_granted(self, before: Any) -> bool:
        """No grant takes more permits than are on hand: their number is not negative after it (O4, O9, P8)."""
        return not self.granted() or self.core.value >= 0
