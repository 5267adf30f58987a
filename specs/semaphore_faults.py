"""Bugs that semaphores of others had, planted in ours: each must be found by the named property.

A planted bug is a small change of the core that ships. Where it was reported, the docstring
says where.
"""

from __future__ import annotations

from typing import Any

from structsync import Status
from structsync._core.primitives.semaphore import SemaphoreCore
from structsync._core.queue.request import Request
from structsync.checking import fault

from ._planting import NewestFirst, break_only, grant, move_to_the_end, withdraw_only
from .semaphore import SemaphoreSpec, SignalsSpec

Ended = list[Request[int]]


@fault(SemaphoreSpec, "core", refuted_by="nothing_grantable_waits")
class WithdrawalWakesNoTask(SemaphoreCore):
    """The large head withdraws, and the small ones behind it sleep on (H1: golang/go#37852)."""

    def withdraw(self, request: Request[int]) -> Ended | None:
        return withdraw_only(self, request)


@fault(SemaphoreSpec, "core", refuted_by="nothing_grantable_waits")
class ReleaseWakesOnlyOne(SemaphoreCore):
    """Several permits come back, and one waiter is woken (O10: smol-rs/async-lock#18)."""

    def release(self, claim: int) -> Ended:
        self.discharge(claim)
        return [grant(self, one) for one in self.waiting()[:1] if self.admits(one.claim)]


@fault(SemaphoreSpec, "core", refuted_by="nothing_grantable_waits")
class OneGrantIsThoughtToTakeAll(SemaphoreCore):
    """Of several permits that come back one is granted, and no other request is looked at."""

    def admit(self, claim: int) -> bool:
        super().admit(claim)
        return True


@fault(SemaphoreSpec, "core", refuted_by="a_queued_request_is_served")
class SmallClaimsPassTheLarge(SemaphoreCore):
    """Small claims pass the large one forever, and it starves (x/sync: LargeAcquireDoesntStarve)."""

    def __init__(self, initial_value: int, **options: Any) -> None:
        super().__init__(initial_value, policy="eligible", **options)


@fault(SemaphoreSpec, "core", refuted_by="grants_follow_the_queue")
class NewcomerBarges(SemaphoreCore):
    """A task that comes and fits goes in, although others wait (H8: tricycle's RWLock)."""

    def admissible(self, claim: int, priority: int = 0) -> bool:
        return self.cause is None and self.admits(claim)


@fault(SemaphoreSpec, "core", refuted_by="it_is_a_queue")
class TheNextGivesUpToo(SemaphoreCore):
    """A withdrawal ends the request behind it too, whose task is told so (N9: anyio#536)."""

    def withdraw(self, request: Request[int]) -> Ended | None:
        queue = self.waiting()
        ended = super().withdraw(request)
        behind = queue[queue.index(request) + 1 :][:1] if request in queue else []
        for one in behind:
            if one.status is Status.PENDING:
                ended = [*(ended or ()), one, *(super().withdraw(one) or ())]
        return ended


@fault(SemaphoreSpec, "core", refuted_by="nowait_agrees_with_the_queue")
class NowaitBarges(SemaphoreCore):
    """A nowait slips in between a release and those that were waiting (O3: anyio#1170)."""

    def admissible(self, claim: int, priority: int = 0) -> bool:
        return self.cause is None and self.admits(claim)

    def submit(self, claim: int, priority: int = 0, waiter: Any = None) -> Request[int]:
        if self.queue:
            return self.enqueue(claim, priority, waiter)
        return super().submit(claim, priority, waiter)


@fault(SemaphoreSpec, "core", refuted_by="grants_follow_the_queue")
class HandsOverToTheNewest(SemaphoreCore):
    """The queue is served from its end."""

    def __init__(self, initial_value: int, **options: Any) -> None:
        super().__init__(initial_value, **options)
        self.policy = NewestFirst()


@fault(SemaphoreSpec, "core", refuted_by="only_free_permits_are_granted")
class GrowingWakesByTheDifference(SemaphoreCore):
    """Shrunk below what is out, then grown by one: one is let in, room or not (O4: anyio PR 1223)."""

    def resize(self, max_value: int) -> Ended:
        more = max_value - (self.max_value or 0)
        self.value += more
        self.max_value = max_value
        self.largest = max(self.largest or 0, max_value)
        return [grant(self, one) for one in self.waiting()[: max(more, 0)]]


@fault(SemaphoreSpec, "core", refuted_by="only_free_permits_are_granted")
class WithdrawalAlwaysResumesTheNext(SemaphoreCore):
    """A withdrawal lets the next one in, which does not fit (P8: kotlinx.coroutines PR 1323)."""

    def withdraw(self, request: Request[int]) -> Ended | None:
        if withdraw_only(self, request) is None:
            return None
        return [grant(self, one) for one in self.waiting()[:1]]


@fault(SemaphoreSpec, "core", refuted_by="only_free_permits_are_granted")
class AnyPermitWillDo(SemaphoreCore):
    """One permit comes back and lets in a task that wants two (O9: kotlinx.coroutines PR 1553)."""

    def admits(self, claim: int) -> bool:
        return self.value > 0


