"""Waits and holds as metrics and spans of OpenTelemetry; needs ``structsync[otel]``."""

from __future__ import annotations

import time
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

import trio

from structsync._naming import name_what_is_loaded
from structsync._runtime.events import PrimitiveEvent, observe
from structsync.observing.places import name_of_task
from structsync.observing.spans import Span, Spans

if TYPE_CHECKING:
    from opentelemetry.metrics import MeterProvider
    from opentelemetry.trace import TracerProvider

__all__ = ["export"]

#: So many requests are remembered at once with the span in which they were made.
MOST_CONTEXTS = 100_000


class _Export:
    """Turns events into measurements and spans: an observer."""

    def __init__(self, meter: Any, tracer: Any, at_least: float) -> None:
        self._requests = meter.create_counter(
            "structsync.requests", unit="{request}", description="Requests that ended, and how."
        )
        self._waiting = meter.create_up_down_counter(
            "structsync.waiting", unit="{request}", description="Requests that wait now."
        )
        self._durations = {
            "wait": meter.create_histogram(
                "structsync.wait.duration", unit="s", description="From a request to its grant."
            ),
            "hold": meter.create_histogram(
                "structsync.hold.duration", unit="s", description="From a grant to its release."
            ),
        }
        self._tracer = tracer
        self._at_least = at_least
        self._spans = Spans(self._ended)
        self._contexts: dict[tuple[int, int], tuple[object, Any, dict[str, str]]] = {}
        self._offset: tuple[object, float] | None = None

    def note(self, event: PrimitiveEvent) -> None:
        """Take an event in."""
        from opentelemetry.context import get_current

        about = _about(event.primitive)
        if event.kind == "requested" and len(self._contexts) < MOST_CONTEXTS:
            self._contexts[_request(event)] = (event.request, get_current(), about)
            self._waiting.add(1, about)
        self._spans.note(event)
        if event.kind in ("granted", "withdrawn", "broken"):
            self._requests.add(1, {**about, "structsync.outcome": event.kind})
            if (asked := self._contexts.pop(_request(event), None)) is not None:
                self._waiting.add(-1, asked[2])  # by the name that it had then

    def _ended(self, span: Span) -> None:
        seconds = span.until - span.since
        about = _about(span.primitive)
        if span.outcome in ("granted", "released"):
            self._durations[span.what].record(seconds, about)
        if seconds < self._at_least:
            return
        asked = id(span.request), id(span.primitive)
        _, context, _ = self._contexts.get(asked, (None, None, None))
        task = {} if span.task is None else {"structsync.task": name_of_task(span.task)}
        made = self._tracer.start_span(
            span.title,
            context=context,
            start_time=self._nanoseconds(span.since),
            attributes={**about, **task, "structsync.outcome": span.outcome},
        )
        made.end(end_time=self._nanoseconds(span.until))

    def _nanoseconds(self, moment: float) -> int:
        """Return a moment of trio's clock as one of the world's: one offset for each run."""
        run = trio.lowlevel.current_root_task()
        if self._offset is None or self._offset[0] is not run:
            self._offset = run, time.time() - trio.current_time()
        return int((moment + self._offset[1]) * 1e9)


def _request(event: PrimitiveEvent) -> tuple[int, int]:
    return id(event.request), id(event.primitive)


def _about(live: Any) -> dict[str, str]:
    name = live.name
    about = {"structsync.kind": type(live).__name__}
    return {**about, "structsync.name": name} if isinstance(name, str) else about


def export(
    *,
    meter_provider: MeterProvider | None = None,
    tracer_provider: TracerProvider | None = None,
    spans_at_least: float = 0.001,
) -> AbstractContextManager[None]:
    """Export metrics and spans to OpenTelemetry while the block runs.

    Metrics: ``structsync.requests`` (a counter, with ``structsync.outcome``), ``structsync.waiting``,
    ``structsync.wait.duration`` (of the tasks that had to wait) and ``structsync.hold.duration`` (histograms, in
    seconds); with the attributes ``structsync.kind`` and, if the primitive has a name, ``structsync.name``. So a program
    should not use many different names.

    Spans: each wait and each hold that takes long enough, with ``structsync.task``. A wait is a child of
    the span in which the task made the request. Times are measured by trio's clock, starting at the first
    span.

    Durations and spans cover runs in the thread that has entered the block; of runs in other threads, requests are
    counted only.

    If an exporter fails, this is logged, and the program continues without exporting.

    Args:
      meter_provider: by default OpenTelemetry's global one.
      tracer_provider: by default OpenTelemetry's global one.
      spans_at_least: in seconds; shorter waits and holds are counted in the metrics but get no span.

    Raises:
      ImportError: if opentelemetry-api is not installed.
      TypeError: if ``spans_at_least`` is not a number.
      ValueError: if it is negative or not a number of seconds.
    """
    try:
        from opentelemetry.metrics import get_meter
        from opentelemetry.trace import get_tracer
    except ImportError as error:
        raise ImportError(
            "structsync.otel needs opentelemetry-api: pip install 'structsync[otel]'"
        ) from error
    if isinstance(spans_at_least, bool) or not isinstance(spans_at_least, int | float):
        raise TypeError(f"spans_at_least must be a number of seconds, not {spans_at_least!r}")
    if not spans_at_least >= 0:
        raise ValueError(f"spans_at_least must be >= 0 seconds, not {spans_at_least!r}")
    exported = _Export(
        get_meter("structsync", meter_provider=meter_provider),
        get_tracer("structsync", tracer_provider=tracer_provider),
        spans_at_least,
    )
    return observe(exported.note)


name_what_is_loaded()
