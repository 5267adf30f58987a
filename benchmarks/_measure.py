"""Ratios that survive a busy machine: short alternating slices, medians over rounds."""

from __future__ import annotations

import gc
import statistics
from collections.abc import Callable, Iterable
from dataclasses import dataclass

# Runs a slice of work and returns the CPU seconds that it took. One slice is much shorter than the
# changes of a busy machine (other programs, clock rate), so that both sides of a ratio meet them.
Slice = Callable[[], float]


@dataclass(frozen=True, slots=True)
class Effort:
    """How much is run."""

    rounds: int
    quick: bool  # a smoke test: every number exists and none means much

    def of(self, full: int, quick: int) -> int:
        """Return the full size, or the one of a smoke test."""
        return quick if self.quick else full


@dataclass(frozen=True, slots=True)
class Case:
    """One figure of a row."""

    name: str
    sample: Callable[[], float]  # one round: the figure
    compared: bool = True  # with the target of the row; else it is there for orientation


@dataclass(frozen=True, slots=True)
class Figure:
    """What the rounds of one case gave."""

    case: str
    rounds: tuple[float, ...]
    compared: bool

    @property
    def median(self) -> float:
        return statistics.median(self.rounds)

    @property
    def spread(self) -> tuple[float, float]:
        """The middle half of the rounds: how far to trust the median."""
        ordered = sorted(self.rounds)
        cut = len(ordered) // 4
        return ordered[cut], ordered[-1 - cut]


def ratio(subject: Slice, reference: Slice, *, pairs: int = 4) -> float:
    """Return the time of the subject divided by that of the reference, over alternating slices."""
    spent = {subject: 0.0, reference: 0.0}
    gc.collect()
    gc.disable()  # the one that happens to trigger a collection would pay for the garbage of both
    try:
        for turn in range(pairs):
            # both orders alike: what one leaves in the caches helps or hurts the other
            for side in (subject, reference) if turn % 2 else (reference, subject):
                spent[side] += side()
    finally:
        gc.enable()
    return spent[subject] / spent[reference]


def measure(cases: Iterable[Case], effort: Effort) -> list[Figure]:
    """Run all cases once per round, so that each of them meets each mood of the machine."""
    cases = list(cases)
    rounds = [[case.sample() for case in cases] for _ in range(effort.rounds)]
    return [
        Figure(case.name, tuple(one[place] for one in rounds), case.compared)
        for place, case in enumerate(cases)
    ]
