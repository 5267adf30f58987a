"""Since when a task waits for, or holds, a primitive, and from which line of the program."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import trio
from trio.lowlevel import enable_ki_protection

from structsync._core.primitives.rwlock import Access
from structsync._runtime.events import PrimitiveEvent, observe

from .per_primitive import PerPrimitive
from .places import Place, place_of, text_of


@dataclass(frozen=True, slots=True)
class Noted:
    """A moment, on trio's clock, and a place in the program, as far as they are known."""

    since: float | None = None
    place: Place | None = None

    @property
    def line(self) -> str | None:
        """The place as text."""
        return text_of(self.place)


class Trace:
    """Notes what is held and waited for, from the events; forgets what has ended."""

    def __init__(self) -> None:
        self._held: PerPrimitive[Noted] = PerPrimitive()
        self._waits: PerPrimitive[Noted] = PerPrimitive()

    def note(self, event: PrimitiveEvent) -> None:
        """Take an event in: the observer."""
        if event.kind not in _OF_REQUESTS:
            return
        who = _who(event.claim, event.task)
        if event.kind == "requested":
            self._waits.to_write(event.primitive)[who] = Noted(event.time, place_of(who))
            return
        noted = self._waits.of(event.primitive).pop(who, None)
        held = self._held.to_write(event.primitive)
        if event.kind == "granted":
            place = noted.place if noted else place_of(who)
            held.setdefault(who, Noted(event.time, place))
            if len(held) > MOST_HOLDS:  # of permits that nobody is meant to give back
                del held[next(iter(held))]
        elif event.kind == "released":
            held.pop(who, None)

    def wait_of(self, live: Any, who: Hashable) -> Noted | None:
        """Return when and where a task has begun to wait for a primitive, if that was seen."""
        return self._waits.of(live).get(who)

    def hold_of(self, live: Any, who: Hashable) -> Noted | None:
        """Return when it was granted what it holds, and where it had asked for that."""
        return self._held.of(live).get(who)


#: Of one primitive so many holders are remembered, the latest.
MOST_HOLDS = 10_000

#: What happens to one request; the others are of the primitive as a whole.
_OF_REQUESTS = ("requested", "granted", "withdrawn", "broken", "released")

#: Those that are on, the one that was opened last at the end.
traces: list[Trace] = []


@contextmanager
@enable_ki_protection
def trace_waits() -> Iterator[None]:
    """Note for every request when it was made and from which line, while the block runs.

    :func:`snapshot`, :func:`show` and the messages of :func:`deadlock_guard` then say since when
    a task waits or holds, and where that was asked for. Each request costs some microseconds.
    Blocks may be nested; what was requested before the block is not known.
    """
    trace = Trace()
    with observe(trace.note):
        traces.append(trace)
        try:
            yield
        finally:
            traces.remove(trace)


def _who(claim: Any, task: Hashable) -> Hashable:
    """Return whose claim it is: a lock's claims say so themselves."""
    if isinstance(claim, Access):
        return claim.claimant
    return claim if isinstance(claim, trio.lowlevel.Task) else task
