"""A run as trace events, for Perfetto and chrome://tracing."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from threading import get_ident
from typing import Any, final

import trio
from trio.lowlevel import Task, enable_ki_protection

from structsync._runtime.arguments import check_count
from structsync._runtime.events import PrimitiveEvent, observe
from structsync._runtime.runs import current_root

from .per_primitive import PerPrimitive
from .places import name_of_task, titled
from .spans import Span, Spans

#: The rows of tasks are those of one process, the queues those of another one: two headings.
TASKS, QUEUES = 1, 2
#: Not the number of a process: that row would be called its main thread.
FIRST_ROW = 11


@final
class Recording:
    """What was recorded while the block of :func:`recording` ran.

    Attributes:
      left_out: how many steps came after it was full.
    """

    left_out: int

    def __init__(self, most: int) -> None:
        self.left_out = 0
        self._most = most
        self._thread = get_ident()
        self._root: Task | None = None  # of the run that is recorded now
        self._last = 0.0  # when something happened last, on the clock of that run
        self._shift = 0.0  # from that clock to the time line of all runs
        self._is_open = True
        self._spans = Spans(self._ended)
        self._slices: list[tuple[Span, str]] = []
        self._lengths: list[tuple[float, str, int]] = []
        self._length_of: PerPrimitive[int] = PerPrimitive()
        self._total_of: Counter[str] = Counter()

    def to_trace_events(self) -> dict[str, Any]:
        """Return the trace events: an object of the JSON format that Perfetto reads.

        Each task is a row, with what it waited for and held as slices; where these overlap, the task
        has several rows. The number of waiters is a counter for each primitive. Times are
        microseconds of trio's clock, from the first step; each run has a clock of its own, and is placed
        where the one before it has ended.
        """
        spans = [*self._slices, *map(self._placed, self._spans.unfinished(self._now()))]
        spans.sort(key=lambda one: (one[0].since, -one[0].until))
        start = min(
            [one.since for one, _ in spans] + [time for time, _, _ in self._lengths], default=0.0
        )
        rows = _Rows(spans)
        slices = [
            _slice(one, title, row, start)
            for (one, title), row in zip(spans, rows.rows, strict=True)
        ]
        lengths = [
            _event("C", QUEUES, 0, f"waiting: {title}", _micro(time - start), {"waiting": length})
            for time, title, length in self._lengths
        ]
        return {
            "traceEvents": [*rows.headings(), *slices, *lengths],
            "displayTimeUnit": "ms",
            "otherData": {"steps left out": str(self.left_out)},
        }

    def write(self, path: str | Path) -> None:
        """Write the trace events into a file, which Perfetto opens."""
        Path(path).write_text(json.dumps(self.to_trace_events()), encoding="utf-8")

    def _note(self, event: PrimitiveEvent) -> None:
        """Take an event in: the observer."""
        if get_ident() != self._thread:  # of another run
            return
        if len(self._slices) + len(self._lengths) >= self._most:
            self.left_out += 1
            return
        if event.time is None:
            return
        if (root := current_root()) is not self._root:
            self._begin_run(root, event.time)
        self._spans.note(event)
        self._last = event.time
        self._note_length(event.primitive, event.time + self._shift)

    def _begin_run(self, root: Task | None, time: float) -> None:
        """End what the last run has left, and go on from there."""
        if self._root is not None:
            for span in self._spans.unfinished(self._last):
                self._ended(span)
            self._spans = Spans(self._ended)
            self._shift += self._last - time
        self._root = root

    def _now(self) -> float:
        """Return until when something is known, on the clock of the run that was recorded last."""
        is_in_it = self._root is not None and current_root() is self._root
        if is_in_it and self._is_open and not self.left_out:
            return trio.current_time()
        return self._last

    def _note_length(self, live: Any, time: float) -> None:
        """Note how many wait, where that has changed; primitives of one title have one counter."""
        title, length = titled(live), len(live._core.queue)
        before = self._length_of.of(live).get(title, 0)
        if before != length:
            self._length_of.to_write(live)[title] = length
            self._total_of[title] += length - before
            self._lengths.append((time, title, self._total_of[title]))

    def _ended(self, span: Span) -> None:
        if span.what == "hold" or span.until > span.since:  # not a wait of no time
            self._slices.append(self._placed(span))

    def _placed(self, span: Span) -> tuple[Span, str]:
        """Return a span of the run that is recorded now, on the time line of all, and what it is called."""
        shift = self._shift
        return span._replace(since=span.since + shift, until=span.until + shift), span.title


class _Rows:
    """Which rows a task has: slices of one row do not overlap."""

    def __init__(self, spans: list[tuple[Span, str]]) -> None:
        self._busy_until: dict[Task | None, list[float]] = {}
        keys = [self._key_for(span) for span, _ in spans]
        # Perfetto shows them by their numbers: those of one task stand below each other.
        numbers = [(one, n) for one, busy in self._busy_until.items() for n in range(len(busy))]
        self._row_of = {key: row for row, key in enumerate(numbers, FIRST_ROW)}
        #: In the order of the spans.
        self.rows = [self._row_of[key] for key in keys]

    def _key_for(self, span: Span) -> tuple[Task | None, int]:
        busy = self._busy_until.setdefault(span.task, [])
        for place, until in enumerate(busy):
            if until <= span.since:
                busy[place] = span.until
                return span.task, place
        busy.append(span.until)
        return span.task, len(busy) - 1

    def headings(self) -> Iterator[dict[str, Any]]:
        for process, name in ((TASKS, "tasks"), (QUEUES, "queues")):
            yield {"ph": "M", "pid": process, "name": "process_name", "args": {"name": name}}
        for (task, place), row in self._row_of.items():
            name = "no task" if task is None else name_of_task(task)
            heading = {"ph": "M", "pid": TASKS, "tid": row, "name": "thread_name"}
            yield {**heading, "args": {"name": f"{name} ({place + 1})" if place else name}}
            heading["name"] = "thread_sort_index"
            yield {**heading, "args": {"sort_index": row}}


def _slice(span: Span, title: str, row: int, start: float) -> dict[str, Any]:
    event = _event("X", TASKS, row, title, _micro(span.since - start), {"outcome": span.outcome})
    # Not the rounded difference: that might reach into the next slice of the row.
    end = _micro(span.until - start)
    return {**event, "cat": span.what, "dur": round(end - event["ts"], 3)}


def _event(
    phase: str, process: int, row: int, name: str, time: float, args: dict[str, Any]
) -> dict[str, Any]:
    return {"ph": phase, "pid": process, "tid": row, "name": name, "ts": time, "args": args}


def _micro(seconds: float) -> float:
    return round(seconds * 1e6, 3)


def recording(*, most: int = 200_000) -> AbstractContextManager[Recording]:
    """Record which tasks wait for and hold what while the block runs, as a trace to look at.

    ::

        with structsync.recording() as run:
            trio.run(main)
        run.write("run.json")  # open it in https://ui.perfetto.dev or chrome://tracing

    The memory is bounded: what comes after ``most`` steps is only counted. Runs in the thread that entered
    the block are recorded, one after the other on one time line. Each request costs some microseconds more.

    Args:
      most: the number of slices and queue changes that are kept.

    Raises:
      TypeError: if ``most`` is not an int.
      ValueError: if it is less than 1.
    """
    check_count(most, "most")
    return _recording(most)


@contextmanager
@enable_ki_protection
def _recording(most: int) -> Iterator[Recording]:
    found = Recording(most)
    with observe(found._note):
        try:
            yield found
        finally:
            found._is_open = False
