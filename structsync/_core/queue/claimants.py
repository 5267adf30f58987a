"""Claims that identify who makes them: at most one live claim each."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from .arbiter import Arbiter
from .request import Request


class ClaimantArbiter(Arbiter[Any]):
    """An arbiter whose claim is or names the claimant (a task, a borrower), once in the queue at most.

    ``pending`` is an index into the queue, so that a second claim is found without a search. Without
    it two waits of one borrower would both be granted, and one token counted (trio's limiter, O5).
    """

    def __init__(self, *, policy: str = "fifo", ageing: int | None = 100) -> None:
        super().__init__(policy=policy, ageing=ageing)
        self.pending: set[Hashable] = set()

    def claimant_of(self, claim: Any) -> Hashable:
        """Return who makes a claim."""
        claimant: Hashable = claim
        return claimant

    def join(self, request: Request[Any], priority: int = 0) -> None:
        super().join(request, priority)
        self.pending.add(request.claim)

    def leave(self, request: Request[Any]) -> bool:
        if not super().leave(request):
            return False
        self.pending.discard(request.claim)
        return True

    def settle(self) -> list[Request[Any]]:
        ended = super().settle()
        for request in ended:  # here, so that an acquire without waiting does not pay for it
            self.pending.discard(request.claim)
        return ended

    def replace(self, request: Request[Any], successor: Request[Any]) -> None:
        super().replace(request, successor)
        self.pending.discard(request.claim)
        self.pending.add(successor.claim)

    def restore(self, snapshot: Any) -> None:
        super().restore(snapshot)
        self.pending = {request.claim for request in self.queue.values()}
