"""What semaphores of every policy have in common: permits on hand, permits out, requests for some.

Whoever is idle may ask for its weight in permits: all of them or none. Whoever waits may give up at
any moment. Whoever holds permits gives them back eventually (that is *fair*: it is what those who wait
need of the others). Somebody may close the semaphore for good.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from structsync._core.primitives.semaphore import SemaphoreCore
from structsync._core.queue.request import Request
from structsync.checking import action, invariant, invariants, start, step

from .common import QueueSpec


def alike(weights: Mapping[str, int]) -> tuple[tuple[str, ...], ...]:
    """Return those who ask for equally many permits: nothing else tells them apart."""
    groups = [tuple(who for who in weights if weights[who] == n) for n in {*weights.values()}]
    return tuple(sorted(group for group in groups if len(group) > 1))


def may_ask(spec: PermitsSpec) -> list[str]:
    """Return who is idle and asks for something that is not impossible (see the invariants)."""
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
    """A semaphore and who has its permits."""

    abstract = True

    weights: Mapping[str, int]  # what each waiter asks for
    core: SemaphoreCore
    out: tuple[str, ...] = start(tuple)  # the permits that are out: who has each, in order of names

    def renamed(self, snapshot: Any, names: Mapping[str, str]) -> Any:
        found = super().renamed(snapshot, names)
        return found._replace(out=tuple(sorted(found.out)))

    # ==== Words that actions use ====

    def got(self, request: Request[Any]) -> None:
        self.out = tuple(sorted(self.out + (request.waiter,) * request.claim))

    def given_back(self, who: str, permits: int) -> None:
        left = self.out.count(who) - permits
        others = tuple([one for one in self.out if one != who])
        self.out = tuple(sorted(others + (who,) * left))

    # ==== Actions ====

    @action(who=may_ask)
    def request(self, who: str) -> None:
        self.asked(self.core.submit(self.weights[who], waiter=who))

    @action(who=waiting)
    def withdraw(self, who: str) -> None:
        self.note(self.withdrawn(who))

    @action(who=holding, fair=True)
    def release(self, who: str) -> None:
        permits = self.out.count(who)
        self.given_back(who, permits)
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
        """Every permit that exists is on hand or out with somebody (I1)."""
        return self.core.value == (self.core.max_value or 0) - len(self.out)

    @invariant
    def impossible_claims_are_refused(self) -> bool:
        """More than there ever was is refused at once, and leaves no trace (I7)."""
        too_many = (self.core.largest or 0) + 1
        return invariants.refuses(self.core, lambda core: core.enqueue(too_many, 0, "one more"))

    @invariant
    def surplus_is_refused(self) -> bool:
        """More than is out cannot be given back, and the attempt leaves no trace (I1)."""
        surplus = len(self.out) + 1
        return invariants.refuses(self.core, lambda core: core.release(surplus))

    # ==== Step properties ====

    @step
    def only_free_permits_are_granted(self, before: Any) -> bool:
        """Whoever is granted permits is granted permits that were there (O4, O9, P8)."""
        return not self.granted() or self.core.value >= 0
