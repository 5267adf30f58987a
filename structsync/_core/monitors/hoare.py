"""Signal and wait: the conditions of a monitor in the discipline of Hoare.

A signal passes the monitor to the oldest waiter in the signaller's own step, so what the signaller saw
is still true when the waiter goes on. In the discipline of Mesa, :class:`ConditionCore` alone, the
waiter is moved to the end of the queue instead, and others go first.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, cast

from structsync._core.primitives.condition import ConditionCore
from structsync._core.queue.request import Request

from .monitor import MonitorCore


class HoareConditionCore(ConditionCore):
    """The queue of the tasks that wait for a signal."""

    def signal(
        self, claim: Hashable, waiter: Any
    ) -> tuple[Request[Any] | None, list[Request[Any]]]:
        """Pass the monitor to the oldest waiter, if there is one.

        Returns the request of the signaller to get in again (None if it is inside still), and the
        request that this ended.
        """
        for request in self._oldest(1):
            self._pop(request)
            signaller: Request[Any] = Request(claim, -1, waiter)
            cast(MonitorCore, self.lock).hand_over(signaller, request)
            return signaller, [request]
        return None, []
