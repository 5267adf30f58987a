"""Locks with conditions, latches and barriers that several processes share: what is waited for there.

What is promised of all of them, their state, actions and bounds, are in `shared_sessions.py`. A task that waits on a
condition has a second request there, under its name and "waits".
"""

from __future__ import annotations

from typing import Any, ClassVar, cast

from structsync._core.primitives.latch import LatchCore
from structsync._core.shared.operations import Verb, Want
from structsync.checking import action, implies, invariant, start, step

from ._shared import Replica
from .shared_sessions import PEOPLE, HoldersSpec, SharedSpec, alive, holding

# ==== A lock with a condition ====


class SharedLockSpec(HoldersSpec):
    """One lock, and a condition on it."""

    wants: ClassVar = {who: [Want("lock", "lock")] for who in PEOPLE}
    core: Replica = start(Replica, PEOPLE)

    def agrees(self, name: str, core: Any) -> bool:
        if name != "lock":
            return True
        return self.keys_of(name) == ([] if core.owner is None else [core.owner])

    def notified(self) -> list[str]:
        """Return which waiters were notified, were not withdrawn, and wait for the lock now."""
        places = self.shared_core.places
        return [
            who
            for who in self.core.queue("lock")
            if who.endswith(" waits") and not places[self.core.keys[who]].raises
        ]

    @action(who=holding)
    def wait(self, who: str) -> None:
        self.core.wait(who, "changed")

    @action(who=holding, count=(1, None))
    def notify(self, who: str, count: int | None) -> None:
        self.core.notify(who, "changed", count)

    @action(who=lambda spec: [who for who in spec.core.keys if who.endswith(" waits")])
    def withdraw_wait(self, who: str) -> None:
        self.core.withdraw(who)

    @step
    def a_notification_outlives_its_waiter(self, before: Any) -> bool:
        """For each notified task that dies or is cancelled another is notified, if any still waits."""
        granted = [who for who, _ in self.core.granted]
        waited = before.core.queue("changed")
        lost = {*before.notified()} - {*self.notified(), *granted}
        heirs = [who for who in waited if who in (*self.notified(), *granted)]
        still_waiting = [who for who in waited if who in self.core.queue("changed")]
        return implies(bool(lost), len(heirs) == len(lost) or not still_waiting)


# ==== What is waited for and not held ====

COUNT = 2  # of the latch; so that it can be counted down by one, by two, and by too many
PARTIES = 2  # of three that come


class SharedLatchSpec(SharedSpec):
    """A latch that any session counts down; it is forgotten when no session is alive."""

    wants: ClassVar = {who: [Want("start", "latch", COUNT)] for who in PEOPLE}
    core: Replica = start(Replica, PEOPLE)
    counted: int = start(int)  # how far it was counted down

    def keeps(self) -> bool:
        return self.counted > 0

    @action(session=alive, by=(1, 2, 3))
    def count_down(self, session: str, by: int) -> None:
        self.core.deliver(Verb.COUNT_DOWN, session, Want("start", "latch", COUNT, by))
        self.core.hear()
        if self.counted + by <= COUNT:
            self.counted += by

    @action(session=alive)
    def die(self, session: str) -> None:
        self.core.end(session)
        if not alive(self):
            self.counted = 0  # with no session to remember it

    @invariant
    def it_is_open_when_all_is_counted(self) -> bool:
        """What was counted down stays so, and no task waits once there is nothing left to count (I1)."""
        found = self.shared_core.named.get("start")
        left = COUNT if found is None else cast("LatchCore", found.core).count
        stays_counted = left == COUNT - self.counted
        return stays_counted and implies(left <= 0, not self.core.keys)


class SharedBarrierSpec(SharedSpec):
    """A barrier of two parties, for three clients that come."""

    wants: ClassVar = {who: [Want("round", "barrier", PARTIES)] for who in PEOPLE}
    core: Replica = start(Replica, PEOPLE)

    @step
    def a_round_is_let_in_as_a_whole(self, before: Any) -> bool:
        """Both parties of a round go on in one step, numbered in their order, or none does."""
        numbers = [one.value for one in self.core.outcomes if one.token]
        return numbers in ([], [*range(PARTIES)])
