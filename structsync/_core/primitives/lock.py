"""One owner at a time: the decisions of :class:`structsync.Lock`."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, ClassVar

from structsync._core.queue.claimants import ClaimantArbiter
from structsync._core.queue.request import Request

from .exclusive import ExclusiveCore


class LockCore(ExclusiveCore[Any], ClaimantArbiter):
    """An owner and a queue of those that want to be; the claim is the claimant."""

    owner: Hashable
    possession: ClassVar[str] = "hold the lock"

    def admits(self, claim: Hashable) -> bool:
        return self.owner is None

    def admit(self, claim: Hashable) -> bool:
        self.owner = claim
        return True

    def discharge(self, claim: Hashable) -> None:
        if self.owner != claim:
            raise RuntimeError("can't release a Lock you don't own")
        self.owner = None

    def entered(self, request: Request[Any]) -> None:
        # A claimant that sleeps until its request ends makes no other one, nor exits. To index
        # those, too, would cost a twentieth of a hand-over.
        if not request.parked:
            self.pending[request.claim] = request

    def left(self, request: Request[Any]) -> None:
        if self.pending:
            self.pending.pop(request.claim, None)

    def held_by(self, claimant: Hashable) -> Hashable:
        return claimant if self.owner == claimant else None

    def refuse_impossible(self, claim: Hashable) -> None:
        if self.owner == claim:
            raise RuntimeError("attempt to re-acquire an already held Lock")
        if claim in self.pending:
            raise RuntimeError(
                f"{claim!r} already has a live request for this Lock; wait for it or withdraw it"
            )
