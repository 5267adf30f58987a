"""How long things took, in a fixed number of counters: eight to each doubling, so within an eighth.

One more is for what took no time at all, and one for what took less than can be told apart.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import final

#: Two to these powers, in seconds, are the ends of what is told apart: a microsecond and twelve days.
LOWEST, HIGHEST = -20, 20
#: How many counters lie between a number and its double.
PARTS = 8
LAST = (HIGHEST - LOWEST) * PARTS + 2


def bucket_of(seconds: float) -> int:
    """Return in which bucket a duration is counted; a bucket ends with its upper bound, included."""
    if seconds <= 0:
        return 0
    if seconds <= 2.0**LOWEST:
        return 1
    mantissa, exponent = math.frexp(seconds)  # seconds == mantissa * 2**exponent, mantissa >= 1/2
    doublings = exponent - 1 - LOWEST
    return min(doublings * PARTS + math.ceil((2 * mantissa - 1) * PARTS) + 1, LAST)


def upper_of(bucket: int) -> float:
    """Return the upper bound of a bucket, in seconds."""
    if bucket == 0:
        return 0.0
    if bucket == LAST:
        return math.inf
    doublings, part = divmod(bucket - 2, PARTS)
    return math.ldexp(1 + (part + 1) / PARTS, LOWEST + doublings)


@final
@dataclass(frozen=True, slots=True)
class Histogram:
    """A distribution of durations, kept in at most 323 counters.

    Attributes:
      count: the number of durations.
      total: their sum, in seconds.
      longest: the longest, in seconds; 0 if there was none.
      buckets: the upper bound in seconds and the number of durations of each counter that is not zero, from
          the shortest to the longest.
    """

    count: int
    total: float
    longest: float
    buckets: tuple[tuple[float, int], ...]

    def quantile(self, share: float) -> float:
        """Return a quantile in seconds: the exact value or up to an eighth more; of less than a microsecond, up to one.

        Raises:
          ValueError: if ``share`` is not between 0 and 1.
        """
        if not 0 <= share <= 1:
            raise ValueError(f"share must be between 0 and 1, not {share!r}")
        seen = 0
        for upper, count in self.buckets:
            seen += count
            if seen / self.count >= share:  # a product may be rounded up: 0.07 of 100
                return min(upper, self.longest)
        return 0.0

    def at_most(self, seconds: float) -> int:
        """Return how many took at most this long, within the resolution of the counters."""
        return sum(count for upper, count in self.buckets if upper <= seconds)


class Durations:
    """What a :class:`Histogram` is made from."""

    __slots__ = ("_counts", "_longest", "_total")

    def __init__(self) -> None:
        self._counts: dict[int, int] = {}
        self._longest = self._total = 0.0

    def add(self, seconds: float) -> bool:
        """Count a duration; return whether none was longer."""
        bucket = bucket_of(seconds)
        self._counts[bucket] = self._counts.get(bucket, 0) + 1
        self._total += seconds
        if seconds < self._longest:
            return False
        self._longest = seconds
        return True

    def shown(self) -> Histogram:
        """Return what was counted so far; may be called in another thread."""
        counts = sorted(self._counts.copy().items())
        return Histogram(
            sum(count for _, count in counts),
            self._total,
            self._longest,
            tuple((upper_of(bucket), count) for bucket, count in counts),
        )
