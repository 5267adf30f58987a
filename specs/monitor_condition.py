"""Signal and wait: what the signaller saw is still true when the waiter goes on (Hoare).

The state and the bounds are those of `_monitor_with_condition.py`. A signal passes the monitor to the oldest waiter in
one step, and the signaller, which is *urgent* then, gets in again before all tasks in the queue. In the discipline of
Mesa, which `mesa_condition.py` is about, the waiter is at the end of the queue instead; that is planted here as a
fault.

What is promised needs those inside to leave, and for a task that waits on the condition another that comes and
signals. Both are *strong* fairness: a task that signals is not inside until the other has left, so neither leaving nor
signalling stays possible; but each is possible again and again. Where all tasks wait, none is left to signal.
"""

from __future__ import annotations

from typing import Any

from structsync._core.monitors.hoare import HoareConditionCore
from structsync._core.monitors.monitor import MonitorCore
from structsync._core.primitives.condition import ConditionCore
from structsync.checking import action, leads_to, start, step

from ._monitor_with_condition import (
    ENTERS,
    INSIDE,
    RAISES,
    SIGNALLED,
    TASKS,
    URGENT,
    WAITS,
    MonitorWithCondition,
    MonitorWithConditionSpec,
    at,
)


class MonitorWithHoareCondition(MonitorWithCondition):
    """A monitor, and a condition in it whose waiters are signalled."""

    def __init__(
        self,
        condition: type[ConditionCore] = HoareConditionCore,
        monitor: type[MonitorCore] = MonitorCore,
    ) -> None:
        super().__init__(condition, monitor)


class HoareSpec(MonitorWithConditionSpec):
    """A task that signals waits, and the task that was signalled goes on."""

    core: MonitorWithCondition = start(MonitorWithHoareCondition)

    # ==== Actions ====

    @action(who=at(INSIDE))
    def make_and_signal(self, who: str) -> None:
        self.item = True
        for oldest in self.waiters()[:1]:
            self.move(oldest, SIGNALLED)
            self.move(who, URGENT)
        self.note(self.core.condition.signal(self.core.again[who], who)[1])

    @action(who=at(WAITS))
    def cancel(self, who: str) -> None:
        self.move(who, RAISES)
        queues = self.core.condition.queue
        request = next(one for one in queues if one.waiter == who)
        self.note(self.core.condition.cancel(request) or ())

    # ==== Step properties ====

    @step
    def what_the_signaller_saw_still_holds(self, before: Any) -> bool:
        """A task that was signalled finds the item when it gets in, also in a later step than the signal."""
        were_signalled = [who for who in self.granted() if before.stage(who) == SIGNALLED]
        return self.item or not were_signalled

    @step
    def signallers_go_first(self, before: Any) -> bool:
        """Of the tasks that did not wait on the condition the oldest that signalled gets in first."""
        urgent = before.urgent()
        let_in = [who for who in self.granted() if who not in before.waiters()]
        return not urgent or all(who == urgent[0] for who in let_in)

    # ==== Temporal properties ====

    @leads_to(who=TASKS)
    def a_signaller_enters_again(self, who: str) -> tuple[bool, bool]:
        """If those inside leave, a task that signalled gets in again eventually."""
        waits = self.stage(who) == URGENT
        return waits, not waits

    @leads_to(who=TASKS, assuming={"leave": "strong"})
    def every_arrival_enters(self, who: str) -> tuple[bool, bool]:
        """If those inside leave, a task in the queue of the monitor gets in eventually."""
        waits = self.stage(who) in (ENTERS, RAISES)
        return waits, not waits

    @leads_to(who=TASKS, assuming={"leave": "strong", "make_and_signal": "strong", "enter": "weak"})
    def every_waiter_is_signalled(self, who: str) -> tuple[bool, bool]:
        """If those inside signal, a task that waits goes on eventually, or all wait and none is left to signal."""
        waits = self.stage(who) == WAITS
        all_wait = at(WAITS)(self) == [*TASKS]
        return waits, not waits or all_wait
