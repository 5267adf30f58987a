"""One owner at a time: the decisions of :class:`structsync.Lock`."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, Any, ClassVar

from structsync._core.queue.claimants import ClaimantArbiter
from structsync._core.queue.request import Request

if TYPE_CHECKING:
    from .condition import ConditionCore


class LockCore(ClaimantArbiter):
    """An owner and a queue of those who want to be; the claim is the claimant."""

    owner: Hashable  # None while the lock is free
    possession: ClassVar[str] = "hold the lock"  # what its conditions demand

    def __init__(self, *, policy: str = "fifo", ageing: int | None = 100) -> None:
        super().__init__(policy=policy, ageing=ageing)
        self.owner = None
        # The conditions on this lock that have waiters: breaking the lock reaches those too.
        self.conditions: dict[ConditionCore, None] = {}

    @property
    def at_rest(self) -> bool:
        return self.owner is None and not self.queue and not self.conditions

    def admits(self, claim: Hashable) -> bool:
        return self.owner is None

    def admit(self, claim: Hashable) -> None:
        self.owner = claim

    def give_back(self, claim: Hashable) -> None:
        if self.owner != claim:
            raise RuntimeError("can't release a Lock you don't own")
        self.owner = None

    def refuse_impossible(self, claim: Hashable) -> None:
        if self.owner == claim:
            raise RuntimeError("attempt to re-acquire an already held Lock")
        if claim in self.pending:
            raise RuntimeError(
                f"{claim!r} already has a live request for this Lock; wait for it or withdraw it"
            )

    def end(self, cause: Hashable) -> list[Request[Any]]:
        ended = super().end(cause)
        for condition in list(self.conditions):
            ended += condition.break_waiters(cause)
        return ended

    def owner_exited(self, claimant: Hashable, cause: Hashable) -> list[Request[Any]]:
        """Break the lock if the claimant that exited owns it; else withdraw what it left in the queue.

        Returns all requests that this ended, the withdrawn one first: somebody may wait for it.
        """
        if self.owner == claimant:
            return self.end(cause)
        if claimant not in self.pending:
            return []
        (request,) = (each for each in self.queue.values() if each.claim == claimant)
        return [request, *(self.withdraw(request) or [])]
