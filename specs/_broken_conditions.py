"""Conditions with bugs that others had, to be planted on a lock as well as in a monitor.

What each bug does is said where it is planted.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from structsync import Status
from structsync._core.primitives.condition import ConditionCore
from structsync._core.queue.request import Request

Ended = list[Request[Any]]


class NoHeir(ConditionCore):
    def _stop_waiting(self, request: Request[Any]) -> bool:
        return self._pop(request) or self.lock.leave(request)


class TakesTheNewest(ConditionCore):
    def _oldest(self, count: int | None) -> Ended:
        return self.waiting()[-1:] if count == 1 else super()._oldest(count)


class HeirGoesToTheEnd(ConditionCore):
    def _stop_waiting(self, request: Request[Any]) -> bool:
        if self._pop(request):
            return True
        if not self.lock.leave(request):
            return False
        self.notify(1)
        return True


class ReturnsWithoutTheLock(ConditionCore):
    def _rejoin(self, request: Request[Any]) -> None:
        pass


class CancelledKeepsItsPosition(ConditionCore):
    def cancel(self, request: Request[Any]) -> Ended | None:
        if request.queue is not self.lock.queue:
            return super().cancel(request)
        again: Request[Any] = Request(request.claim, -1, request.waiter)
        self.lock.replace(request, again)
        self.notify(1)
        request.status = Status.WITHDRAWN
        return []


class WaitWakesNoTask(ConditionCore):
    def wait(self, claim: Hashable, waiter: Any) -> tuple[Request[Any], Ended]:
        request = self.enqueue(claim, waiter=waiter)
        self.lock.conditions[self] = None
        self.lock.discharge(claim)
        return request, []