@fault(SemaphoreSpec, "core", refuted_by="permits_are_conserved")
class PermitsAreTakenOneByOne(SemaphoreCore):
    """A task that waits keeps what it got so far, and takes it along when it withdraws (D9, P17: tokio)."""

    def enqueue(self, claim: int, *where: Any, **whose: Any) -> Request[int]:
        request = super().enqueue(claim, *where, **whose)
        self.value -= max(0, min(self.value, claim - 1))
        return request


@fault(SemaphoreSpec, "core", refuted_by="permits_are_conserved")
class CancelledGrantIsLost(SemaphoreCore):
    """A head that withdraws takes a free permit along (P14: asyncio's wait_for)."""

    def withdraw(self, request: Request[int]) -> Ended | None:
        if self.waiting()[:1] == [request] and self.value > 0:
            self.value -= 1
        return super().withdraw(request)


@fault(SemaphoreSpec, "core", refuted_by="ended_requests_stay_ended")
class WithdrawnKeepsItsPosition(SemaphoreCore):
    """The cancelled task is told so, and its request stays in the queue (P5: anyio PR 1145)."""

    def withdraw(self, request: Request[int]) -> Ended | None:
        if request.status is not Status.PENDING:
            return None
        request.status = Status.WITHDRAWN
        return []


@fault(SemaphoreSpec, "core", refuted_by="ended_requests_stay_ended")
class WithdrawingAGrantReleasesIt(SemaphoreCore):
    """A task that withdraws after the grant releases the permits, and then again (P10: vs-threading)."""

    def withdraw(self, request: Request[int]) -> Ended | None:
        if request.status is Status.GRANTED:
            self.value += request.claim
        return super().withdraw(request)


@fault(SemaphoreSpec, "core", refuted_by="positions_are_kept")
class WithdrawalSendsTheNextToTheEnd(SemaphoreCore):
    """The one behind a cancelled waiter loses its position in the queue."""

    def withdraw(self, request: Request[int]) -> Ended | None:
        ended = super().withdraw(request)
        if ended == [] and self.queue:
            move_to_the_end(self, next(iter(self.queue)))
        return ended


@fault(SemaphoreSpec, "core", refuted_by="nothing_waits_when_closed_or_broken")
class CloseForgetsAllButTheHead(SemaphoreCore):
    """Closing wakes one waiter; the others hang (C2: CPython gh-117531)."""

    def end(self, cause: Any) -> Ended:
        ended: Ended = break_only(self, self.waiting()[:1], cause)
        return ended


@fault(SemaphoreSpec, "core", refuted_by="closed_stays_closed")
class ResizingOpensItAgain(SemaphoreCore):
    """A closed semaphore is open again after its size has changed (C1: tokio#8020)."""

    def resize(self, max_value: int) -> Ended:
        self.cause = None
        return super().resize(max_value)


@fault(SemaphoreSpec, "core", refuted_by="closed_stays_closed")
class TheLastToCloseIsBelieved(SemaphoreCore):
    """Closing twice replaces the cause, and two callers are told different things."""

    def end(self, cause: Any) -> Ended:
        self.cause = None
        return super().end(cause)


@fault(SemaphoreSpec, "core", refuted_by="nothing_joins_when_closed_or_broken")
class ClosedTakesMoreWaiters(SemaphoreCore):
    """A task that comes after the closing waits for what cannot come (P9: vs-threading#200)."""

    def refuse(self, claim: int) -> None:
        self.refuse_impossible(claim)


@fault(SemaphoreSpec, "core", refuted_by="impossible_claims_are_refused")
class ImpossibleClaimsAreQueued(SemaphoreCore):
    """A claim above the maximum waits forever and blocks those behind it (D8: zio#11187)."""

    def refuse_impossible(self, claim: int) -> None:
        pass


@fault(SemaphoreSpec, "core", refuted_by="surplus_is_refused")
class SurplusIsSwallowed(SemaphoreCore):
    """Releasing too often is repaired in silence (kotlinx.coroutines: decPermits)."""

    def discharge(self, claim: int) -> None:
        self.value = min(self.value + claim, self.max_value or 0)


@fault(SemaphoreSpec, "core", refuted_by="surplus_is_refused")
class RefusalComesTooLate(SemaphoreCore):
    """Releasing too often raises, after the permits were added."""

    def discharge(self, claim: int) -> None:
        self.value += claim
        super().discharge(0)


@fault(SignalsSpec, "core", refuted_by="every_signal_is_kept_until_it_is_taken")
class SignalsForNoTaskAreLost(SemaphoreCore):
    """A signal that finds no task waiting is forgotten, and the next one to wait sleeps on."""

    def discharge(self, claim: int) -> None:
        if self.queue:
            super().discharge(claim)


@fault(SignalsSpec, "core", refuted_by="it_has_no_size_to_change")
class ResizingMakesItBounded(SemaphoreCore):
    """Resizing gives a semaphore without a maximum one."""

    def resize(self, max_value: int) -> Ended:
        self.max_value = self.largest = max_value
        return self.settle()


@fault(SignalsSpec, "core", refuted_by="a_queued_request_is_served")
class SignalsAreNotPassedOn(SemaphoreCore):
    """Signals pile up, and those that wait for them already are not woken."""

    def release(self, claim: int) -> Ended:
        self.discharge(claim)
        return []
