"""Waiting inside a monitor until another task inside notifies or signals."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from functools import partial
from typing import TypeVar, cast, final

from trio.lowlevel import (
    Task,
    checkpoint_if_cancelled,
    current_task,
    enable_ki_protection,
)

from structsync._core.monitors.entry import Invocation
from structsync._core.monitors.hoare import HoareConditionCore
from structsync._core.monitors.monitor import MonitorCore
from structsync._core.primitives.condition import ConditionCore
from structsync._runtime import parking_together, releasing
from structsync._runtime.arguments import check_count, check_sync
from structsync._runtime.causes import Closed
from structsync._runtime.live import PrimitiveStatistics, name_of_claimant
from structsync._runtime.predicate import wait_for
from structsync._runtime.primitive import Primitive

T = TypeVar("T")


@final
@dataclass(frozen=True, slots=True)
class MonitorConditionStatistics(PrimitiveStatistics):
    """The state of a :class:`MonitorCondition`, for debugging.

    ``tasks_waiting`` counts the tasks that wait to be notified or signalled.

    Attributes:
      waiters: these tasks, the oldest first.
      tasks_waiting_to_enter: how many wait to enter its monitor, or to enter it again.
    """

    waiters: tuple[Task, ...]
    tasks_waiting_to_enter: int


@final
class MonitorCondition(Primitive[Invocation]):
    """A place to wait inside a monitor; made by :meth:`Monitor.condition`.

    A guard decides when a call may *start*; a condition is for a call that has to wait in the middle.

    Mesa, :meth:`notify`: the notifier continues, and the notified tasks re-enter in turn, behind all that
    are in the queue. Others may have been inside by then: check again what you waited for. Hoare,
    :meth:`signal`: the waiter continues in that very step, so what the signaller saw is still true, and the
    signaller waits.

    Fairness: the oldest waiter is next. Cancellation: a cancelled waiter re-enters, at the end of the queue
    and uncancellably, before it raises; its notification, if it had one, goes to the next waiter.
    """

    __slots__ = ("_monitor", "_monitor_core")
    _core: ConditionCore

    def __init__(
        self,
        monitor: Primitive[Invocation],
        kind: type[ConditionCore] = ConditionCore,
        name: str | None = None,
    ) -> None:
        self._monitor = monitor
        self._monitor_core = cast(MonitorCore, monitor._core)
        super().__init__(kind(self._monitor_core), name=name)

    @property
    def closed(self) -> bool:
        """Whether it, or its monitor, is closed."""
        return isinstance(self._core.cause, Closed) or self._monitor_core.cause is not None

    @enable_ki_protection
    async def wait(self) -> None:
        """Leave the monitor, wait for a notification or a signal, and enter again.

        Raises:
          RuntimeError: if this task is not inside the monitor.
          trio.ClosedResourceError: if the condition is closed, before or meanwhile, or the monitor
              is. The task is inside then, unless the monitor was closed meanwhile.
        """
        claim = self._reentry("wait")
        await checkpoint_if_cancelled()
        await parking_together.wait_notified(self, self._monitor, claim)

    @enable_ki_protection
    async def wait_for(self, predicate: Callable[[], T]) -> T:
        """Wait until ``predicate()`` is true, evaluating it now and after each :meth:`wait`.

        Returns:
          The value of the predicate that was true.

        Raises:
          TypeError: if the predicate is not a sync function.
          Exception: what the predicate raises; the task is inside the monitor then.
          RuntimeError, trio.ClosedResourceError: as :meth:`wait`; and RuntimeError in a predicate
              that changes a primitive.
        """
        check_sync(predicate, "predicate")
        self._core.refuse_unless_owner(current_task(), "wait")
        return await wait_for(self.wait, predicate)

    @enable_ki_protection
    def notify(self, n: int = 1) -> None:
        """Notify the ``n`` oldest waiters, or all if there are fewer; they join the end of the queue.

        Raises:
          RuntimeError: if this task is not inside the monitor, or its discipline is not ``"mesa"``.
          TypeError, ValueError: if ``n`` is not an int >= 0.
        """
        check_count(n, "n", least=0)
        self._notify(n)

    @enable_ki_protection
    def notify_all(self) -> None:
        """Notify all waiters.

        Raises:
          RuntimeError: as :meth:`notify`.
        """
        self._notify(None)

    def _notify(self, n: int | None) -> None:
        if isinstance(self._core, HoareConditionCore):
            raise RuntimeError("this monitor has the discipline 'hoare': use await signal()")
        self._reentry("notify")
        change = partial(self._core.notify, n)
        releasing.change(self, change, events=(("changed", ("notify", n)),))

    @enable_ki_protection
    async def signal(self) -> None:
        """Pass the monitor to the oldest waiter, wait until it is free again, and re-enter first.

        Of several signallers that wait to re-enter, the oldest is first. Without a waiter nothing happens.
        Fairness: signallers go ahead of the whole queue, so tasks that never stop signalling starve it.
        Cancellation: checked before the monitor is passed on, and not while this waits to re-enter.

        Raises:
          RuntimeError: if this task is not inside the monitor, or its discipline is not ``"hoare"``.
          trio.ClosedResourceError: if the monitor is closed meanwhile; the task is outside then.
        """
        if not isinstance(self._core, HoareConditionCore):
            raise RuntimeError("this monitor has the discipline 'mesa': use notify()")
        claim = self._reentry("signal")
        await checkpoint_if_cancelled()
        await parking_together.signal(self, self._monitor, claim)

    def _reentry(self, verb: str) -> Invocation:
        task: Task = current_task()
        self._core.refuse_unless_owner(task, verb)
        return Invocation(self._monitor_core.reentry, task)

    def statistics(self) -> MonitorConditionStatistics:
        """Return the state of this condition, for debugging."""
        waiters = tuple(request.waiter for request in self._core.queue)
        entering = self._monitor_core.count_waiting()
        return MonitorConditionStatistics(len(waiters), waiters, entering)

    def _describe(self) -> str:
        return f"on {self._monitor!r}"

    def _describe_plainly(self) -> str:
        return f"on {self._monitor._title()}"

    def _end(self, cause: Hashable) -> None:
        # Its waiters go on to the monitor's queue, and it is the monitor that may let one in.
        releasing.change(self, lambda: self._core.end(cause), wakes=self._monitor)

    def _details_of(self, claim: Invocation) -> dict[str, object]:
        return details_of_call(claim)

    def _balance(self) -> int:
        return 0  # what is held is the monitor, which answers for itself


def details_of_call(call: Invocation) -> dict[str, object]:
    """Return what an event tells of a call."""
    return {"entry": call.entry.name, "owner": name_of_claimant(call.task)}
