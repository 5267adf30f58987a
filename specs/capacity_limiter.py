"""A limiter lends each borrower one token at most, and no more than there are.

The state is the core, with its queue, and which borrowers were granted a token and have not released it. An idle
borrower may request a token; one that waits may withdraw. The number of tokens may change at any time, down to none
(a pause) and below what is lent; a borrower that has a token then keeps it. The limiter may be closed, for good.

What is promised to a borrower that waits needs help from the others (*fair* actions): tokens are released, and a
limiter that was reduced grows again.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from structsync._core.primitives.capacity_limiter import CapacityLimiterCore
from structsync._core.queue.request import Request
from structsync.checking import action, invariant, leads_to, start, step

from .common import FifoSpec

# ==== Bounds ====

# Three that have a token and three in the queue: the head, the tail, and one between them.
BORROWERS = ("a", "b", "c", "d", "e", "f")

FULL = 3  # so that a limiter reduced to one token has lent one too many, or two
REDUCED = (0, 1, 2)  # a pause; and from 1 to 2, which must grant nothing while three are lent (O4)


def idle(spec: CapacityLimiterSpec) -> list[str]:
    busy = {*spec.lent, *spec.in_queue()}
    return [who for who in BORROWERS if who not in busy] if spec.core.cause is None else []


def waiting(spec: CapacityLimiterSpec) -> list[str]:
    return spec.in_queue()


class CapacityLimiterSpec(FifoSpec):
    """A limiter, and which borrowers have its tokens."""

    # All six can be exchanged; but a state is compared with all its renamings, thirty times as many.
    symmetric = BORROWERS[:4]
    newcomers = (("one more", 0),)
    core: CapacityLimiterCore = start(CapacityLimiterCore, FULL)
    lent: tuple[str, ...] = start(tuple)  # the tasks that have been granted a token

    def renamed(self, snapshot: Any, names: Mapping[str, str]) -> Any:
        found = super().renamed(snapshot, names)
        return found._replace(lent=tuple(sorted(found.lent)))

    # ==== Words that actions use ====

    def got(self, request: Request[Any]) -> None:
        self.lent = tuple(sorted((*self.lent, request.waiter)))

    # ==== Actions ====

    @action(who=idle)
    def request(self, who: str) -> None:
        self.submitted(self.core.submit(who, waiter=who))

    @action(who=waiting)
    def withdraw(self, who: str) -> None:
        self.note(self.withdrawn(who))

    @action(who=lent, fair=True)
    def release(self, who: str) -> None:
        at = self.lent.index(who)
        self.lent = self.lent[:at] + self.lent[at + 1 :]
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
        """The limiter counts as borrowers those that were granted a token and have it, and no others (I1)."""
        return sorted(map(str, self.core.borrowers)) == [*self.lent]

    @invariant
    def no_task_has_two_claims(self) -> bool:
        """A borrower that has a token or waits for one is refused another, without a trace (O5, O6)."""
        return all(self.refuses("enqueue", who) for who in {*self.lent, *self.in_queue()})

    @invariant
    def nothing_is_released_twice(self) -> bool:
        """A borrower without a token cannot release one, and the attempt leaves no trace."""
        have_none = ("one more", *self.in_queue()[:1])
        return all(self.refuses("release", who) for who in have_none)

    # ==== Step properties ====

    @step
    def only_free_tokens_are_granted(self, before: Any) -> bool:
        """No token is granted beyond those that there are: after a grant no more are lent (O3, O4)."""
        return not self.granted() or len(self.lent) <= self.core.total_tokens

    # ==== Temporal properties ====

    @leads_to(who=BORROWERS)
    def a_queued_request_is_served(self, who: str) -> tuple[bool, bool]:
        """If tokens come back and it grows again, a borrower that waits has one eventually, withdraws, or is ended."""
        waits = who in self.in_queue()
        return waits, not waits
