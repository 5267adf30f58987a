"""Notify and go on: what the notifier saw may be gone when the waiter is inside again (Mesa).

The state and the bounds are those of `_monitor_with_condition.py`. A notification moves the oldest waiter to the end of
the queue, and the notifier stays inside. Others are inside in between, so the waiter has to look for the item again,
and to wait again where it finds none. That this *happens* is checked too (`every_action_fires`, of `wait_again`): in
the discipline of Hoare, which `monitor_condition.py` is about, it cannot. Hoare's way of passing the monitor on is
planted here as a fault, and the way of Mesa there.

A task that is cancelled after it was notified leaves its position in the queue to its *heir*, the oldest that waits;
then, as a task that is cancelled before, it goes to the end of the queue and raises once it is inside.

What is promised to tasks in the queue needs those inside to leave, or to go on when they are back (*fair* actions).
"""

from __future__ import annotations

from typing import Any

from structsync.checking import action, implies, leads_to, start, step

from ._monitor_with_condition import (
    BACK,
    IDLE,
    INSIDE,
    NOTIFIED,
    RAISES,
    TASKS,
    WAITS,
    MonitorWithConditionSpec,
    at,
)


class MesaSpec(MonitorWithConditionSpec):
    """A task that notifies goes on, and a task that was notified is in the queue."""

    forgets = ("cancelled",)
    cancelled: tuple[str, ...] = start(tuple)  # by the last action; then forgotten

    def heirs(self, who: str) -> list[str]:
        """Return the heir of a task, should it be cancelled: the oldest that waits, if there is one."""
        return self.waiters()[:1] if self.stage(who) == NOTIFIED else []

    # ==== Actions ====

    @action(who=at(INSIDE))
    def make_and_notify(self, who: str) -> None:
        self.item = True
        for oldest in self.waiters()[:1]:
            self.move(oldest, NOTIFIED)
        self.note(self.core.condition.notify(1))

    @action(who=at(BACK), fair=True, when=lambda spec, who: spec.item)
    def find_it(self, who: str) -> None:
        self.move(who, INSIDE)
        self.note([])

    @action(who=at(BACK), fair=True, when=lambda spec, who: not spec.item)
    def wait_again(self, who: str) -> None:
        self.wait(who)

    @action(who=at(WAITS, NOTIFIED))
    def cancel(self, who: str) -> None:
        core = self.core
        queues = (*core.condition.queue, *core.monitor.queue)
        request = next(one for one in queues if one.waiter == who)
        for heir in self.heirs(who):
            self.move(heir, NOTIFIED)
        self.move(who, RAISES)
        self.cancelled = (who,)
        self.note([request, *(core.condition.cancel(request) or ())])

    # ==== Step properties ====

    @step
    def the_notifier_goes_on(self, before: Any) -> bool:
        """A task inside stays inside until it leaves or waits, and no other is let in before that."""
        was_inside = at(INSIDE, BACK)(before)
        goes_on = [who for who in was_inside if self.stage(who) not in (IDLE, WAITS)]
        return all(self.core.monitor.owner == who and not self.granted() for who in goes_on)

    @step
    def the_notified_go_to_the_end_of_the_queue(self, before: Any) -> bool:
        """No task in the queue is passed by one that is notified; an heir has the position of the cancelled task."""
        expected: list[str] = []
        for who in before.queue():
            expected += before.heirs(who) if who in self.cancelled else [who]
        granted_and_waiting = [*self.granted(), *self.queue()]
        return granted_and_waiting[: len(expected)] == expected

    @step
    def the_oldest_is_notified(self, before: Any) -> bool:
        """The tasks that leave the condition, and are not cancelled, are the oldest that waited."""
        waited = [who for who in before.waiters() if who not in self.cancelled]
        left = [who for who in waited if who not in self.waiters()]
        oldest = waited[: len(left)]
        return left == oldest

    @step
    def no_notification_is_lost(self, before: Any) -> bool:
        """If a task that was notified is cancelled, its heir is notified instead, if it has one (N1)."""
        heirs = [heir for who in self.cancelled for heir in before.heirs(who)]
        return all(heir in self.granted() or heir in self.queue() for heir in heirs)

    @step
    def the_cancelled_come_last(self, before: Any) -> bool:
        """A task that is cancelled is the last in the queue, or inside already."""
        granted_and_waiting = [*self.granted(), *self.queue()]
        return implies(self.cancelled != (), granted_and_waiting[-1:] == [*self.cancelled])

    # ==== Temporal properties ====

    @leads_to(who=TASKS)
    def every_queued_task_enters(self, who: str) -> tuple[bool, bool]:
        """If those inside leave or wait, a task in the queue gets in eventually, notified or not."""
        waits = who in self.queue()
        return waits, not waits
