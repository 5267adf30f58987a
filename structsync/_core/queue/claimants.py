"""Claims that identify their claimants: at most one live claim each."""

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
        self.start_index()

    def start_index(self) -> None:
        self.pending: dict[Hashable, Request[Any]] = {}

    def claimant_of(self, claim: Any) -> Hashable:
        """Return the claimant of a claim; a class that overrides this overrides the index, too."""
        claimant: Hashable = claim
        return claimant

    def held_by(self, claimant: Hashable) -> Any:
        """Return the claim that a claimant was granted and has not released; None without one."""
        return None

    def entered(self, request: Request[Any]) -> None:
        self.pending[request.claim] = request

    def left(self, request: Request[Any]) -> None:
        del self.pending[request.claim]

    def owner_exited(self, claimant: Hashable, cause: Hashable) -> list[Request[Any]]:
        """Break the primitive if the claimant that exited holds it; else withdraw what it left queued.

        Returns all requests that this ended, the withdrawn one first: some task may wait for it.
        """
        if self.held_by(claimant) is not None:
            return self.end(cause)
        request = self.pending.get(claimant)
        return [] if request is None else [request, *(self.withdraw(request) or [])]
