"""Bugs that limiters of others had, planted in ours: each must be found by the named property."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from structsync._core.primitives.capacity_limiter import CapacityLimiterCore
from structsync._core.queue.request import Request
from structsync.checking import fault

from ._planting import break_only, grant, withdraw_only
from .capacity_limiter import CapacityLimiterSpec

Ended = list[Request[Any]]


@fault(CapacityLimiterSpec, "core", refuted_by="no_task_has_two_claims")
class OneBorrowerWaitsTwice(CapacityLimiterCore):
    """Two waits of one borrower are both granted, and one token counted (O5: trio.CapacityLimiter)."""

    def refuse_impossible(self, claim: Hashable) -> None:
        if claim in self.borrowers:
            super().refuse_impossible(claim)

    def left(self, request: Request[Any]) -> None:
        self.pending.pop(request.claim, None)


@fault(CapacityLimiterSpec, "core", refuted_by="only_free_tokens_are_granted")
class GrowingWakesByTheDifference(CapacityLimiterCore):
    """Reduced below what is lent, then raised by one: one token is granted, room or not (O4: anyio PR 1223)."""

    def resize(self, total_tokens: float) -> Ended:
        more = int(total_tokens - self.total_tokens)
        self.total_tokens = total_tokens
        return [grant(self, one) for one in self.waiting()[: max(more, 0)]]


@fault(CapacityLimiterSpec, "core", refuted_by="nothing_grantable_waits")
class GrowingWakesNoTask(CapacityLimiterCore):
    """More tokens, and those in the queue wait for the next release all the same."""

    def resize(self, total_tokens: float) -> Ended:
        self.total_tokens = total_tokens
        return []


@fault(CapacityLimiterSpec, "core", refuted_by="a_queued_request_is_served")
class PausedForever(CapacityLimiterCore):
    """At full size again, it grants no token to a task in the queue."""

    def admits(self, claim: Hashable) -> bool:
        return super().admits(claim) and (self.total_tokens < 3 or not self.queue)


@fault(CapacityLimiterSpec, "core", refuted_by="nowait_agrees_with_the_queue")
class NowaitBarges(CapacityLimiterCore):
    """A nowait passes the tasks in the queue, which wait although there is room (O3: anyio#1170)."""

    def resize(self, total_tokens: float) -> Ended:
        self.total_tokens = total_tokens
        return []

    def admissible(self, claim: Hashable, priority: int = 0) -> bool:
        return self.cause is None and self.admits(claim)


@fault(CapacityLimiterSpec, "core", refuted_by="tokens_are_conserved")
class CancelledWaiterTakesItsTokenAlong(CapacityLimiterCore):
    """Cancelled in the queue, counted as a borrower forever after (P6: anyio#947)."""

    def withdraw(self, request: Request[Any]) -> Ended | None:
        ended = super().withdraw(request)
        if ended is not None:
            self.borrowers[request.claim] = None
        return ended


@fault(CapacityLimiterSpec, "core", refuted_by="ended_requests_stay_ended")
class WithdrawalIsGranted(CapacityLimiterCore):
    """A borrower that has withdrawn is in the queue again, and will be granted a token all the same."""

    def withdraw(self, request: Request[Any]) -> Ended | None:
        ended = withdraw_only(self, request)
        if ended is not None:
            self.join(request)
        return ended


@fault(CapacityLimiterSpec, "core", refuted_by="nothing_waits_when_closed_or_broken")
class CloseForgetsTheHead(CapacityLimiterCore):
    """Closing tells all tasks in the queue but the head (C3: dotnet/runtime#59639)."""

    def end(self, cause: Hashable) -> Ended:
        ended: Ended = break_only(self, self.waiting()[1:], str(cause))
        return ended


@fault(CapacityLimiterSpec, "core", refuted_by="nothing_is_released_twice")
class SurplusIsSwallowed(CapacityLimiterCore):
    """A release by a borrower without a token passes in silence."""

    def discharge(self, claim: Hashable) -> None:
        if self.borrowers:
            self.borrowers.pop(claim, None)
