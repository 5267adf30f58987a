"""Faults of a latch, each for one claim."""

from __future__ import annotations

from structsync._core.primitives.latch import LatchCore
from structsync.specs import latch_faults

from ._planting import OfASpec

the_last_count_lets_no_task_in = OfASpec(
    LatchCore, latch_faults.NoTaskIsLetIn, "latch.a_count_lets_all_in_exactly_at_zero"
)


it_stops_at_zero = OfASpec(
    LatchCore,
    latch_faults.TooMuchIsForgiven,
    "latch.a_count_below_zero_is_refused_and_changes_nothing",
)


a_wait_counts = OfASpec(LatchCore, latch_faults.WaitingCounts, "latch.a_wait_takes_nothing")
