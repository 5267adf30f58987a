"""A limiter lends each borrower one token at most, and no more than there are.

The number of tokens may change at any time, down to none (a pause) and below what is lent; whoever
holds a token then keeps it. What is promised to the one who waits needs help from the others
(*fair* actions): borrowers give back, and a limiter that was reduced is raised again.
"""

from __future__ import annotations

from collections.abc import Mapping
from operator import methodcaller
from typing import Any

from structsync._core.primitives.capacity_limiter import CapacityLimiterCore
from structsync._core.queue.request import Request
from structsync.checking import action, invariant, invariants, leads_to, start, step

from .common import FifoSpec

# ==== Bounds ====

# Three that hold a token and three in the queue: the head, the tail, and one between them.
BORROWERS = ("a", "b", "c", "d", "e", "f")

FULL = 3  # so that a limiter reduced to one has lent too much by one, and by two
REDUCED = (0, 1, 2)  # a pause; and the way up from 1 to 2 that must not let anybody in (O4)


def idle(spec: CapacityLimiterSpec) -> list[str]:
    busy = {*spec.lent, *spec.in_queue()}
    return [who for who in BORROWERS if who not in busy] if spec.core.cause is None else []


def waiting(spec: CapacityLimiterSpec) -> list[str]:
    return spec.in_queue()


class CapacityLimiterSpec(FifoSpec):
    """A limiter and who has its tokens."""

    symmetric = BORROWERS[:4]  # all six could be exchanged, in thirty times as many ways
    newcomers = (("one more", 0),)
    core: CapacityLimiterCore = start(CapacityLimiterCore, FULL)
    lent: tuple[str, ...] = start(tuple)  # who was granted a token and has not given it back

    def renamed(self, snapshot: Any, names: Mapping[str, str]) -> Any:
        found = super().renamed(snapshot, names)
        return found._replace(lent=tuple(sorted(found.lent)))

    # ==== Words that actions use ====

    def got(self, request: Request[Any]) -> None:
        self.lent = tuple(sorted((*self.lent, request.waiter)))

    # ==== Actions ====

    @action(who=idle)
    def request(self, who: str) -> None:
        self.asked(self.core.submit(who, waiter=who))

    @action(who=waiting)
    def withdraw(self, who: str) -> None:
        self.note(self.withdrawn(who))

    @action(who=lent, fair=True)
    def release(self, who: str) -> None:
        place = self.lent.index(who)
        self.lent = self.lent[:place] + self.lent[place + 1 :]
        self.note(self.core.release(who))

    @action(tokens=REDUCED, when=lambda spec, tokens: tokens != spec.core.total_tokens)
    def resize(self, tokens: int) -> None:
        self.note(self.core.resize(tokens))

    @action(when=lambda spec: spec.core.total_tokens < FULL, fair=True)
    def grow(self) -> None:
        self.note(self.core.resize(FULL))

    @action(when=lambda spec: spec.core.cause is None)
    def close(self) -> None:
        self.note(self.core.end("closed"))

    # ==== Invariants ====

    @invariant
    def tokens_are_conserved(self) -> bool:
        """The limiter counts as borrowers those who were granted a token and have it (I1)."""
        return tuple(sorted(map(str, self.core.borrowers))) == self.lent

    @invariant
    def nobody_has_two_claims(self) -> bool:
        """Whoever has a token or waits for one is refused, and that leaves no trace (O5, O6)."""
        return all(
            invariants.refuses(self.core, methodcaller("enqueue", who))
            for who in {*self.lent, *self.in_queue()}
        )

    @invariant
    def nothing_is_given_back_twice(self) -> bool:
        """Whoever has no token cannot give one back, and the attempt leaves no trace."""
        return all(
            invariants.refuses(self.core, methodcaller("release", who))
            for who in ("one more", *self.in_queue()[:1])
        )

    # ==== Step properties ====

    @step
    def only_free_tokens_are_granted(self, before: Any) -> bool:
        """Whoever is granted a token is granted one that was there (O3, O4)."""
        return not self.granted() or len(self.lent) <= self.core.total_tokens

    # ==== Temporal properties ====

    @leads_to(who=BORROWERS)
    def who_stays_in_queue_is_served(self, who: str) -> tuple[bool, bool]:
        """If tokens come back, whoever waits is granted one eventually, or gives up, or is told."""
        waits = who in self.in_queue()
        return waits, not waits
