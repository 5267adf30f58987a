"""Waits and holds as spans of time, each told when it has ended."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from threading import get_ident
from typing import Any, Literal, NamedTuple, TypeAlias

from trio.lowlevel import Task

from structsync._runtime.events import PrimitiveEvent

from .holds import Holds
from .places import titled

#: So many requests are remembered at once that wait.
MOST_WAITING = 100_000

Outcome: TypeAlias = Literal["granted", "withdrawn", "broken", "released", "unfinished"]


class Span(NamedTuple):
    """From when to when a task has waited for, or held, a primitive."""

    what: Literal["wait", "hold"]
    primitive: Any
    task: Task | None
    since: float
    until: float
    outcome: Outcome
    request: object = None
    """Of a wait, which request it was: what came with ``requested``."""

    @property
    def title(self) -> str:
        """What it is called: ``waits for Lock 'ledger'``."""
        return f"{'waits for' if self.what == 'wait' else 'holds'} {titled(self.primitive)}"


class Spans:
    """Makes spans from the events of the thread in which it was made: an observer."""

    def __init__(self, ended: Callable[[Span], object]) -> None:
        self._thread = get_ident()
        self._ended = ended
        # By the request and the primitive: one of a condition is granted by the lock, too, where it goes on.
        self._waiting: dict[tuple[int, int], tuple[PrimitiveEvent, float]] = {}
        self._holds: Holds[float] = Holds()

    def note(self, event: PrimitiveEvent) -> None:
        """Take an event in, and tell of each span that it ends."""
        if get_ident() != self._thread or event.time is None:  # another clock, or none
            return
        kind, live = event.kind, event.primitive
        request = id(event.request), id(live)
        if kind == "requested":
            # What is granted at once never stood in a queue: its request is a mere object.
            if type(event.request) is not object and len(self._waiting) < MOST_WAITING:
                self._waiting[request] = (event, event.time)
        elif kind == "released":
            for since in self._holds.released(event):
                self._ended(Span("hold", live, event.task, since, event.time, "released"))
        elif kind in ("granted", "withdrawn", "broken"):
            asked, since = self._waiting.pop(request, (None, 0.0))
            if asked is not None:
                self._ended(Span("wait", live, asked.task, since, event.time, kind, event.request))
            if kind == "granted":
                self._holds.granted(event, event.time)

    def unfinished(self, now: float) -> Iterator[Span]:
        """Yield what is waited for and held still, as if it ended now."""
        for one, since in list(self._waiting.values()):
            yield Span("wait", one.primitive, one.task, since, now, "unfinished", one.request)
        for live, who, since in self._holds.all():
            task = who if isinstance(who, Task) else None
            yield Span("hold", live, task, since, now, "unfinished")
