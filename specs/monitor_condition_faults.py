"""Other disciplines and broken ones, planted in Hoare's: each must be found by the named property."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from structsync._core.monitors.hoare import HoareConditionCore
from structsync._core.monitors.monitor import MonitorCore
from structsync._core.queue.request import Request
from structsync.checking import fault

from ._broken_conditions import ReturnsWithoutTheLock, WaitWakesNoTask
from .monitor_condition import HoareSpec, MonitorWithHoareCondition

Signalled = tuple[Request[Any] | None, list[Request[Any]]]


class _Mesa(HoareConditionCore):
    def signal(self, claim: Any, waiter: Any) -> Signalled:
        self.notify(1)
        again: Request[Any] = Request(claim, -1, waiter)
        self.lock.join(again)
        return again, self.lock.release(claim)


class _SignallerJoinsTheQueue(HoareConditionCore):
    def signal(self, claim: Any, waiter: Any) -> Signalled:
        again, ended = super().signal(claim, waiter)
        if again is not None:
            monitor: Any = self.lock
            monitor.urgent.remove(again)
            monitor.join(again)
        return again, ended


class _SignallerStays(HoareConditionCore):
    def signal(self, claim: Any, waiter: Any) -> Signalled:
        again, ended = super().signal(claim, waiter)
        self.lock.owner = waiter
        return again, ended


class _ReturnsWithoutTheMonitor(ReturnsWithoutTheLock, HoareConditionCore):
    pass


class _WaitWakesNoTask(WaitWakesNoTask, HoareConditionCore):
    pass


class _NewestSignallerFirst(MonitorCore):
    def candidates(self) -> Iterator[Request[Any]]:
        while self.owner is None and self.urgent.tail is not None:
            yield self.urgent.tail
        yield from super().candidates()


class _QueueFirst(MonitorCore):
    def candidates(self) -> Iterator[Request[Any]]:
        yield from self.queue.candidates()
        yield from super().candidates()


class _SignalsNoTask(HoareConditionCore):
    def signal(self, claim: Any, waiter: Any) -> Signalled:
        return None, []


@fault(HoareSpec, "core", refuted_by="every_waiter_is_signalled")
class NoTaskIsSignalled(MonitorWithHoareCondition):
    """A signal lets no task in, as if none had waited."""

    def __init__(self) -> None:
        super().__init__(_SignalsNoTask)


@fault(HoareSpec, "core", refuted_by="each_task_is_in_the_right_queue")
class SignalledJoinTheQueue(MonitorWithHoareCondition):
    """A signal only moves the waiter to the end of the queue (Mesa)."""

    def __init__(self) -> None:
        super().__init__(_Mesa)


@fault(HoareSpec, "core", refuted_by="what_the_signaller_saw_still_holds")
class SignalledComeTooLate(SignalledJoinTheQueue):
    """A signalled waiter stands in the queue (Mesa), and another consumes what it was promised."""


@fault(HoareSpec, "core", refuted_by="each_task_is_in_the_right_queue")
class SignallersJoinTheQueue(MonitorWithHoareCondition):
    """A task that signals waits behind those in the queue."""

    def __init__(self) -> None:
        super().__init__(_SignallerJoinsTheQueue)


@fault(HoareSpec, "core", refuted_by="one_inside_at_a_time")
class TwoAfterASignal(MonitorWithHoareCondition):
    """The waiter goes on, and so does the task that signalled."""

    def __init__(self) -> None:
        super().__init__(_SignallerStays)


@fault(HoareSpec, "core", refuted_by="signallers_go_first")
class NewestSignallerFirst(MonitorWithHoareCondition):
    """Of the tasks that signalled the newest gets in first."""

    def __init__(self) -> None:
        super().__init__(monitor=_NewestSignallerFirst)


@fault(HoareSpec, "core", refuted_by="every_arrival_enters")
@fault(HoareSpec, "core", refuted_by="nothing_grantable_waits")
class WaitFreesNoTask(MonitorWithHoareCondition):
    """A task that waits frees the monitor, and none in the queue is let in."""

    def __init__(self) -> None:
        super().__init__(_WaitWakesNoTask)


@fault(HoareSpec, "core", refuted_by="each_task_is_in_the_right_queue")
class CancelledIsForgotten(MonitorWithHoareCondition):
    """A cancelled waiter does not get in again (N4: returns without the lock)."""

    def __init__(self) -> None:
        super().__init__(_ReturnsWithoutTheMonitor)


@fault(HoareSpec, "core", refuted_by="a_signaller_enters_again")
class TheQueueGoesFirst(MonitorWithHoareCondition):
    """A task that signalled gets in only when no task is in the queue."""

    def __init__(self) -> None:
        super().__init__(monitor=_QueueFirst)
