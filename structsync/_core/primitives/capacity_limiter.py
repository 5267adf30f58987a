"""Tokens lent to borrowers: the decisions of :class:`structsync.CapacityLimiter`."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from structsync._core.queue.claimants import ClaimantArbiter
from structsync._core.queue.request import Request


class CapacityLimiterCore(ClaimantArbiter):
    """The borrowers of tokens, and how many there are; the claim is the borrower."""

    total_tokens: float  # an int >= 0 or math.inf; may be less than what is lent

    def __init__(
        self, total_tokens: float, *, policy: str = "fifo", ageing: int | None = 100
    ) -> None:
        super().__init__(policy=policy, ageing=ageing)
        self.total_tokens = total_tokens
        self.borrowers: dict[Hashable, None] = {}  # in the order in which they borrowed

    @property
    def is_idle(self) -> bool:
        return not self.queue and not self.borrowers

    def admits(self, claim: Hashable) -> bool:
        return len(self.borrowers) < self.total_tokens and claim not in self.borrowers

    def admit(self, claim: Hashable) -> None:
        self.borrowers[claim] = None

    def discharge(self, claim: Hashable) -> None:
        if claim not in self.borrowers:
            raise RuntimeError("this borrower isn't holding any of this CapacityLimiter's tokens")
        del self.borrowers[claim]

    def held_by(self, claimant: Hashable) -> Hashable:
        return claimant if claimant in self.borrowers else None

    def refuse_impossible(self, claim: Hashable) -> None:
        if claim in self.borrowers:
            raise RuntimeError(
                "this borrower is already holding one of this CapacityLimiter's tokens"
            )
        if claim in self.pending:
            raise RuntimeError(
                "this borrower is already waiting for one of this CapacityLimiter's tokens"
            )

    def resize(self, total_tokens: float) -> list[Request[Any]]:
        """Change the number of tokens; those that are lent stay lent."""
        self.total_tokens = total_tokens
        return self.settle()

    def snapshot(self) -> Hashable:
        return (frozenset(self.borrowers), super().snapshot())

    def restore(self, snapshot: Any) -> None:
        borrowers, rest = snapshot
        super().restore(rest)
        self.borrowers = dict.fromkeys(borrowers)
