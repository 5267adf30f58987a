"""Signal and wait: what the signaller saw is still true when the waiter goes on (Hoare).

A signal passes the monitor to the oldest waiter in one step, and the signaller gets in again before
everybody in the queue. In the discipline of Mesa, which `mesa_condition.py` is about, the waiter stands at
the end of the queue instead; that is planted here as a fault.

What is promised needs those inside to leave, and for who waits on the condition somebody who comes and signals. Both are
*strong* fairness: who signals is not inside until the other has left, so neither leaving nor signalling stays
possible; but each is possible again and again. Where all wait, nobody is left to signal.
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
    Stage,
    StageSpec,
    at,
)


class HoareStage(Stage):
    """A monitor and a condition in it on which others wait for a signal."""

    def __init__(
        self,
        condition: type[ConditionCore] = HoareConditionCore,
        monitor: type[MonitorCore] = MonitorCore,
    ) -> None:
        super().__init__(condition, monitor)


class HoareSpec(StageSpec):
    """One who signals waits, and one who was signalled goes on."""

    core: Stage = start(HoareStage)

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
        """Whoever was signalled finds what it waited for."""
        return self.item or not any(before.place(who) == SIGNALLED for who in self.granted())

    @step
    def signallers_go_first(self, before: Any) -> bool:
        """Nobody in the queue gets in before those who signalled, the oldest first."""
        urgent = before.urgent()
        return all(
            who == urgent[0] for who in self.granted() if urgent and who not in before.waiters()
        )

    # ==== Temporal properties ====

    @leads_to(who=TASKS)
    def who_signalled_gets_in_again(self, who: str) -> tuple[bool, bool]:
        """If those inside leave, whoever signalled gets in again eventually."""
        waits = self.place(who) == URGENT
        return waits, not waits

    @leads_to(who=TASKS, assuming={"leave": "strong"})
    def who_comes_gets_in(self, who: str) -> tuple[bool, bool]:
        """If those inside leave, whoever stands in the queue of the monitor gets in eventually."""
        waits = self.place(who) in (ENTERS, RAISES)
        return waits, not waits

    @leads_to(who=TASKS, assuming={"leave": "strong", "make_and_signal": "strong", "enter": "weak"})
    def who_waits_is_signalled(self, who: str) -> tuple[bool, bool]:
        """If those inside signal, whoever waits goes on eventually, unless nobody is left to signal."""
        waits = self.place(who) == WAITS
        return waits, not waits or at(WAITS)(self) == [*TASKS]
