"""A semaphore conserves its permits, serves first come first served, and loses no wakeup.

Whoever is idle may ask for its weight in permits: all of them or none. Whoever waits may give up at
any moment. Whoever holds permits may give them back, all at once or one by one. Meanwhile somebody
changes how many permits exist, and somebody may close the semaphore for good.

What is promised to the one who waits needs help from the others (*fair* actions): those who hold
permits give them back, and a semaphore that was shrunk grows back.
"""

from __future__ import annotations

from typing import Any

from structsync._core.request import Request
from structsync._core.semaphore import SemaphoreCore
from structsync.checking import action, invariant, invariants, leads_to, start, step

from .common import FifoSpec, LineSpec

# ==== Bounds ====

# Weights 1, 2 and 3 in one line: a small claim behind a large one and before it, two that fit
# together, one that needs everything. Every published bug of a semaphore needs at most three
# waiters; six leave three in line behind any two that hold.
WEIGHTS = {"a": 1, "b": 2, "c": 1, "d": 3, "e": 2, "f": 1}

AT_FIRST = 2  # so that d's claim is impossible until the semaphore has grown
SIZES = (1, 2)  # below the smallest sum of two claims, and between
FULL = 3  # the largest claim; two others fit beside each other


def idle(spec: PermitsSpec) -> list[str]:
    busy = {*spec.out, *spec.in_line()}
    return [who for who in WEIGHTS if who not in busy]


def may_ask(spec: SemaphoreSpec) -> list[str]:
    core = spec.core
    if core.cause is not None or core.largest is None:
        return []
    return [who for who in idle(spec) if WEIGHTS[who] <= core.largest]


def waiting(spec: LineSpec) -> list[str]:
    return spec.in_line()


def holding(spec: PermitsSpec) -> list[str]:
    return sorted({*spec.out})


def holding_several(spec: PermitsSpec) -> list[str]:
    return [who for who in holding(spec) if spec.out.count(who) > 1]


class PermitsSpec(LineSpec):
    """A semaphore and who has its permits."""

    abstract = True

    core: SemaphoreCore
    out: tuple[str, ...] = start(tuple)  # the permits that are out: who has each, in order of names

    def got(self, request: Request[Any]) -> None:
        self.out = tuple(sorted(self.out + (request.waiter,) * request.claim))

    def given_back(self, who: str, permits: int) -> None:
        left = self.out.count(who) - permits
        others = tuple(one for one in self.out if one != who)
        self.out = tuple(sorted(others + (who,) * left))

    @step
    def only_free_permits_are_granted(self, before: Any) -> bool:
        """Whoever is granted permits is granted permits that were there (O4, O9, P8)."""
        return not self.granted() or self.core.value >= 0


class SemaphoreSpec(PermitsSpec, FifoSpec):
    """Four waiters, a bounded semaphore of changing size, the default policy."""

    core: SemaphoreCore = start(SemaphoreCore, AT_FIRST, max_value=AT_FIRST)

    # ==== Actions ====

    @action(who=may_ask)
    def request(self, who: str) -> None:
        self.note([self.core.submit(WEIGHTS[who], waiter=who)])

    @action(who=waiting)
    def withdraw(self, who: str) -> None:
        self.note(self.withdrawn(who))

    @action(who=holding, fair=True)
    def release(self, who: str) -> None:
        permits = self.out.count(who)
        self.given_back(who, permits)
        self.note(self.core.release(permits))

    @action(who=holding_several)
    def release_one(self, who: str) -> None:
        self.given_back(who, 1)
        self.note(self.core.release(1))

    @action(size=SIZES, when=lambda spec, size: size != spec.core.max_value)
    def resize(self, size: int) -> None:
        self.note(self.core.resize(size))

    @action(when=lambda spec: spec.core.max_value < FULL, fair=True)
    def grow(self) -> None:
        self.note(self.core.resize(FULL))

    @action(when=lambda spec: spec.core.cause is None)
    def close(self) -> None:
        self.note(self.core.end("closed"))

    # ==== Invariants ====

    @invariant
    def permits_are_conserved(self) -> bool:
        """Every permit that exists is on hand or out with somebody (I1)."""
        return self.core.value == (self.core.max_value or 0) - len(self.out)

    @invariant
    def nowait_agrees_with_the_line(self) -> bool:
        """`acquire_nowait` succeeds exactly when a request made now would be granted (I2)."""
        return all(invariants.nowait_agrees(self.core, permits) for permits in (1, 2, 3))

    @invariant
    def impossible_claims_are_refused(self) -> bool:
        """More than there ever was is refused at once, and leaves no trace (I7)."""
        too_many = max(self.core.largest or 0, 1) + 1
        return invariants.refuses(self.core, lambda core: core.enqueue(too_many, 0, "e"))

    @invariant
    def surplus_is_refused(self) -> bool:
        """More than is out cannot be given back, and the attempt leaves no trace (I1)."""
        surplus = len(self.out) + 1
        return invariants.refuses(self.core, lambda core: core.release(surplus))

    # ==== Temporal properties ====

    @leads_to(who=tuple(WEIGHTS))
    def who_stays_in_line_is_served(self, who: str) -> tuple[bool, bool]:
        """If permits are given back, whoever waits is granted some day, or gave up, or was told."""
        waits = who in self.in_line()
        return waits, not waits
