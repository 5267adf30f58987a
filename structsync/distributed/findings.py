"""What is found out about an engine, and how long it takes to reach it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Literal, NamedTuple, TypeAlias

import trio

Verdict: TypeAlias = Literal["holds", "note", "unknown", "does not hold"]

#: How many round trips are measured.
ROUNDS = 200


class Finding(NamedTuple):
    """One thing that was looked at."""

    what: str
    verdict: Verdict
    text: str


async def measure(function: Callable[[], Awaitable[object]]) -> tuple[float, float]:
    """Return how long it takes, in seconds: the median, and what 99 of 100 stay below."""
    times = []
    for _ in range(ROUNDS):
        start = trio.current_time()
        await function()
        times.append(trio.current_time() - start)
    times.sort()
    return times[ROUNDS // 2], times[ROUNDS * 99 // 100]


def in_ms(seconds: float) -> str:
    """Return a time as people read it."""
    return f"{seconds * 1000:.2f} ms"


def latency(p50: float, p99: float, ttl: float) -> Finding:
    """Judge whether a round trip is short beside a lease."""
    text = f"{in_ms(p50)}; p99 {in_ms(p99)}"
    if p99 > ttl / 10:
        return Finding("round trip", "does not hold", f"{text}: too long for ttl={ttl:g}")
    return Finding("round trip", "holds", text)
