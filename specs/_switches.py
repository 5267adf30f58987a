"""The state of the synchronizer's specification: two monitors, at most one switch on, two calls that start together."""

from __future__ import annotations

from typing import Any, cast

from structsync import Status
from structsync._core.monitors.entry import EntryCore, Guard, Invocation, Trigger
from structsync._core.monitors.monitor import MonitorCore
from structsync._core.monitors.synchronizer import Rules, SynchronizerCore
from structsync._core.queue.group import settle_transitively
from structsync._core.queue.request import Request

Ended = list[Request[Any]]

# Each task makes one call: at which monitor, of which entry. The entries of one name have one rule.
CALLS: dict[str, tuple[int, str]] = {
    "on, here": (0, "on"),
    "on, there": (1, "on"),
    "off": (0, "off"),
    "fails": (0, "fragile"),
    "joins here": (0, "join"),
    "joins there": (1, "join"),
    "looks": (1, "look"),
}


class Defect(Exception):
    """What a trigger raises."""


class Switches:
    """The monitors, the rules over them, and what the triggers change, as one part of the state.

    Each transition is carried on to the other monitor at once, as the shell does it.
    """

    monitor: type[MonitorCore] = MonitorCore
    rules: type[Rules] = Rules

    def __init__(self) -> None:
        self.monitors = [self.monitor(), self.monitor()]
        self.entries = {place: EntryCore(place[1]) for place in dict.fromkeys(CALLS.values())}
        # Made once: a call is equal to itself alone.
        self.calls = {who: Invocation(self.entries[place], who) for who, place in CALLS.items()}
        self.synchronizer = SynchronizerCore()
        self.lit = 0
        self.ran: list[str] = []  # whose triggers ran in the last transition

    @property
    def ruled(self) -> bool:
        return bool(self.synchronizer.concerned)

    # ==== The rules ====

    def begin(self) -> None:
        """Enter the block of the synchronizer."""
        self.ran = []
        rules = {
            (at, name): self.rules(entry, self.monitors[at], at)
            for (at, name), entry in self.entries.items()
            if name != "look"
        }
        for (_, name), one in rules.items():
            if name == "on":
                self.synchronizer.disable(one, Guard(lambda: self.lit))
            self.synchronizer.trigger(one, Trigger(self._triggered, reads_request=True))
            if name == "fragile":
                self.synchronizer.trigger(one, Trigger(self._raise))
        self.synchronizer.atomic([rules[0, "join"], rules[1, "join"]])

    def end(self) -> Ended:
        """Leave the block."""
        self.ran = []
        self.lit = 0
        return [
            one for rules in self.synchronizer.end() for one in self.carried(rules.arbiter.settle())
        ]

    def _triggered(self, call: Invocation) -> None:
        self.ran.append(call.task)
        name = call.entry.name
        if name == "on":
            self.lit += 1
        elif name in ("off", "fragile"):
            self.lit = 0

    def _raise(self) -> None:
        raise Defect

    # ==== Transitions; each returns the requests that it ended, in both monitors ====

    def arrive(self, who: str) -> Ended:
        self.ran = []
        _, ended = self.monitors[CALLS[who][0]].arrive(self.calls[who], who)
        return self.carried(ended)

    def withdraw(self, who: str) -> Ended:
        self.ran = []
        request = self.request_of(who)
        return self.carried([request, *(self.monitors[CALLS[who][0]].withdraw(request) or ())])

    def leave(self, who: str) -> Ended:
        self.ran = []
        return self.carried(self.monitors[CALLS[who][0]].release(self.calls[who]))

    def close_join(self, at: int) -> Ended:
        """Close one of the entries that start together."""
        self.ran = []
        entry = self.entries[at, "join"]
        ended = self.monitors[at].remove(entry, "closed")
        rules = cast(Rules | None, entry.rules)
        for one in rules.bonded()[1:] if rules is not None else ():
            ended += one.arbiter.break_waiters_of(one.entry, "closed")
        return self.carried(ended)

    def carried(self, ended: Ended) -> Ended:
        """Return these requests, and all that end at the other monitor because of them."""
        return [*ended, *(one for _, others in settle_transitively(ended) for one in others)]

    # ==== Views ====

    def queue(self, at: int) -> list[str]:
        return [one.waiter for one in self.monitors[at].queue]

    def request_of(self, who: str) -> Request[Any]:
        queue = self.monitors[CALLS[who][0]].queue
        return next(one for one in queue if one.waiter == who)

    def snapshot(self) -> tuple[Any, ...]:
        causes = tuple([one.cause for one in self.entries.values()])
        return (tuple([one.snapshot() for one in self.monitors]), self.lit, self.ruled, causes)

    def restore(self, snapshot: tuple[Any, ...]) -> None:
        monitors, lit, ruled, causes = snapshot
        for one, its in zip(self.monitors, monitors, strict=True):
            one.restore(its)
        for entry in self.entries.values():
            entry.cause = None  # what is closed already cannot be bonded
        if ruled != self.ruled:
            if ruled:
                self.begin()
            else:
                self.synchronizer.end()
        for entry, cause in zip(self.entries.values(), causes, strict=True):
            entry.cause = cause
        self.lit = lit
        self.ran = []


def granted(ended: Ended) -> list[str]:
    return [one.waiter for one in ended if one.status is Status.GRANTED]
