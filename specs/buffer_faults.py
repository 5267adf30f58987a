"""Bugs of queues between producers and consumers, planted in ours: each found by the named property."""

from __future__ import annotations

from typing import Any

from structsync import Status
from structsync._core.primitives.buffer import BLOCKED, NO_ROOM, BufferCore
from structsync._core.queue.arbiter import NOT_ADMITTED
from structsync._core.queue.request import BROKEN, GRANTED, PENDING, Request
from structsync.checking import fault

from ._planting import break_only, move_to_the_end, withdraw_only
from .buffer import BufferSpec, StackSpec

Ended = list[Request[Any]]


@fault(BufferSpec, "core", refuted_by="nothing_grantable_waits")
class APutWakesNoTask(BufferCore):
    """A put that is granted at once wakes none of the tasks that wait to get."""

    def ask(self, claim: Any, waiter: Any = None) -> tuple[Request[Any], Ended]:
        request = self.submit(claim, waiter=waiter)
        return request, [request] * (request.status is GRANTED)


@fault(BufferSpec, "core", refuted_by="nothing_grantable_waits")
class WithdrawalWakesNoTask(BufferCore):
    """A put of two is withdrawn, and the put of one behind it sleeps on (H1: golang/go#37852)."""

    def withdraw(self, request: Request[Any]) -> Ended | None:
        ended = withdraw_only(self, request)
        self.collecting = None if request is self.collecting else self.collecting
        return ended


@fault(BufferSpec, "core", refuted_by="no_item_is_lost_or_doubled")
class TheItemOfAWithdrawnGetIsLost(BufferCore):
    """A get that is withdrawn takes an item along (P13: cpython asyncio.Queue; P16: anyio#146)."""

    def withdraw(self, request: Request[Any]) -> Ended | None:
        if request.queue is self.queue and type(request.claim) is not tuple and self.items:
            self.items.take()
        return super().withdraw(request)


@fault(BufferSpec, "core", refuted_by="no_item_is_lost_or_doubled")
class AnItemStaysWhereItWas(BufferCore):
    """A task that waited for an item gets a copy, and the item is got again by another."""

    def grant(self, request: Request[Any], handed: Any = NOT_ADMITTED) -> Any:
        handed = super().grant(request, handed)
        if type(request.claim) is list:
            self.items.append(request.claim[0])
        return handed


@fault(BufferSpec, "core", refuted_by="no_item_is_lost_or_doubled")
class AWithdrawnPutHasPutAllTheSame(BufferCore):
    """A put that is withdrawn leaves its item behind."""

    def withdraw(self, request: Request[Any]) -> Ended | None:
        pending = request.queue is self.queue
        ended = super().withdraw(request)
        if pending and type(request.claim) is tuple and not self.items:
            self.items.extend(request.claim)
        return ended

    def complete(self, for_puts: Any, for_gets: Any) -> Ended:
        waiting = [one.claim for one in self.queue.puts]
        ended = super().complete(for_puts, for_gets)
        for claim in waiting:
            self.items.append(claim[0])
        return ended


@fault(BufferSpec, "core", refuted_by="it_never_holds_more_than_it_has_room_for")
class ItIsFullOneTooLate(BufferCore):
    """There is room for one more than there is."""

    def exchange(self, claim: Any, ahead: Request[Any] | None, takes: bool) -> Any:
        if type(claim) is tuple and ahead is None and self.completed is None:
            if len(self.items) > self.max_items:
                return BLOCKED
            return self.admit(claim) if takes else None
        return super().exchange(claim, ahead, takes)


@fault(BufferSpec, "core", refuted_by="more_than_fits_is_refused")
class ImpossibleClaimsAreQueued(BufferCore):
    """A put of more than it ever has room for blocks those behind it (D8: zio#11187)."""

    def refuse_impossible(self, claim: Any) -> None:
        if type(claim) is not tuple or self.completed is not None:
            super().refuse_impossible(claim)


@fault(BufferSpec, "core", refuted_by="what_is_complete_takes_nothing")
class APutIsTakenAfterTheEnd(BufferCore):
    """A buffer that is complete has room for puts all the same."""

    def complete(self, for_puts: Any, for_gets: Any) -> Ended:
        self.completed = (for_puts, for_gets)
        return self.settle()


@fault(BufferSpec, "core", refuted_by="what_is_complete_takes_nothing")
class ATaskThatWaitsForMoreIsNotTold(BufferCore):
    """complete() ends the puts, and tasks that wait to get sleep on (C2: gh-117531)."""

    def complete(self, for_puts: Any, for_gets: Any) -> Ended:
        self.completed, self.room = (for_puts, for_gets), NO_ROOM
        return [self.end_with(one, BROKEN, for_puts) for one in [*self.queue.puts]]


@fault(BufferSpec, "core", refuted_by="a_window_is_open_while_a_batch_collects")
class TheWindowOpensWithTheNextItemOnly(BufferCore):
    """A batch that comes where there is an item already does not begin to collect."""

    def entered(self, request: Request[Any]) -> None:
        pass


