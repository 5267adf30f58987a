"""The search: which executions are tried, and when everything was seen.

Depth first with one visit per state is the rule; where a state cannot be written down, the
schedules with the fewest deviations from first in, first out come first, and the search says that
it was not exhaustive. A failure is then looked for again with fewer deviations, until there are
none with less.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import replace
from math import inf
from typing import Literal

from structsync.testing._execution.execution import AsyncTest, Execution
from structsync.testing._execution.own import innermost
from structsync.testing._execution.public_engine import PublicEngine
from structsync.testing._settings import Settings
from structsync.testing._state.fingerprint import AgeDecides, Fingerprinter, Opaque
from structsync.testing._state.global_variables import data_of_code
from structsync.testing._state.standing import Standing, Unsteady

from . import audit_of_cycles
from .audit import Audit, MergeLog, audit
from .choosers import UNLIMITED, DepthFirst, Prefix, ShortDepthFirst, Trace
from .endless import GOES_ROUND, ReachabilityMap, execution_without_end
from .result import Outcomes, SearchResult
from .runs import Runs
from .sampling import by_priorities, sample, share_for_chance, the_rest
from .shortening import deviations_of, shortened
from .starvation import TransitionMap

#: A search that ends plainly within this share of its executions is done plainly.
PLAIN_SHARE = 10
#: It is given up before that where executions are long, or one of them has no end in sight.
PLAIN_EXECUTIONS, PLAIN_STEPS, PLAIN_LENGTH = 2_000, 100_000, 1_000
#: After so many executions it is estimated how many there are, and it is given up if they are so many times those
#: that it may take. In a hundred random programs no estimate was more than eighteen times too high; in one of ours, 26.
ESTIMATED_AFTER, HOPELESS = 200, 30

#: Of a search for starvation that could not know whether a task that polls is kept waiting.
NOTHING_IS_WANTED = "no execution ends, and no task calls x.request(): one that never parks counts as wanting nothing"

#: Making a failure smaller may take so many executions, or so many times those that it took.
MINIMISE_EXECUTIONS, MINIMISE_FACTOR = 2_000, 4
#: So often a search by states begins, until it is left to each state to say all.
MOST_BEGINNINGS = 5
#: So many executions may show whether trio's own order of today can lead to a failure.
TRIO_EXECUTIONS = 500


def search(runs: Runs, outcomes: Outcomes | None = None) -> SearchResult:
    """Look for a failure as the settings say; with ``outcomes``, go on after one and collect."""
    how = runs.settings.search
    if runs.settings.liveness:
        return _map(runs)
    if how == "auto" and runs.settings.states is None:
        found = plainly_if_small(runs, outcomes)
        if found is not None:
            return found
    if how == "sweep":
        return _sweep(runs, outcomes)
    if how == "random":
        return sample(runs, outcomes)
    if how == "pct":
        return by_priorities(runs, outcomes)
    if how == "deviations":
        return _by_deviations(runs, outcomes, "")
    if how == "plain":
        return _depth_first(runs, DepthFirst(None), outcomes)
    random_share = share_for_chance(runs.settings) if how == "auto" and outcomes is None else None
    with runs.leaving(random_share):
        try:
            found, seen, look = _by_steady_states(runs, outcomes)
        except Opaque as error:
            because = f"cannot look into {error}: states not compared"
            found, seen, look = _by_deviations(runs, outcomes, because), {}, None
        ended_early = found.failed is None and runs.stopped(found.states) is not None
    if random_share is None or not ended_early or runs.interrupt:
        return found
    return the_rest(runs, found, seen, look)


def _by_steady_states(
    runs: Runs, outcomes: Outcomes | None
) -> tuple[SearchResult, Container[bytes], Fingerprinter]:
    """Search by states that need not say what stands, or which task is older; anew where that is not so."""
    unsteady: list[object] = []
    beginnings = 0
    while True:
        stands = what_stands(runs.test, unsteady) if beginnings < MOST_BEGINNINGS else None
        try:
            return _by_states(runs, outcomes, fingerprinter(runs.settings, stands))
        except Unsteady as error:
            unsteady += error.things
            beginnings += 1
        except AgeDecides:
            continue  # from now on each state tells it


def what_stands(test: AsyncTest, unsteady: Sequence[object]) -> Standing:
    """Return what the code of a test can reach before it runs, without what has changed already."""
    function = innermost(test)
    code, namespace = getattr(function, "__code__", None), getattr(function, "__globals__", None)
    return Standing(data_of_code(code, namespace) if code and namespace else (), unsteady)


def _by_states(
    runs: Runs, outcomes: Outcomes | None, look: Fingerprinter
) -> tuple[SearchResult, Container[bytes], Fingerprinter]:
    log = MergeLog(runs.settings.seed)
    chooser = ReachabilityMap(look, log)
    found = _by_states_and_audit(runs, outcomes, chooser, log, look)
    return found, chooser.seen, look


def _by_states_and_audit(
    runs: Runs,
    outcomes: Outcomes | None,
    chooser: ReachabilityMap,
    log: MergeLog,
    look: Fingerprinter,
) -> SearchResult:
    found = replace(_by_fingerprint(runs, chooser, outcomes), way="merged")
    if found.failed is not None or found.unfinished is not None:
        return found
    if states := chooser.endless():
        failed = execution_without_end(runs, states, look)
        if outcomes is not None:
            outcomes.add(failed)
        return replace(found, failed=failed, unfinished="stopped at the first failure")
    if outcomes is not None:
        return found  # the caller compares them with those of another search, which is more
    notes = (GOES_ROUND,) if chooser.goes_round() else ()
    return replace(_with(found, audit(runs, log, look), runs), notes=notes)


def _with(found: SearchResult, made: Audit, runs: Runs) -> SearchResult:
    """Return what was found with what has come of the audit."""
    return replace(
        found,
        failed=made.failed,
        execution=runs.executions,
        unfinished="stopped at the first failure" if made.failed else made.unfinished,
        audited=(made.merges, made.schedules),
    )


def plainly_if_small(runs: Runs, outcomes: Outcomes | None) -> SearchResult | None:
    """Try every schedule; None if they are too many for that."""
    asked = runs.settings
    most = PLAIN_EXECUTIONS if asked.executions is None else asked.executions // PLAIN_SHARE
    seconds = inf if asked.seconds is None else asked.seconds / PLAIN_SHARE
    chooser = ShortDepthFirst(min(PLAIN_LENGTH, asked.max_steps - 1))
    while runs.executions < most and runs.steps < PLAIN_STEPS and runs.seconds < seconds:
        found = next_result(runs, chooser, outcomes)
        if found is not None or chooser.gave_up:
            return None if chooser.gave_up else found
        made = runs.executions
        if made % ESTIMATED_AFTER == 0 and made > HOPELESS * most * chooser.share_behind():
            return None
    return None


def _map(runs: Runs) -> SearchResult:
    """Keep the graph of all states, and look for starvation in it when it is complete."""
    chooser = TransitionMap(fingerprinter(runs.settings), runs.settings.seed)
    try:
        found = replace(_by_fingerprint(runs, chooser, None), way="merged")
    except Opaque as error:
        reason = f"cannot look into {error}: states not compared, so no starvation is found"
        return SearchResult(None, runs.executions, chooser.states, chooser.memory, reason)
    if found.failed is not None or found.unfinished is not None:
        return found
    if (cycle := chooser.starved() or chooser.livelock()) is not None:
        return replace(found, cycle=cycle)
    notes = () if chooser.marked or chooser.can_end() else (NOTHING_IS_WANTED,)
    return replace(_with(found, audit_of_cycles.audit(runs, chooser), runs), notes=notes)


def _by_fingerprint(runs: Runs, chooser: DepthFirst, outcomes: Outcomes | None) -> SearchResult:
    found = _depth_first(runs, chooser, outcomes)
    if found.failed is None:
        # The last execution may be the first in which it decides anything.
        chooser.refuse_what_is_left_out()
    return found


def fingerprinter(
    settings: Settings, standing: Standing | None = None, *, heeds_age: bool = True
) -> Fingerprinter:
    """Return what distinguishes the states of a test."""
    return Fingerprinter(
        symmetry=settings.symmetry and not settings.liveness,
        exact=settings.hashing == "exact",
        standing=standing,
        heeds_age=heeds_age,
    )


def _depth_first(runs: Runs, chooser: DepthFirst, outcomes: Outcomes | None) -> SearchResult:
    while (found := next_result(runs, chooser, outcomes)) is None:
        pass
    return found


def next_result(runs: Runs, chooser: DepthFirst, outcomes: Outcomes | None) -> SearchResult | None:
    """Run the test once more; return the result if the search ends with it."""
    chooser.begin()
    execution = runs.execute(chooser)
    chooser.ended(execution)
    if outcomes is not None:
        outcomes.add(execution)
    elif execution.ending is not None and execution.ending.failed:
        return _result(runs, chooser, execution, "stopped at the first failure")
    if not chooser.advance():
        return _result(runs, chooser, None, None)
    if reason := runs.stopped(chooser.states):
        return _result(runs, chooser, None, reason)
    return None


def _result(
    runs: Runs, chooser: DepthFirst, failed: Execution | None, reason: str | None
) -> SearchResult:
    return SearchResult(failed, runs.executions, chooser.states, chooser.memory, reason)


def _by_deviations(runs: Runs, outcomes: Outcomes | None, because: str) -> SearchResult:
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


def _sweep(runs: Runs, outcomes: Outcomes | None) -> SearchResult:
    """Run one schedule, and again with each injection that it offers at any step."""
    first = Trace()
    execution = runs.execute(first)
    made = list(execution.choices)
    tries = (
        [*made[:step], one]
        for step, options in enumerate(first.offered)
        for one in options
        if one.kind in ("cancel", "scope")
    )
    while True:
        if outcomes is not None:
            outcomes.add(execution)
        elif execution.ending is not None and execution.ending.failed:
            return SearchResult(execution, runs.executions, 0, 0, "stopped at the first failure")
        if (choices := next(tries, None)) is None:
            return SearchResult(None, runs.executions, 0, 0, None)
        if reason := runs.stopped(0):
            return SearchResult(None, runs.executions, 0, 0, reason)
        execution = runs.execute(Prefix(choices, go_on=True))


def deviations(execution: Execution) -> int:
    """Return in how many steps an execution did not do the first thing on offer."""
    return len(deviations_of(execution))


def minimised(runs: Runs, failed: Execution) -> Execution:
    """Return an execution that fails alike with as few deviations as possible."""
    limit = runs.executions + max(MINIMISE_EXECUTIONS, MINIMISE_FACTOR * runs.executions)
    failed = shortened(runs, failed, limit)
    for bound in range(deviations(failed)):
        smaller, complete = _alike(runs, failed, limit, bound)
        if smaller is not None or not complete:
            return smaller or failed
    return failed


def in_trios_order(runs: Runs, failed: Execution) -> str:
    """Say whether the test can fail alike in the order in which trio runs tasks today."""
    asked = runs.settings
    runs.settings = replace(asked, order="trio")
    try:
        found, complete = _alike(runs, failed, runs.executions + TRIO_EXECUTIONS, UNLIMITED)
    finally:
        runs.settings = asked
    if found is not None:
        return "yes"
    if runs.time_is_over:
        return "not looked for, because the time is over"
    return "no" if complete else f"not found in {TRIO_EXECUTIONS} executions"


def _alike(
    runs: Runs, failed: Execution, limit: int, max_deviations: int
) -> tuple[Execution | None, bool]:
    """Look for an execution that fails alike; also say whether everything was seen."""
    assert failed.ending is not None
    chooser = DepthFirst(fingerprinter(runs.settings), max_deviations=max_deviations)
    while runs.executions < limit and not runs.interrupt and not runs.time_is_over:
        chooser.begin()
        try:
            execution = runs.execute(chooser)
            ending = execution.ending
            if ending is not None and ending.signature == failed.ending.signature:
                return execution, False
            chooser.refuse_what_is_left_out()
        except Opaque:
            chooser = DepthFirst(None, max_deviations=max_deviations)
            continue
        except AgeDecides:
            chooser = DepthFirst(fingerprinter(runs.settings), max_deviations=max_deviations)
            continue
        if not chooser.advance():
            return None, True
    return None, False


def explore_outcomes(
    test: AsyncTest, settings: Settings, engine: Literal["loop", "public"] = "loop"
) -> Outcomes:
    """Return all ways in which a test ends, as far as this search sees them."""
    outcomes = Outcomes(keep_traces=settings.search == "plain")
    runs = Runs(test, settings, engine=PublicEngine if engine == "public" else None)
    with runs.open():
        found = search(runs, outcomes)
    outcomes.executions = runs.executions
    outcomes.states = found.states
    outcomes.complete = found.unfinished is None
    return outcomes
