"""Other disciplines and broken ones, planted in Mesa's: each must be found by the named property."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

from structsync._core.monitors.entry import Invocation
from structsync._core.monitors.monitor import MonitorCore
from structsync._core.primitives.condition import ConditionCore
from structsync._core.queue.request import Request
from structsync.checking import fault

from ._broken_conditions import CancelledKeepsItsPosition, HeirGoesToTheEnd, NoHeir, TakesTheNewest
from ._monitor_with_condition import MonitorWithCondition
from .mesa_condition import MesaSpec

Ended = list[Request[Any]]


class _Hoare(ConditionCore):
    def notify(self, count: int | None) -> Ended:
        monitor = cast(MonitorCore, self.lock)
        notified = self._oldest(count)
        for request in notified:
            self._pop(request)
            notifier = monitor.owner
            again = Invocation(monitor.reentry, notifier)
            monitor.hand_over(Request(again, -1, notifier), request)
        return notified


class _NotifiedComeFirst(ConditionCore):
    def notify(self, count: int | None) -> Ended:
        for request in self._oldest(count):
            self._pop(request)
            cast(MonitorCore, self.lock).urgent.append(request)
        return []


class _NewestFirst(MonitorCore):
    def candidates(self) -> Iterator[Request[Any]]:
        return iter(list(self.queue)[::-1])


@fault(MesaSpec, "core", refuted_by="the_notifier_goes_on")
def the_monitor_is_passed_on() -> MonitorWithCondition:
    """A notification lets the waiter in, and the notifier is to wait for it (Hoare)."""
    return MonitorWithCondition(_Hoare)


@fault(MesaSpec, "core", refuted_by="the_notified_go_to_the_end_of_the_queue")
def the_notified_come_first() -> MonitorWithCondition:
    """A task that is notified gets in before those in the queue."""
    return MonitorWithCondition(_NotifiedComeFirst)


@fault(MesaSpec, "core", refuted_by="the_notified_go_to_the_end_of_the_queue")
def the_heir_goes_to_the_end() -> MonitorWithCondition:
    """The notification is handed on, but its position in the queue is lost."""
    return MonitorWithCondition(HeirGoesToTheEnd)


@fault(MesaSpec, "core", refuted_by="the_oldest_is_notified")
def the_newest_is_notified() -> MonitorWithCondition:
    """A notification takes the newest task that waits, which came long after the oldest."""
    return MonitorWithCondition(TakesTheNewest)


@fault(MesaSpec, "core", refuted_by="no_notification_is_lost")
def notification_dies_with_the_cancelled_waiter() -> MonitorWithCondition:
    """Notified, then cancelled in the queue, and no task takes over (N1: trio.Condition)."""
    return MonitorWithCondition(NoHeir)


@fault(MesaSpec, "core", refuted_by="the_cancelled_come_last")
def cancelled_keeps_its_position() -> MonitorWithCondition:
    """A cancelled task keeps its position, and the one that can use the notification comes later."""
    return MonitorWithCondition(CancelledKeepsItsPosition)


@fault(MesaSpec, "core", refuted_by="every_queued_task_enters")
def the_newest_gets_in() -> MonitorWithCondition:
    """The queue is a stack, and the notified starve while others come."""
    return MonitorWithCondition(monitor=_NewestFirst)
