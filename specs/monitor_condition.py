"""Signal and wait: what the signaller saw is still true when the waiter goes on (Hoare).

A signal passes the monitor to the oldest waiter in one step, and the signaller gets in again before
everybody in line. In the discipline of Mesa the waiter would stand at the end of the line instead; that
is planted here as a fault. (The line of that discipline is the one that `condition.py` is about.)
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from structsync import Status
from structsync._core.entry import EntryCore, Invocation
from structsync._core.hoare import HoareConditionCore
from structsync._core.monitor import MonitorCore
from structsync._core.request import Request
from structsync.checking import Spec, action, invariant, invariants, leads_to, start, step

# ==== Bounds ====

# One who signals, two who wait, one more who comes meanwhile.
TASKS = ("a", "b", "c", "d")
IDLE, ENTERS, INSIDE, WAITS, SIGNALLED, URGENT, RAISES = (
    "idle", "enters", "inside", "waits", "signalled", "urgent", "raises",
)  # fmt: skip


class Stage:
    """A monitor and a condition in it, as one part of the state."""

    def __init__(
        self,
        condition: type[HoareConditionCore] = HoareConditionCore,
        monitor: type[MonitorCore] = MonitorCore,
    ) -> None:
        self.monitor = monitor()
        lock: Any = self.monitor
        self.condition = condition(lock)
        entry = EntryCore("entry")
        self.calls = {who: Invocation(entry, who) for who in TASKS}
        self.again = {who: Invocation(self.monitor.reentry, who) for who in TASKS}

    def snapshot(self) -> Any:
        return (self.monitor.snapshot(), self.condition.snapshot())

    def restore(self, snapshot: Any) -> None:
        self.monitor.restore(snapshot[0])
        self.condition.restore(snapshot[1])


def at(*places: str) -> Any:
    """Return the function that tells who is at one of these places."""

    def who(spec: HoareSpec) -> list[str]:
        return [who for who, where in zip(TASKS, spec.places, strict=True) if where in places]

    return who


class HoareSpec(Spec):
    """Where everybody is, and whether there is what they wait for."""

    core: Stage = start(Stage)
    places: tuple[str, ...] = start(lambda: (IDLE,) * len(TASKS))
    item: bool = start(bool)
    ended: tuple[Request[Any], ...] = start(tuple)  # what the last action ended; then forgotten

    def canonical(self, snapshot: Any) -> Any:
        return snapshot._replace(ended=())

    # ==== Words that actions use ====

    def move(self, who: str, place: str) -> None:
        self.places = tuple(
            [place if one == who else where for one, where in zip(TASKS, self.places, strict=True)]
        )

    def place(self, who: str) -> str:
        return self.places[TASKS.index(who)]

    def line(self) -> list[str]:
        return [request.waiter for request in self.core.monitor.line.values()]

    def urgent(self) -> list[str]:
        return [request.waiter for request in self.core.monitor.urgent]

    def waiters(self) -> list[str]:
        return [request.waiter for request in self.core.condition.line.values()]

    def granted(self) -> list[str]:
        return [one.waiter for one in self.ended if one.status is Status.GRANTED]

    def note(self, ended: Iterable[Request[Any]]) -> None:
        self.ended = tuple(ended)
        for who in self.granted():
            self.move(who, INSIDE)

    # ==== Actions ====

    @action(who=at(IDLE))
    def enter(self, who: str) -> None:
        self.move(who, ENTERS)
        request = self.core.monitor.submit(self.core.calls[who], waiter=who)
        self.note([request] if request.status is not Status.PENDING else [])

    @action(who=at(INSIDE), fair=True)
    def leave(self, who: str) -> None:
        self.move(who, IDLE)
        self.note(self.core.monitor.release(self.core.calls[who]))

    @action(who=at(INSIDE))
    def wait(self, who: str) -> None:
        self.move(who, WAITS)
        self.note(self.core.condition.wait(self.core.again[who], who)[1])

    @action(who=at(INSIDE))
    def make_and_signal(self, who: str) -> None:
        self.item = True
        for oldest in self.waiters()[:1]:
            self.move(oldest, SIGNALLED)
            self.move(who, URGENT)
        self.note(self.core.condition.signal(self.core.again[who], who)[1])

    @action(who=at(INSIDE), when=lambda spec, who: spec.item)
    def consume(self, who: str) -> None:
        self.item = False
        self.note([])

    @action(who=at(WAITS))
    def cancel(self, who: str) -> None:
        self.move(who, RAISES)
        lines = self.core.condition.line.values()
        request = next(one for one in lines if one.waiter == who)
        self.note(self.core.condition.cancel(request) or ())

    # ==== Invariants ====

    @invariant
    def one_inside_at_a_time(self) -> bool:
        """At most one was let in and has not left, and the monitor knows who."""
        inside = at(INSIDE)(self)
        return len(inside) <= 1 and self.core.monitor.owner == (inside[0] if inside else None)

    @invariant
    def nothing_grantable_waits(self) -> bool:
        """No lost wakeup: a free monitor has nobody in line and nobody who signalled (I3)."""
        return invariants.nothing_grantable_waits(self.core.monitor)

    @invariant
    def everybody_stands_in_the_right_line(self) -> bool:
        """Who signalled is urgent, who comes or raises is in line, and who waits waits."""
        lines = (self.urgent(), self.line(), self.waiters())
        places = (at(URGENT), at(ENTERS, RAISES), at(WAITS))
        return all(sorted(one) == who(self) for one, who in zip(lines, places, strict=True))

    # ==== Step properties ====

    @step
    def what_the_signaller_saw_still_holds(self, before: Any) -> bool:
        """Whoever was signalled finds what it waited for."""
        return self.item or not any(before.place(who) == SIGNALLED for who in self.granted())

    @step
    def signallers_go_first(self, before: Any) -> bool:
        """Nobody in line gets in before those who signalled, the oldest first."""
        urgent = before.urgent()
        return all(
            who == urgent[0] for who in self.granted() if urgent and who not in before.waiters()
        )

    # ==== Temporal properties ====

    @leads_to(who=TASKS)
    def who_signalled_gets_in_again(self, who: str) -> tuple[bool, bool]:
        """If those inside leave, whoever signalled gets in again some day."""
        waits = self.place(who) == URGENT
        return waits, not waits
