"""How often, how long, and which task longest: numbers of each primitive, in bounded memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from threading import get_ident
from typing import Any, TypeAlias, final

import trio
from trio.lowlevel import Task, enable_ki_protection

from structsync._runtime.arguments import check_count
from structsync._runtime.events import PrimitiveEvent, observe
from structsync._runtime.live import Live

from .histogram import Durations
from .holds import Holds
from .places import name_of_task
from .primitive_metrics import PrimitiveMetrics
from .prometheus import exposition

#: What is called neither by its class nor by its name, because there are too many already.
OTHERS = "others"
#: What ends a request.
ENDS = ("granted", "withdrawn", "broken")
#: Of the primitives of one row so many are timed at once that wait.
MOST_TIMED = 20_000

Key: TypeAlias = tuple[str, str | None]


class _Row:
    """What is counted for one class and name."""

    __slots__ = (
        "clock",
        "counts",
        "ended",
        "holds",
        "longest_waiter",
        "untimed",
        "waiting",
        "waits",
    )

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.waits, self.holds = Durations(), Durations()
        self.longest_waiter: str | None = None
        # By the identities of the request and its primitive, the oldest first; the request is kept so that both have one.
        self.waiting: dict[tuple[int, int], tuple[object, float | None, Task | None]] = {}
        self.untimed = 0  # of the waiters, beyond the most that are timed
        # That of their run: the numbers may be read in another thread.
        self.clock: trio.abc.Clock | None = None
        self.ended: float | None = None  # by that clock

    def waited(self, seconds: float, task: Task | None) -> None:
        if self.waits.add(seconds) and task is not None:
            self.longest_waiter = name_of_task(task)

    def end(self) -> None:
        if self.clock is not None:
            self.ended = self.clock.current_time()

    def shown(self, key: Key) -> PrimitiveMetrics:
        now = self.ended
        if now is None and self.clock is not None:
            now = self.clock.current_time()
        counts, waiting = self.counts.copy(), list(self.waiting.values())
        _, since, oldest = waiting[0] if waiting else (None, None, None)
        return PrimitiveMetrics(
            kind=key[0],
            name=key[1],
            requested=counts["requested"],
            granted=counts["granted"],
            withdrawn=counts["withdrawn"],
            broken=counts["broken"],
            released=counts["released"],
            waiting=len(waiting) + self.untimed,
            waits=self.waits.shown(),
            holds=self.holds.shown(),
            longest_waiter=self.longest_waiter,
            oldest_wait=None if since is None or now is None else now - since,
            oldest_waiter=None if oldest is None else name_of_task(oldest),
        )


@final
class Metrics:
    """The numbers of all primitives since :func:`observe.metrics` was entered.

    They no longer change once its block has ended. They may be read in any thread. A wait that has begun under one name
    also ends under it, if another one is assigned meanwhile.
    """

    def __init__(self, most: int) -> None:
        self._thread = get_ident()
        self._most = most
        self._rows: dict[Key, _Row] = {}
        # Of each request that is timed, because its primitive may have another name by its end.
        self._row_of_request: dict[tuple[int, int], _Row] = {}
        self._holds: Holds[tuple[float, trio.abc.Clock]] = Holds()

    def primitives(self) -> tuple[PrimitiveMetrics, ...]:
        """Return the numbers of each class and name, sorted by total waiting time, the longest first."""
        found = [row.shown(key) for key, row in list(self._rows.items())]
        return tuple(sorted(found, key=lambda one: (-one.waits.total, one.kind, one.name or "")))

    def row(self, live: Live[Any]) -> PrimitiveMetrics | None:
        """Return the numbers of a primitive, and of all that are counted together with it."""
        row = self._rows.get(_key_of(live))
        return None if row is None else row.shown(_key_of(live))

    def to_prometheus(self) -> str:
        """Return the numbers in the text format of Prometheus, version 0.0.4."""
        return exposition(self.primitives())

    def _end(self) -> None:
        for row in self._rows.values():
            row.end()

    def _note(self, event: PrimitiveEvent) -> None:
        """Take an event in: the observer."""
        if get_ident() != self._thread:  # another run, with another clock
            return
        # A request of a condition is also granted by the lock, in whose queue it goes on.
        kind, request = event.kind, (id(event.request), id(event.primitive))
        row = self._row_of_request.get(request) if kind in ENDS else None
        if row is None:
            row = self._row_of(event.primitive)
        row.counts[kind] += 1
        if kind == "requested":
            if not row.waiting and event.time is not None and type(event.request) is not object:
                row.clock = trio.lowlevel.current_clock()
            if len(row.waiting) < MOST_TIMED:
                row.waiting[request] = (event.request, event.time, event.task)
                self._row_of_request[request] = row
            else:
                row.untimed += 1
            return
        if kind == "released":
            for since, clock in self._holds.released(event):
                # By the clock of another run, it has held for any time.
                if event.time is not None and clock is trio.lowlevel.current_clock():
                    row.holds.add(event.time - since)
            return
        seen, asked, task = row.waiting.pop(request, (None, None, None))
        self._row_of_request.pop(request, None)
        if seen is None and row.untimed:
            row.untimed -= 1
        if kind == "granted" and event.time is not None:
            if asked is not None:
                # What never stood in a queue has a mere object as its request.
                is_at_once = type(event.request) is object
                row.waited(0.0 if is_at_once else event.time - asked, task)
            self._holds.granted(event, (event.time, trio.lowlevel.current_clock()))

    def _row_of(self, live: Any) -> _Row:
        key = _key_of(live)
        row = self._rows.get(key)
        if row is None:
            if len(self._rows) >= self._most:
                key = (OTHERS, None)
            row = self._rows.setdefault(key, _Row())
        return row


def _key_of(live: Live[Any]) -> Key:
    return type(live).__name__, live._name or None  # which Prometheus does not tell apart


#: Those that are on, the one that was opened last at the end.
open_metrics: list[Metrics] = []


def metrics(*, most: int = 1_000) -> AbstractContextManager[Metrics]:
    """Count and time what happens to every primitive while the block runs: ``observe.metrics()``."""
    check_count(most, "most")
    return _counting(most)


@contextmanager
@enable_ki_protection
def _counting(most: int) -> Iterator[Metrics]:
    found = Metrics(most)
    with observe(found._note):
        open_metrics.append(found)
        try:
            yield found
        finally:
            open_metrics.remove(found)
            found._end()
