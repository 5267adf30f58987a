"""A rule may look at the call: then a younger call of an entry may start where an older one is disabled.

All calls that take are of one entry, and a synchronizer disables those that want more than there is. What there
is, its triggers count. Each task makes one call; a call that waits may withdraw, and one that is inside leaves. The
state is the monitor, what there is, and which calls are inside.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from structsync import Status
from structsync._core.monitors.entry import EntryCore, Guard, Invocation, Trigger
from structsync._core.monitors.monitor import MonitorCore
from structsync._core.monitors.synchronizer import Rules, SynchronizerCore
from structsync._core.queue.request import Request
from structsync.checking import Spec, action, invariant, start

# ==== Bounds ====

# Two that want much, so that an older one is passed and another stays; one that wants little, and comes
# before, between and after them; and two that put, so that there is enough for either.
CHANGES = {"takes two": -2, "takes two too": -2, "takes one": -1, "puts one": 1, "puts two": 2}
MOST = 2  # what there is at most


def idle(spec: RequestsSpec) -> list[str]:
    busy = {*spec.inside, *spec.waiting()}
    return [who for who in CHANGES if who not in busy]


def waiting(spec: RequestsSpec) -> list[str]:
    return spec.waiting()


class Store:
    """A monitor, what there is, and the rules: one part of the state."""

    rules: type[Rules] = Rules

    def __init__(self) -> None:
        self.monitor = MonitorCore()
        self.stock = 0
        entries = {False: EntryCore("take"), True: EntryCore("put")}
        self.calls = {
            who: Invocation(entries[change > 0], who, (change,)) for who, change in CHANGES.items()
        }
        synchronizer = SynchronizerCore()
        for entry in entries.values():
            rules = self.rules(entry, self.monitor, None)
            synchronizer.trigger(rules, Trigger(self._count, reads_request=True))
            if entry.name == "take":
                synchronizer.disable(rules, Guard(self._lacks, reads_request=True))

    def _lacks(self, call: Invocation) -> bool:
        return bool(self.stock + call.args[0] < 0)

    def _count(self, call: Invocation) -> None:
        self.stock = min(self.stock + call.args[0], MOST)

    def snapshot(self) -> Any:
        return (self.monitor.snapshot(), self.stock)

    def restore(self, snapshot: Any) -> None:
        monitor, self.stock = snapshot
        self.monitor.restore(monitor)


class RequestsSpec(Spec):
    """A store under a synchronizer, and which calls were let in and have not left."""

    core: Store = start(Store)
    inside: tuple[str, ...] = start(tuple)

    # ==== Words that actions use ====

    def note(self, ended: Iterable[Request[Any]]) -> None:
        """Record what the core ended."""
        self.inside += tuple([one.waiter for one in ended if one.status is Status.GRANTED])

    def waiting(self) -> list[str]:
        return [one.waiter for one in self.core.monitor.queue]

    # ==== Actions ====

    @action(who=idle)
    def call(self, who: str) -> None:
        self.note(self.core.monitor.arrive(self.core.calls[who], who)[1])

    @action(who=waiting)
    def withdraw(self, who: str) -> None:
        request = next(one for one in self.core.monitor.queue if one.waiter == who)
        self.note(self.core.monitor.withdraw(request) or ())

    @action(who=lambda spec: list(spec.inside), fair=True)
    def leave(self, who: str) -> None:
        self.inside = tuple([one for one in self.inside if one != who])
        self.note(self.core.monitor.release(self.core.calls[who]))

    # ==== Invariants ====

    @invariant
    def nothing_that_may_start_waits(self) -> bool:
        """No lost wakeup: no call that is not disabled waits behind those that are (I3)."""
        if self.inside:
            return True
        return not any(self.core.stock + CHANGES[who] >= 0 for who in self.waiting())

    @invariant
    def no_call_takes_what_is_not_there(self) -> bool:
        """No call takes more than there is: the rule looks at the very call that is about to start."""
        return self.core.stock >= 0
