"""Since when a task waits for, or holds, a primitive, and from which line of the program."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from trio.lowlevel import enable_ki_protection

from structsync._runtime.events import PrimitiveEvent, observe
from structsync._runtime.reports import acquired_at

from .holds import Holds, holder_of
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
        self._held: Holds[Noted] = Holds()
        self._waits: PerPrimitive[Noted] = PerPrimitive()

    def note(self, event: PrimitiveEvent) -> None:
        """Take an event in: the observer."""
        if event.kind not in _OF_REQUESTS:
            return
        who = holder_of(event)
        if event.kind == "released":
            self._held.released(event)
        elif event.kind == "requested":
            self._waits.to_write(event.primitive)[who] = Noted(event.time, place_of(event.task))
        else:
            noted = self._waits.of(event.primitive).pop(who, None)
            if event.kind == "granted":
                place = noted.place if noted else place_of(event.task)
                self._held.granted(event, Noted(event.time, place))

    def wait_of(self, live: Any, who: Hashable) -> Noted | None:
        """Return when and where a task has begun to wait for a primitive, if that was seen."""
        return self._waits.of(live).get(who)

    def hold_of(self, live: Any, who: Hashable) -> Noted | None:
        """Return when it was granted what it has held longest, and where it had asked for that."""
        taken = self._held.of(live).get(who)
        return taken[0][0] if taken else None

    def acquired_at(self, live: Any, who: Hashable) -> list[str]:
        """Return the lines at which it asked for what it holds."""
        lines = [noted.line for noted, _ in self._held.of(live).get(who, ())]
        return list(dict.fromkeys(line for line in lines if line is not None))


#: What happens to one request; the others are of the primitive as a whole.
_OF_REQUESTS = ("requested", "granted", "withdrawn", "broken", "released")

#: Those that are on, the one that was opened last at the end.
traces: list[Trace] = []


@contextmanager
@enable_ki_protection
def trace_waits() -> Iterator[None]:
    """Note for every request when it was made and from which line, while the block runs.

    :func:`snapshot`, :func:`show` and the messages of :func:`deadlock_guard` then say since when
    a task waits or holds, and where that was asked for; :exc:`PermitLeakError` says at which lines a
    task acquired what it did not release. Each request costs some microseconds.
    Blocks may be nested; what was requested before the block is not known.
    """
    trace = Trace()
    with observe(trace.note):
        traces.append(trace)
        acquired_at.append(trace.acquired_at)
        try:
            yield
        finally:
            traces.remove(trace)
            acquired_at.remove(trace.acquired_at)
