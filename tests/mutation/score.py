"""How many of the mutants were noticed, by whom, and whether that is enough."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from .project import Target
from .trial import Result


@dataclass(frozen=True, slots=True)
class Score:
    """One target, and how far it is met."""

    target: Target
    noticed: int
    of: int
    total: int
    """How many there are; more than ``of`` for a sample."""

    @property
    def percent(self) -> float:
        return 100 * self.noticed / self.of if self.of else math.nan

    @property
    def is_finished(self) -> bool:
        return self.of == self.total

    @property
    def is_under(self) -> bool:
        """Whether the target is missed: by all that there are, or by a sample beyond chance."""
        if self.is_finished or not self.of:
            return self.of > 0 and self.percent < self.target.percent
        return self.interval[1] < self.target.percent

    @property
    def interval(self) -> tuple[float, float]:
        """Where the share of all lies, in percent, with a certainty of 95 %: of all that there are, it is known."""
        if self.is_finished or not self.of:
            return self.percent, self.percent
        return wilson(self.noticed, self.of)

    def __str__(self) -> str:
        who = ", ".join(sorted(self.target.nets))
        state = "" if self.is_finished else f"; not finished: {self.of} of {self.total}"
        verdict = "UNDER the target" if self.is_under else "target"
        low, high = self.interval
        shown = f"{self.percent:.1f} %" if self.of else "nothing was run"
        if low < high:
            shown += f" ({low:.1f} to {high:.1f} with a certainty of 95 %)"
        return (
            f"{self.target.part} by {who}: {self.noticed} of {self.of} noticed, {shown} "
            f"({verdict} {self.target.percent:g} %{state})"
        )


def wilson(noticed: int, of: int) -> tuple[float, float]:
    """Return between which percentages the share of all lies with a certainty of 95 % (Wilson's interval)."""
    z = 1.96
    share = noticed / of
    middle = share + z * z / (2 * of)
    spread = z * math.sqrt(share * (1 - share) / of + z * z / (4 * of * of))
    scale = 100 / (1 + z * z / of)
    return scale * (middle - spread), scale * (middle + spread)


def score(
    target: Target, results: Collection[Result], total: int, equivalent: Collection[str]
) -> Score:
    """Return the score of one target; ``total`` are the mutants that are not equivalent."""
    counted = [one for one in results if one.part == target.part and one.id not in equivalent]
    noticed = sum(one.is_noticed and one.net in target.nets for one in counted)
    return Score(target, noticed, len(counted), total)


def who_noticed(results: Sequence[Result]) -> Counter[str]:
    """Return how many were noticed by which net, and how."""
    found: Counter[str] = Counter()
    for one in results:
        if one.outcome == "timeout":
            found[f"{one.net}: a timeout"] += 1
        elif one.is_noticed and one.net == "checker":
            kind = one.how.partition(" ")[0]
            known = {"property": "a property", "count": "a count alone"}
            found[f"checker: {known.get(kind, 'an error')}"] += 1
        else:
            found[one.net or one.outcome] += 1
    return found
