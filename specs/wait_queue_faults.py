"""Bugs that conditions of others had, planted in ours: each must be found by the named property."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from structsync import Status
from structsync._core.primitives.wait_queue import WaitQueueCore
from structsync._core.queue.request import Request
from structsync.checking import fault

from ._planting import NewestFirst, break_only
from .wait_queue import WaitQueueSpec

Ended = list[Request[None]]


@fault(WaitQueueSpec, "core", refuted_by="a_wake_wakes_as_many_as_it_says")
class WakeIsSpentOnACancelledWaiter(WaitQueueCore):
    """The head was cancelled; the next wake goes to it and is lost (N14: tokio#4618)."""

    spent: int  # how many cancelled waiters the next wake will find

    def __init__(self) -> None:
        super().__init__()
        self.spent = 0

    def withdraw(self, request: Request[None]) -> Ended | None:
        self.spent = int(self.waiting()[:1] == [request])
        return super().withdraw(request)

    def wake(self, count: int | None) -> Ended:
        spent, self.spent = self.spent, 0
        return super().wake(count if count is None else max(count - spent, 0))


@fault(WaitQueueSpec, "core", refuted_by="no_wake_is_kept")
class WakesAreKept(WaitQueueCore):
    """A wake that finds no task lets the next one pass that comes to wait (N12: tokio#5396)."""

    def wake(self, count: int | None) -> Ended:
        self.wakes = len(self.queue) if count is None else count
        return self.settle()


@fault(WaitQueueSpec, "core", refuted_by="a_wake_wakes_as_many_as_it_says")
class WakeAllStopsEarly(WaitQueueCore):
    """Waking all wakes a batch of three (N12: tokio wakes in batches of 32)."""

    def wake(self, count: int | None) -> Ended:
        return super().wake(3 if count is None else count)


@fault(WaitQueueSpec, "core", refuted_by="a_queued_task_is_woken")
class NewestIsWoken(WaitQueueCore):
    """The wake goes to the newest; the oldest sleeps forever."""

    def __init__(self) -> None:
        super().__init__()
        self.policy = NewestFirst()


@fault(WaitQueueSpec, "core", refuted_by="ended_requests_stay_ended")
class OneCancelledTellsAll(WaitQueueCore):
    """One waiter is cancelled, and the one behind it is told so too (N9: anyio#536)."""

    def withdraw(self, request: Request[None]) -> Ended | None:
        ended = super().withdraw(request)
        for other in self.waiting()[:1] if ended is not None else ():
            other.status = Status.WITHDRAWN
            return [other]
        return ended


@fault(WaitQueueSpec, "core", refuted_by="nothing_waits_when_closed_or_broken")
class CloseWakesOne(WaitQueueCore):
    """Closing tells one waiter; the others hang (C2: CPython gh-117531)."""

    def end(self, cause: Hashable) -> Ended:
        ended: Ended = break_only(self, self.waiting()[:1], str(cause))
        return ended


@fault(WaitQueueSpec, "core", refuted_by="grants_follow_the_queue")
class SecondGoesFirst(WaitQueueCore):
    """Several are woken, but not in the order in which they came."""

    def wake(self, count: int | None) -> Ended:
        ended: list[Any] = super().wake(count)
        return ended[::-1]
