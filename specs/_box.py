"""The state of the monitor's specification: a box with room for two items in a monitor, and a call for each task."""

from __future__ import annotations

from typing import Any

from structsync._core.monitors.entry import EntryCore, Guard, Invocation
from structsync._core.monitors.monitor import MonitorCore

ROOM = 2  # full, empty, and one item in between, where a put is permitted and a take of one

# Each task makes one call, of this entry with these arguments.
CALLS: dict[str, tuple[str, tuple[int, ...]]] = {
    "puts": ("put", ()),
    "puts too": ("put", ()),
    "risks it": ("fragile", ()),
    "takes one": ("take", (1,)),
    "takes two": ("take", (2,)),
    "looks": ("look", ()),
}


class Defect(Exception):
    """What the fragile guard raises."""


class BoxCore(MonitorCore):
    """A monitor whose guards look at ``items``; guards and entries that change are part of its state."""

    items: int

    def __init__(self) -> None:
        super().__init__()
        self.items = 0
        self.may_put = Guard(lambda: self.items < ROOM)
        guards = {
            "put": self.may_put,
            "take": Guard(self._may_take, reads_request=True),
            "fragile": Guard(self._fragile),
            "look": None,
        }
        self.guards = guards
        self.entries = {name: EntryCore(name, guard) for name, guard in guards.items()}
        # Made once: a call is equal to itself alone.
        self.calls = {
            who: Invocation(self.entries[name], who, arguments)
            for who, (name, arguments) in CALLS.items()
        }

    def _may_take(self, call: Invocation) -> bool:
        number: int = call.args[0]
        return number <= self.items

    def _fragile(self) -> bool:
        if self.items == ROOM:
            raise Defect
        return False

    def snapshot(self) -> Any:
        """Return plain data: of a call its name, of a guard whether it is in force."""
        core: Any = super().snapshot()
        (state, cause, queue, ranks), urgent = core
        entries = tuple([(one.guard is not None, one.cause) for one in self.entries.values()])
        return (state, cause, tuple([who for _, who in queue]), ranks), urgent, entries

    def restore(self, snapshot: Any) -> None:
        (state, cause, queue, ranks), urgent, entries = snapshot
        calls = tuple([(self.calls[who], who) for who in queue])
        super().restore(((state, cause, calls, ranks), urgent))
        for one, (guarded, why) in zip(self.entries.values(), entries, strict=True):
            one.guard, one.cause = self.guards[one.name] if guarded else None, why
