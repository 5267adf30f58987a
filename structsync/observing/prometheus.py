"""Metrics as text that Prometheus reads."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence

from .histogram import HIGHEST, LOWEST, Histogram
from .primitive_metrics import PrimitiveMetrics

#: The bounds of the exported buckets, in seconds: each four times the last, from a microsecond to 17 minutes. They
#: are bounds of the counters, too, so that what is exported is exact.
BOUNDS = tuple(2.0**power for power in range(LOWEST, HIGHEST // 2 + 1, 2))
#: Counts of what has ended, and how.
ENDS = ("granted", "withdrawn", "broken")


def exposition(rows: Sequence[PrimitiveMetrics]) -> str:
    """Return the text format 0.0.4 of some rows."""
    return "".join(f"{line}\n" for line in _lines(rows))


def _lines(rows: Sequence[PrimitiveMetrics]) -> Iterator[str]:
    yield from _family("requests_total", "counter", "Requests that were made.")
    for one in rows:
        yield f"structsync_requests_total{{{_labels(one)}}} {one.requested}"
    yield from _family("requests_ended_total", "counter", "Requests that ended, and how.")
    for one in rows:
        for how in ENDS:
            name = f'structsync_requests_ended_total{{{_labels(one)},how="{how}"}}'
            yield f"{name} {getattr(one, how)}"
    yield from _family("releases_total", "counter", "Claims that were released.")
    for one in rows:
        yield f"structsync_releases_total{{{_labels(one)}}} {one.released}"
    yield from _family("waiting", "gauge", "Requests that wait now.")
    for one in rows:
        yield f"structsync_waiting{{{_labels(one)}}} {one.waiting}"
    yield from _family("oldest_wait_seconds", "gauge", "How long the oldest of these waits by now.")
    for one in rows:
        if one.oldest_wait is not None:
            yield f"structsync_oldest_wait_seconds{{{_labels(one)}}} {one.oldest_wait!r}"
    yield from _histograms("wait", "From a request to its grant.", rows, lambda one: one.waits)
    yield from _histograms("hold", "From a grant to its release.", rows, lambda one: one.holds)


def _family(name: str, kind: str, text: str) -> Iterator[str]:
    yield f"# HELP structsync_{name} {text}"
    yield f"# TYPE structsync_{name} {kind}"


def _histograms(
    what: str,
    text: str,
    rows: Iterable[PrimitiveMetrics],
    find: Callable[[PrimitiveMetrics], Histogram],
) -> Iterator[str]:
    yield from _family(f"{what}_seconds", "histogram", text)
    for one in rows:
        labels, durations = _labels(one), find(one)
        for bound in (*BOUNDS, math.inf):
            upper = "+Inf" if bound == math.inf else repr(bound)
            count = durations.at_most(bound)
            yield f'structsync_{what}_seconds_bucket{{{labels},le="{upper}"}} {count}'
        yield f"structsync_{what}_seconds_sum{{{labels}}} {durations.total!r}"
        yield f"structsync_{what}_seconds_count{{{labels}}} {durations.count}"


def _labels(one: PrimitiveMetrics) -> str:
    return f'kind="{_escaped(one.kind)}",name="{_escaped(one.name or "")}"'


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("\n", "\\n").replace('"', '\\"')
