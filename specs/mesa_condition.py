"""Notify and go on: what the notifier saw may be gone when the waiter is inside again (Mesa).

A notification moves the oldest waiter to the end of the queue, and the notifier stays inside. Others are
inside in between, so the waiter has to look again, and to wait again where it finds nothing. That this
*happens* is checked too (`every_action_fires`, of `wait_again`): in the discipline of Hoare, which
`monitor_condition.py` is about, it cannot. Hoare's way of passing the monitor on is planted here as a
fault, and the way of Mesa there.

Whoever is cancelled after it was notified gives its position in the queue to its *heir*, the oldest that waits;
then, as whoever is cancelled before, it goes to the end of the queue and raises once it is inside.
"""

from __future__ import annotations

from typing import Any

from structsync.checking import action, leads_to, start, step

from ._monitor_with_condition import (
    BACK,
    IDLE,
    INSIDE,
    NOTIFIED,
    RAISES,
    TASKS,
    WAITS,
    StageSpec,
    at,
)


class MesaSpec(StageSpec):
    """One who notifies goes on, and one who was notified stands in the queue."""

    forgets = ("cancelled",)
    cancelled: tuple[str, ...] = start(tuple)  # whom the last action cancelled; then forgotten

    def heirs(self, who: str) -> list[str]:
        """Return who takes over if this one is cancelled: one, or nobody."""
        return self.waiters()[:1] if self.place(who) == NOTIFIED else []

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
    def whoever_notifies_goes_on(self, before: Any) -> bool:
        """Whoever is inside stays there until it leaves or waits, and lets nobody in before that."""
        return all(
            self.core.monitor.owner == who and not self.granted()
            for who in at(INSIDE, BACK)(before)
            if self.place(who) not in (IDLE, WAITS)
        )

    @step
    def the_notified_go_to_the_end_of_the_queue(self, before: Any) -> bool:
        """Nobody in the queue is passed by somebody notified; an heir stands where the cancelled stood."""
        expected: list[str] = []
        for who in before.queue():
            expected += before.heirs(who) if who in self.cancelled else [who]
        return [*self.granted(), *self.queue()][: len(expected)] == expected

    @step
    def the_oldest_is_notified(self, before: Any) -> bool:
        """Whoever leaves the condition without being cancelled came before all that stay."""
        waited = [who for who in before.waiters() if who not in self.cancelled]
        left = [who for who in waited if who not in self.waiters()]
        return left == waited[: len(left)]

    @step
    def no_notification_is_lost(self, before: Any) -> bool:
        """A cancelled waiter that was notified leaves an heir notified, if there is one (N1)."""
        return all(
            heir in (*self.granted(), *self.queue())
            for who in self.cancelled
            for heir in before.heirs(who)
        )

    @step
    def the_cancelled_come_last(self, before: Any) -> bool:
        """A cancelled waiter is the last in the queue, or inside already."""
        now = [*self.granted(), *self.queue()]
        return not self.cancelled or now[-1:] == list(self.cancelled)

    # ==== Temporal properties ====

    @leads_to(who=TASKS)
    def who_is_in_queue_gets_in(self, who: str) -> tuple[bool, bool]:
        """If those inside leave or wait, whoever is in the queue gets in eventually, notified or not."""
        waits = who in self.queue()
        return waits, not waits
