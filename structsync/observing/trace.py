"""Since when a task waits for, or holds, a primitive, and from which line of the program."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from trio.lowlevel import enable_ki_protection

from structsync._runtime.events import PrimitiveEvent, observe
from structsync._runtime.reports import acquired_at

from .holds import Holds
from .per_primitive import PerPrimitive
from .places import Place, place_of, text_of


class Noted(NamedTuple):
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
        # By the request, until an event says how it ended.
        self._waits: PerPrimitive[Noted] = PerPrimitive()

    def note(self, event: PrimitiveEvent) -> None:
        """Take an event in: the observer."""
        kind, live = event.kind, event.primitive
        if kind == "released":
            self._held.released(event)
        elif kind == "requested":
            noted = Noted(event.time, place_of(event.task))
            self._waits.to_write(_home_of(event.request, live))[event.request] = noted
        elif kind in _ENDS:
            began = self._waits.of(_home_of(event.request, live)).pop(event.request, None)
            if kind == "granted":
                place = began.place if began else place_of(event.task)
                self._held.granted(event, Noted(event.time, place))

    def wait_of(self, live: Any, request: Hashable) -> Noted | None:
        """Return when and where a request was made that waits for a primitive, if that was seen."""
        return self._waits.of(_home_of(request, live)).get(request)

    def hold_of(self, live: Any, who: Hashable) -> Noted | None:
        """Return when it was granted what it has held longest, and where it had requested that."""
        taken = self._held.of(live).get(who)
        return taken[0][0] if taken else None

    def acquired_at(self, live: Any, who: Hashable) -> list[str]:
        """Return the lines at which it requested what it holds."""
        lines = [noted.line for noted, _ in self._held.of(live).get(who, ())]
        return list(dict.fromkeys(line for line in lines if line is not None))


def _home_of(request: object, live: Any) -> Any:
    """Return where a request is noted: a wait on a condition with the lock, whose queue it joins."""
    return getattr(request, "primitive", live)


_ENDS = ("granted", "withdrawn", "broken")

#: Those that are on, the one that was opened last at the end.
traces: list[Trace] = []


@contextmanager
@enable_ki_protection
def trace_waits() -> Iterator[None]:
    """Record when and at which line each request is made, while the block runs.

    :func:`snapshot`, :func:`show` and the messages of :func:`deadlock_guard` then say for how long a task
    has waited or held something, and where it made the request; :exc:`PermitLeakError` names the lines at
    which a task acquired what it did not release. Each request costs some microseconds. Blocks may be
    nested. Requests made before the block are not known.
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
