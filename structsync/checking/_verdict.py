"""What a check has to say: one verdict per property, and the size of what was looked at."""

from __future__ import annotations

import enum
from collections.abc import Iterable
from dataclasses import dataclass

from structsync.report import Counterexample


class Verdict(enum.Enum):
    """The outcome for one property. Only `CONFIRMED` is green."""

    CONFIRMED = "confirmed"
    """It holds in every state and behaviour of the finished search."""
    REFUTED = "refuted"
    """It fails, and a counterexample shows how."""
    VACUOUS = "cannot fail"
    """The finished search never met what the property talks about, so it says nothing."""
    UNFINISHED = "not finished"
    """The search ended early and met no counterexample up to there; this is no confirmation."""


@dataclass(frozen=True, slots=True)
class PropertyResult:
    """The verdict for one property of a spec."""

    name: str
    kind: str
    verdict: Verdict
    detail: str = ""
    counterexample: Counterexample | None = None


@dataclass(frozen=True, slots=True)
class Result:
    """What checking one spec found."""

    spec: str
    properties: tuple[PropertyResult, ...]
    states: int
    transitions: int
    depth: int
    seconds: float
    bytes_per_state: float
    stopped_by: str | None
    """Why the search ended before all states were seen; None if it did not."""

    @property
    def verdict(self) -> Verdict:
        """The worst verdict of all properties."""
        return worst(one.verdict for one in self.properties)

    def __getitem__(self, name: str) -> PropertyResult:
        """Return the result of the property with this name."""
        for one in self.properties:
            if one.name == name:
                return one
        raise KeyError(name)


@dataclass(frozen=True, slots=True)
class FaultResult:
    """Whether the named property finds a planted fault."""

    name: str
    spec: str
    refuted_by: str
    verdict: Verdict
    """`REFUTED` is the only success here; `VACUOUS`: the property did not notice the bug."""
    detail: str
    states: int
    transitions: int
    seconds: float
    stopped_by: str | None = None
    counterexample: Counterexample | None = None

    @property
    def caught(self) -> bool:
        """True if the named property refuted the fault with a short enough trace."""
        return self.verdict is Verdict.REFUTED

    @property
    def steps(self) -> int | None:
        """The length of the counterexample, if there is one."""
        return len(self.counterexample.steps) if self.counterexample else None


_BADNESS = (Verdict.CONFIRMED, Verdict.UNFINISHED, Verdict.VACUOUS, Verdict.REFUTED)


def worst(verdicts: Iterable[Verdict]) -> Verdict:
    """Return the verdict that decides: a refutation first; of none, that nothing was judged."""
    return max(verdicts, key=_BADNESS.index, default=Verdict.VACUOUS)
