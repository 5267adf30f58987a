"""Faults of conditions."""

from __future__ import annotations

from typing import Any

import pytest

from structsync._core.primitives.condition import ConditionCore
from structsync._core.primitives.lock import LockCore
from structsync._core.queue.arbiter import Arbiter
from structsync._core.queue.request import GRANTED, Request


def a_notification_is_lost_with_its_waiter(patch: pytest.MonkeyPatch) -> None:
    """As in trio: a notified waiter that is cancelled takes the notification with it."""

    def stop_waiting(self: ConditionCore, request: Request[Any]) -> bool:
        return self._pop(request) or self.lock.leave(request)

    patch.setattr(ConditionCore, "_stop_waiting", stop_waiting)


def a_cancelled_waiter_does_not_come_back(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(ConditionCore, "_rejoin", lambda self, request: None)


def a_notified_waiter_owns_nothing(patch: pytest.MonkeyPatch) -> None:
    """The notification wakes it at once, and it does not wait for the lock."""

    def notify(self: ConditionCore, count: int | None) -> list[Request[Any]]:
        ended = self._oldest(count)
        for request in ended:
            self._pop(request)
            request.status = GRANTED
        return ended

    patch.setattr(ConditionCore, "notify", notify)


def one_is_notified_whatever_the_count(patch: pytest.MonkeyPatch) -> None:
    intact = ConditionCore.notify
    patch.setattr(ConditionCore, "notify", lambda self, count: intact(self, 1))


def the_lock_forgets_its_conditions_when_it_breaks(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(LockCore, "end", Arbiter.end)


def the_heir_of_a_notification_is_sent_to_the_end(patch: pytest.MonkeyPatch) -> None:
    def replace(self: Any, request: Request[Any], successor: Request[Any]) -> None:
        self.leave(request)
        self.join(successor)

    patch.setattr(Arbiter, "replace", replace)


def the_youngest_are_notified_first(patch: pytest.MonkeyPatch) -> None:
    def oldest(self: ConditionCore, count: int | None) -> list[Request[Any]]:
        return list(self.queue)[::-1][:count]

    patch.setattr(ConditionCore, "_oldest", oldest)
