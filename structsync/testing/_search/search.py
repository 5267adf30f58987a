"""The search: which executions are tried, and when everything was seen.

Depth first with one visit per state is the rule; where a state cannot be written down, the
schedules with the fewest deviations from first in, first out come first, and the search says that
it was not exhaustive. A failure is then looked for again with fewer deviations, until there are
none with less.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from structsync.testing._execution.engine import Engine
from structsync.testing._execution.execution import AsyncTest
from structsync.testing._execution.public_engine import GateEngine
from structsync.testing._settings import Settings
from structsync.testing._state.fingerprint import Fingerprinter, Opaque, refuse_tickets

from .choosers import UNLIMITED, DepthFirst, Following, Noting, Sampling
from .endless import Ways, execution_without_end
from .runs import Runs
from .starvation import Mapping, Starvation

#: Making a failure smaller may take so many executions, or so many times those that it took.
MINIMISE_EXECUTIONS, MINIMISE_FACTOR = 2_000, 4
#: So many executions may tell whether trio's own order of today can lead to a failure.
TRIO_EXECUTIONS = 500


@dataclass(frozen=True, slots=True)
class Found:
    """What a search has come to.

    Attributes:
      failed: the execution that failed, or None.
      execution: its number.
      states: how many states were told apart.
      memory: bytes that are taken by what is remembered of them.
      unfinished: why not everything was seen, or None.
    """

    failed: Engine | None
    execution: int
    states: int
    memory: int
    unfinished: str | None
    starvation: Starvation | None = None


def search(runs: Runs, outcomes: Outcomes | None = None) -> Found:
    """Look for a failure as the settings say; with ``outcomes``, go on after one and collect."""
    how = runs.settings.search
    if runs.settings.liveness:
        return _map(runs)
    if how == "sweep":
        return _sweep(runs, outcomes)
    if how == "random":
        return _sample(runs, outcomes)
    if how == "deviations":
        return _by_deviations(runs, outcomes, "")
    if how == "plain":
        return _depth_first(runs, DepthFirst(None), outcomes)
    try:
        return _by_states(runs, outcomes)
    except Opaque as error:
        return _by_deviations(runs, outcomes, f"cannot look into {error}: states not told apart")


def _by_states(runs: Runs, outcomes: Outcomes | None) -> Found:
    look = fingerprinter(runs.settings)
    chooser = Ways(look)
    found = _told_apart(runs, chooser, outcomes)
    if found.failed is None and found.unfinished is None and (states := chooser.endless()):
        failed = execution_without_end(runs, states, look)
        if outcomes is not None:
            outcomes.add(failed)
        return _found(runs, chooser, failed, "stopped at the first failure")
    return found


def _map(runs: Runs) -> Found:
    """Keep the graph of all states, and look for starvation in it when it is complete."""
    chooser = Mapping(fingerprinter(runs.settings))
    try:
        found = _told_apart(runs, chooser, None)
    except Opaque as error:
        reason = f"cannot look into {error}: states not told apart, so no starvation is found"
        return Found(None, runs.executions, chooser.states, chooser.memory, reason)
    starvation = chooser.starved() if found.unfinished is None else None
    return replace(found, starvation=starvation)


def _told_apart(runs: Runs, chooser: DepthFirst, outcomes: Outcomes | None) -> Found:
    found = _depth_first(runs, chooser, outcomes)
    if found.failed is None:
        refuse_tickets()  # the last execution may be the first that reads one
    return found


def fingerprinter(settings: Settings) -> Fingerprinter:
    """Return what tells the states of a test apart."""
    symmetry = settings.symmetry and not settings.liveness
    return Fingerprinter(symmetry=symmetry, exact=settings.hashing == "exact")


def _depth_first(runs: Runs, chooser: DepthFirst, outcomes: Outcomes | None) -> Found:
    while True:
        chooser.begin()
        engine = runs.execute(chooser)
        if outcomes is not None:
            outcomes.add(engine)
        elif engine.ending is not None and engine.ending.failed:
            return _found(runs, chooser, engine, "stopped at the first failure")
        if not chooser.advance():
            return _found(runs, chooser, None, None)
        if reason := runs.stopped(chooser.states):
            return _found(runs, chooser, None, reason)


def _found(runs: Runs, chooser: DepthFirst, failed: Engine | None, reason: str | None) -> Found:
    return Found(failed, runs.executions, chooser.states, chooser.memory, reason)


def _by_deviations(runs: Runs, outcomes: Outcomes | None, because: str) -> Found:
    """Try all schedules with no deviation, then with one, and so on."""
    bound = 0
    while True:
        chooser = DepthFirst(None, max_deviations=bound)
        found = _depth_first(runs, chooser, outcomes)
        if found.failed is not None:
            return found
        if found.unfinished is not None:
            tried = f"all schedules with fewer than {bound} deviations were tried"
            reasons = [one for one in (because, found.unfinished, tried) if one]
            return replace(found, unfinished="; ".join(reasons))
        if not chooser.bounded:
            return found
        bound += 1


def _sample(runs: Runs, outcomes: Outcomes | None) -> Found:
    chooser = Sampling(runs.settings.seed)
    while True:
        chooser.begin()
        engine = runs.execute(chooser)
        chooser.ended(len(engine.choices))
        if outcomes is not None:
            outcomes.add(engine)
        elif engine.ending is not None and engine.ending.failed:
            return Found(engine, runs.executions, 0, 0, "stopped at the first failure")
        if reason := runs.stopped(0):
            text = f"random sample, seed={runs.settings.seed}; {reason}"
            return Found(None, runs.executions, 0, 0, text)


def _sweep(runs: Runs, outcomes: Outcomes | None) -> Found:
    """Run one schedule, and again with each injection that it offers at any step."""
    first = Noting()
    engine = runs.execute(first)
    made = list(engine.choices)
    tries = (
        [*made[:step], one]
        for step, options in enumerate(first.offered)
        for one in options
        if one.kind in ("cancel", "scope")
    )
    while True:
        if outcomes is not None:
            outcomes.add(engine)
        elif engine.ending is not None and engine.ending.failed:
            return Found(engine, runs.executions, 0, 0, "stopped at the first failure")
        if (choices := next(tries, None)) is None:
            return Found(None, runs.executions, 0, 0, None)
        if reason := runs.stopped(0):
            return Found(None, runs.executions, 0, 0, reason)
        engine = runs.execute(Following(choices, go_on=True))


def deviations(engine: Engine) -> int:
    """Return in how many steps an execution did not do the first thing on offer."""
    pairs = zip(engine.choices, engine.firsts, strict=True)
    return sum(chosen != first for chosen, first in pairs)


def minimised(runs: Runs, failed: Engine) -> Engine:
    """Return an execution that fails alike with as few deviations as possible."""
    limit = runs.executions + max(MINIMISE_EXECUTIONS, MINIMISE_FACTOR * runs.executions)
    for bound in range(deviations(failed)):
        smaller, complete = _alike(runs, failed, limit, bound)
        if smaller is not None or not complete:
            return smaller or failed
    return failed


def in_trios_order(runs: Runs, failed: Engine) -> str:
    """Say whether the test can fail alike in the order in which trio runs tasks today."""
    asked = runs.settings
    runs.settings = replace(asked, order="trio")
    try:
        found, complete = _alike(runs, failed, runs.executions + TRIO_EXECUTIONS, UNLIMITED)
    finally:
        runs.settings = asked
    if found is not None:
        return "yes"
    return "no" if complete else f"not found in {TRIO_EXECUTIONS} executions"


def _alike(
    runs: Runs, failed: Engine, limit: int, max_deviations: int
) -> tuple[Engine | None, bool]:
    """Look for an execution that fails alike; also say whether everything was seen."""
    assert failed.ending is not None
    look: Fingerprinter | None = fingerprinter(runs.settings)
    chooser = DepthFirst(look, max_deviations=max_deviations)
    while runs.executions < limit and not runs.interrupt:
        chooser.begin()
        try:
            engine = runs.execute(chooser)
        except Opaque:
            chooser = DepthFirst(None, max_deviations=max_deviations)
            continue
        if engine.ending is not None and engine.ending.signature == failed.ending.signature:
            return engine, False
        if not chooser.advance():
            return None, True
    return None, False


class Outcomes:
    """All ways in which a test has ended, for comparing one search with another."""

    def __init__(self, keep_traces: bool) -> None:
        self.outcomes: set[str] = set()
        self.traces: set[tuple[str, ...]] | None = set() if keep_traces else None
        self.tokens: dict[str, Engine] = {}
        self.executions = 0
        self.states = 0
        self.complete = False

    def add(self, engine: Engine) -> None:
        """Note how an execution ended."""
        ending = engine.ending
        assert ending is not None
        if ending.kind == "cut":
            return
        if ending.kind == "passed":
            outcome = f"passed: {ending.value!r}"
        else:
            outcome = f"{ending.kind}: {ending.message}"
        self.outcomes.add(outcome)
        self.tokens.setdefault(outcome, engine)
        if self.traces is not None:
            self.traces.add((*map(str, engine.choices), outcome))


def explore_outcomes(
    test: AsyncTest, settings: Settings, engine: Literal["loop", "public"] = "loop"
) -> Outcomes:
    """Return all ways in which a test ends, as far as this search sees them."""
    outcomes = Outcomes(keep_traces=settings.search == "plain")
    runs = Runs(test, settings, engine=GateEngine if engine == "public" else None)
    with runs.open():
        found = search(runs, outcomes)
    outcomes.executions = runs.executions
    outcomes.states = found.states
    outcomes.complete = found.unfinished is None
    return outcomes