@fault(BufferSpec, "core", refuted_by="the_sides_wait_for_each_other_never")
class OnlyWholeBatchesAreGot(BufferCore):
    """A get of two waits for two items, while a put of two waits for room for two."""

    def exchange(self, claim: Any, ahead: Request[Any] | None, takes: bool) -> Any:
        if type(claim) is tuple or len(self.items) >= claim.most:
            return super().exchange(claim, ahead, takes)
        return BLOCKED


@fault(StackSpec, "core", refuted_by="items_come_out_in_order")
class TheOldestComesOut(BufferCore):
    """A stack is emptied from its bottom."""

    def __init__(self, max_items: float, *, policy: str) -> None:
        super().__init__(max_items)


@fault(BufferSpec, "core", refuted_by="no_task_is_handed_nothing")
class AGetOfTwoMayGetNothing(BufferCore):
    """A get of several is granted where there is nothing."""

    def exchange(self, claim: Any, ahead: Request[Any] | None, takes: bool) -> Any:
        if type(claim) is tuple or claim.most == 1:
            return super().exchange(claim, ahead, takes)
        if ahead is not None or self.cause is not None:
            return BLOCKED
        return self.admit(claim) if takes else None


@fault(BufferSpec, "core", refuted_by="putters_are_a_queue")
class NewcomersBarge(BufferCore):
    """A task that comes and fits is granted, although others wait on its side (H8)."""

    def exchange(self, claim: Any, ahead: Request[Any] | None, takes: bool) -> Any:
        return super().exchange(claim, None, takes)


@fault(BufferSpec, "core", refuted_by="getters_are_a_queue")
class GetsPassABatch(BufferCore):
    """A get is handed the items that a batch collects which came earlier (O1)."""

    def exchange(self, claim: Any, ahead: Request[Any] | None, takes: bool) -> Any:
        gets = type(claim) is not tuple
        return super().exchange(claim, None if gets else ahead, takes)


@fault(BufferSpec, "core", refuted_by="nowait_agrees_with_the_queue")
class TheSidesStandInEachOthersWay(BufferCore):
    """A nowait fails where a task waits on the other side (O3, the other way round)."""

    def admissible(self, claim: Any, priority: int = 0) -> bool:
        return not self.queue and super().admissible(claim)

    def submit(self, claim: Any, priority: int = 0, waiter: Any = None) -> Request[Any]:
        lane = self.queue.lane(claim)
        if not self.admits(claim, lane.head):
            return self.enqueue(claim, priority, waiter)
        request: Request[Any] = Request(claim, self.next_ticket, waiter)
        self.grant(request)
        return request


@fault(BufferSpec, "core", refuted_by="ended_requests_stay_ended")
class WithdrawingAGrantTakesItBack(BufferCore):
    """A withdrawal after the grant puts the item back, and the task has it all the same."""

    def withdraw(self, request: Request[Any]) -> Ended | None:
        if request.status is Status.GRANTED and type(request.claim) is list:
            self.items.extend(request.claim)
        return super().withdraw(request)


@fault(BufferSpec, "core", refuted_by="positions_are_kept")
class WithdrawalSendsTheNextToTheEnd(BufferCore):
    """The task behind a cancelled waiter loses its position."""

    def withdraw(self, request: Request[Any]) -> Ended | None:
        ended = super().withdraw(request)
        if ended == [] and self.queue.puts.head is not None:
            move_to_the_end(self, self.queue.puts.head)
        return ended


@fault(BufferSpec, "core", refuted_by="nothing_waits_when_closed_or_broken")
class CloseForgetsAllButTheHead(BufferCore):
    """Closing wakes one waiter; the others hang (C2: CPython gh-117531)."""

    def end(self, cause: Any) -> Ended:
        self.items.clear()
        self.collecting = None
        ended: Ended = break_only(self, self.waiting()[:1], cause)
        return ended


@fault(BufferSpec, "core", refuted_by="nothing_joins_when_closed_or_broken")
class ClosedTakesMoreWaiters(BufferCore):
    """A task that comes after the closing waits for what cannot come (P9)."""

    def enqueue(
        self, claim: Any, priority: int = 0, waiter: Any = None, parked: bool = False
    ) -> Request[Any]:
        request: Request[Any] = Request(claim, self.next_ticket, waiter)
        self.join(request)
        assert request.status is PENDING
        return request


@fault(BufferSpec, "core", refuted_by="closed_stays_closed")
class CompletingOpensItAgain(BufferCore):
    """A closed buffer is usable again once it is complete (C1)."""

    def complete(self, for_puts: Any, for_gets: Any) -> Ended:
        self.cause = None
        return super().complete(for_puts, for_gets)


@fault(BufferSpec, "core", refuted_by="every_waiter_is_served")
class TheEndOfAWindowIsIgnored(BufferCore):
    """A batch waits for what it wants, however long that takes."""

    def end_window(self, request: Request[Any]) -> Ended:
        return []
