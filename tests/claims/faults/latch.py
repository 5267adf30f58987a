"""Faults of a latch, each for one claim."""

from __future__ import annotations

from structsync._core.primitives.latch import LatchCore

from ._planting import Ended, fault


@fault(LatchCore, "release", refuted_by="latch.a_count_lets_all_in_exactly_at_zero")
def the_last_count_lets_nobody_in(core: LatchCore, claim: int) -> Ended:
    core.give_back(claim)
    return []


@fault(LatchCore, "give_back", refuted_by="latch.a_count_below_zero_is_refused_and_changes_nothing")
def it_stops_at_zero(core: LatchCore, claim: int) -> None:
    core.count = max(core.count - claim, 0)


@fault(LatchCore, "admit", refuted_by="latch.a_wait_takes_nothing")
def a_wait_counts(core: LatchCore, claim: int) -> None:
    core.count -= 1
