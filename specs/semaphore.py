"""A semaphore conserves its permits, serves first come first served, and loses no wakeup.

To what all policies have in common (`permits.py`) this adds the default policy, permits that are
released one by one, and a task that changes how many permits exist.

What is promised to waiters needs help from the others (*fair* actions): holders of
permits release them, and a semaphore that was shrunk grows back.

A semaphore without a maximum (`SignalsSpec`) counts signals: any task may give some, and a task that takes them
releases none. Eventually a signal is given (that is *fair*).
"""

from __future__ import annotations

from typing import Any

from structsync._core.primitives.semaphore import SemaphoreCore
from structsync._core.queue.request import Request
from structsync.checking import action, invariant, invariants, leads_to, start

from .common import FifoSpec
from .permits import PermitsSpec, alike, holding, waiting

# ==== Bounds ====

# Weights 1, 2 and 3 in one queue: a small claim behind a large one and before it, two that fit
# together, one that needs everything. Every published bug of a semaphore needs at most three
# waiters; six leave three in the queue behind any two that hold.
WEIGHTS = {"a": 1, "b": 2, "c": 1, "d": 3, "e": 2, "f": 1}

AT_FIRST = 2  # so that d's claim is impossible until the semaphore has grown
CLAIMS = ((1, 0), (2, 0), (3, 0))  # what a newcomer may ask for, with no priority
SIZES = (1, 2)  # to shrink to: claims for 2 and 3, or for 3 alone, do not fit any more
FULL = 3  # the largest claim; two smaller ones fit beside each other


def holding_several(spec: PermitsSpec) -> list[str]:
    return [who for who in holding(spec) if spec.out.count(who) > 1]


class SemaphoreSpec(PermitsSpec, FifoSpec):
    """A bounded semaphore of changing size, with the default policy."""

    weights = WEIGHTS
    symmetric = alike(WEIGHTS)
    newcomers = CLAIMS
    core: SemaphoreCore = start(SemaphoreCore, AT_FIRST, max_value=AT_FIRST)

    # ==== Actions ====

    @action(who=holding_several)
    def release_one(self, who: str) -> None:
        self.released(who, 1)
        self.note(self.core.release(1))

    @action(size=SIZES, when=lambda spec, size: size != spec.core.max_value)
    def resize(self, size: int) -> None:
        self.note(self.core.resize(size))

    @action(when=lambda spec: spec.core.max_value < FULL, fair=True)
    def grow(self) -> None:
        self.note(self.core.resize(FULL))

    # ==== Temporal properties ====

    @leads_to(who=tuple(WEIGHTS))
    def a_queued_request_is_served(self, who: str) -> tuple[bool, bool]:
        """If permits are released and it grows, every task that waits is granted eventually, or withdraws, or is ended."""
        waits = who in self.in_queue()
        return waits, not waits


# ==== Without a maximum ====

TAKERS = {"a": 1, "b": 2, "c": 1, "d": 3, "e": 2}  # as above; no task holds, so five are enough
SIGNALS = 3  # the largest claim: with so many on hand no task can be waiting


class SignalsSpec(FifoSpec):
    """A semaphore that starts at 0 and has no maximum, and the signals that no task has taken."""

    symmetric = alike(TAKERS)
    newcomers = CLAIMS
    core: SemaphoreCore = start(SemaphoreCore, 0)
    unused: int = start(int)  # signals given and not yet taken

    def got(self, request: Request[Any]) -> None:
        self.unused -= request.claim

    # ==== Actions ====

    @action(
        who=lambda spec: [who for who in TAKERS if who not in spec.in_queue()],
        when=lambda spec, who: spec.core.cause is None,
    )
    def take(self, who: str) -> None:
        self.submitted(self.core.submit(TAKERS[who], waiter=who))

    @action(who=waiting)
    def withdraw(self, who: str) -> None:
        self.note(self.withdrawn(who))

    @action(when=lambda spec: spec.unused < SIGNALS, fair=True)
    def give(self) -> None:
        self.give_many(1)

    @action(signals=(2, 3), when=lambda spec, signals: spec.unused + signals <= SIGNALS)
    def give_many(self, signals: int) -> None:
        self.unused += signals
        self.note(self.core.release(signals))

    @action(when=lambda spec: spec.core.cause is None)
    def close(self) -> None:
        self.note(self.core.end("closed"))

    # ==== Invariants ====

    @invariant
    def every_signal_is_kept_until_it_is_taken(self) -> bool:
        """Every signal that was given and not taken is on hand (I1)."""
        return self.core.value == self.unused

    @invariant
    def it_has_no_size_to_change(self) -> bool:
        """Resizing a semaphore without a maximum is refused, and leaves no trace (I7)."""
        return invariants.refuses(self.core, lambda core: core.resize(1))

    # ==== Temporal properties ====

    @leads_to(who=tuple(TAKERS))
    def a_queued_request_is_served(self, who: str) -> tuple[bool, bool]:
        """If signals keep coming, every task that waits gets them eventually, or withdraws, or is ended."""
        waits = who in self.in_queue()
        return waits, not waits
