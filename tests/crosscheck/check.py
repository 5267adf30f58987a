"""Explores one program plainly and by each reduction; what they reach must be the same."""

from __future__ import annotations

import re
import traceback
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from structsync.testing import Settings
from structsync.testing._execution.execution import Execution
from structsync.testing._execution.schedule import Schedule
from structsync.testing._search.result import Outcomes
from structsync.testing._search.search import explore_outcomes

from .generate import Case, smaller
from .source import Test, compiled, source

PASSED = "passed: "


def canonical(outcome: str) -> str:
    """An outcome in which it does not matter which of several like tasks is which.

    What the tasks hand back has no task's name in it; a deadlock tells who is in it.
    """
    if outcome.startswith(PASSED):
        return outcome
    return " ".join(sorted(re.sub(r"#\d+", "", outcome).replace(",", " ").split()))


def steady(outcome: str) -> str:
    """An outcome without the addresses that trio puts into some messages."""
    return re.sub(r"\b0x[0-9a-f]+", "0x", outcome)


def likeness_under(way: str) -> Callable[[str], str]:
    """What makes outcomes comparable under a reduction."""
    if way.startswith("symmetry"):
        return lambda outcome: canonical(steady(outcome))
    return steady


@dataclass(frozen=True, slots=True)
class Mismatch:
    """A reduction that reaches something else than the plain search does."""

    case: Case
    way: str
    missing: frozenset[str]
    surplus: frozenset[str]
    reached: Mapping[str, Execution] = field(default_factory=dict, compare=False, repr=False)

    def __str__(self) -> str:
        lines = [
            f"{self.way!r} and the plain search differ under {self.case.settings}",
            *(f"only the plain search reaches  {outcome}" for outcome in sorted(self.missing)),
            *(f"the plain search never reaches {outcome}" for outcome in sorted(self.surplus)),
            *(f"schedule of {outcome}: {token}" for outcome, token in self.tokens().items()),
            source(self.case.program),
        ]
        return "\n".join(lines)

    def tokens(self) -> dict[str, str]:
        """A token for each missing outcome; it replays with ``explore(test, replay=...)``."""
        like = likeness_under(self.way)
        return {
            name: Schedule.of(self.case.settings.order, engine.choices, engine.firsts).token
            for name, engine in self.reached.items()
            if like(name) in self.missing
        }


@dataclass(slots=True)
class Tally:
    """What a run of the cross-check has seen; so that it is not green by emptiness."""

    programs: int = 0
    skipped: int = 0
    branching: int = 0
    opaque: int = 0
    plain: int = 0
    reduced: int = 0
    ways: Counter[str] = field(default_factory=Counter)

    def add(self, other: Tally) -> None:
        """Add what another run has seen."""
        self.programs += other.programs
        self.skipped += other.skipped
        self.branching += other.branching
        self.opaque += other.opaque
        self.plain += other.plain
        self.reduced += other.reduced
        self.ways += other.ways

    def __str__(self) -> str:
        ways = ", ".join(f"{way} {count:,}" for way, count in sorted(self.ways.items()))
        return (
            f"{self.programs:,} programs: {self.skipped:,} too large for the plain search, "
            f"{self.branching:,} with two or more outcomes, {self.opaque:,} not searched to the end "
            f"by states; {self.plain:,} plain executions, {self.reduced:,} by states ({ways})"
        )


#: What a reduction changes in the settings of the plain search.
WAYS: dict[str, dict[str, object]] = {
    "states": {"search": "states"},
    "states, exact": {"search": "states", "hashing": "exact"},
    "symmetry": {"search": "states", "symmetry": True},
    "symmetry, exact": {"search": "states", "symmetry": True, "hashing": "exact"},
    "deviations": {"search": "deviations"},
    "random": {"search": "random", "executions": 30},
}
#: The dear ones take turns.
OTHERS = ("states, exact", "symmetry, exact", "deviations", "random", "public engine")


def run(test: Test, settings: Settings, **changes: object) -> Outcomes:
    """Explore, and return every outcome that was reached."""
    chosen: Settings = replace(settings, **changes)  # type: ignore[arg-type]  # names are from WAYS
    return explore_outcomes(test, chosen)


def reached_plainly(case: Case, most: int) -> Outcomes | Mismatch:
    """Return what the plain search reaches in so many executions, or how it breaks."""
    try:
        return run(compiled(source(case.program)), case.settings, search="plain", executions=most)
    except Exception as error:  # noqa: BLE001 - a search that breaks is as bad as one that misses
        return broken(case, "plain", error)


def compare(
    case: Case,
    ways: tuple[str, ...],
    most: int,
    tally: Tally,
    plain: Outcomes | Mismatch | None = None,
) -> Mismatch | None:
    """Return the first of the ways that does not reach what the plain search reaches.

    A program for which the plain search takes more than ``most`` executions is skipped. ``plain`` is
    what it reaches, where that is known already.
    """
    test = compiled(source(case.program))
    tally.programs += 1
    if plain is None:
        plain = reached_plainly(case, most)
    if isinstance(plain, Mismatch):
        return plain
    if not plain.complete:
        tally.skipped += 1
        return None
    tally.branching += len(plain.outcomes) > 1
    for way in ways:
        try:
            found = differs(case, test, plain, way, tally)
        except Exception as error:  # noqa: BLE001 - as above
            return broken(case, way, error)
        if found is not None:
            return found
    return None


def broken(case: Case, way: str, error: Exception) -> Mismatch:
    """The mismatch that a search is which ends with an error of its own."""
    text = "".join(traceback.format_exception(error, limit=-4))
    return Mismatch(case, way, frozenset(), frozenset({text}))


def differs(case: Case, test: Test, plain: Outcomes, way: str, tally: Tally) -> Mismatch | None:
    """How one way differs from the plain search, if it does."""
    tally.ways[way] += 1
    if way == "public engine":
        other = explore_outcomes(test, replace(case.settings, search="plain"), engine="public")
        assert plain.traces is not None
        assert other.traces is not None
        here = {steady(" ".join(trace)) for trace in plain.traces}
        there = {steady(" ".join(trace)) for trace in other.traces}
        if here != there:
            return Mismatch(
                case, way, frozenset(here - there), frozenset(there - here), plain.tokens
            )
    else:
        other = run(test, case.settings, **{"executions": None, **WAYS.get(way, {})})
    if way in ("states", "symmetry"):
        tally.plain += plain.executions
        tally.reduced += other.executions
        tally.opaque += not other.states
    if way != "random":
        assert other.complete, "it ended early, although nothing bounds it"
    like = likeness_under(way)
    expected = {like(outcome) for outcome in plain.outcomes}
    reached = {like(outcome) for outcome in other.outcomes}
    missing = expected - reached if other.complete else set[str]()
    if missing or reached - expected:
        surplus = frozenset(reached - expected)
        return Mismatch(case, way, frozenset(missing), surplus, plain.tokens)
    return None


def shrunk(found: Mismatch, most: int) -> Mismatch:
    """The simplest program near this one that goes wrong in the same way."""
    while True:
        for program in smaller(found.case.program):
            case = Case(program, found.case.settings)
            simpler = compare(case, (found.way,), most, Tally())
            if simpler is not None:
                found = simpler
                break
        else:
            return found
