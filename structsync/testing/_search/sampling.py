"""Searches that try schedules at random, and say what that is worth."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Mapping
from dataclasses import replace

from structsync.testing._settings import Settings
from structsync.testing._state.fingerprint import Fingerprinter

from .audit import has_failed
from .choosers import RandomSample
from .priorities import RandomPriorities, UnseenStates, percent
from .result import Outcomes, SearchResult
from .runs import Runs

#: Where the search does not end, this share of what it may cost goes to schedules at random.
RANDOM_SHARE = 5
#: Fewer are worth nothing.
FEWEST = 10


def share_for_chance(settings: Settings) -> int | None:
    """Return which part of the budget is left to schedules at random; None if that is too little."""
    most = settings.executions
    return None if most is not None and most // RANDOM_SHARE < FEWEST else RANDOM_SHARE


def sample(runs: Runs, outcomes: Outcomes | None) -> SearchResult:
    chooser = RandomSample(runs.settings.seed)
    taken = Counter[int]()
    while True:
        chooser.begin()
        execution = runs.execute(chooser)
        chooser.ended(len(execution.choices))
        taken[hash((*execution.choices,))] += 1
        if outcomes is not None:
            outcomes.add(execution)
        elif execution.ending is not None and execution.ending.failed:
            reason = "stopped at the first failure"
            return SearchResult(execution, runs.executions, 0, 0, reason, way="sampled")
        if stopped := runs.stopped(0):
            text = f"random sample, seed={runs.settings.seed}; {stopped}: {_unseen(taken)}"
            return SearchResult(None, runs.executions, 0, 0, text, way="sampled")


def _unseen(taken: Mapping[int, int]) -> str:
    """Say how likely one more schedule is a new one: about the share of those that came once (Good 1953)."""
    once, all_of_them = [*taken.values()].count(1), sum(taken.values())
    return (
        f"{once:,} of {all_of_them:,} schedules came only once, so about "
        f"{percent(once / all_of_them)} of what chance leads to was not seen"
    )


def by_priorities(runs: Runs, outcomes: Outcomes | None) -> SearchResult:
    chooser = RandomPriorities(runs.settings.seed, runs.settings.depth)
    while True:
        chooser.begin()
        execution = runs.execute(chooser)
        chooser.ended(execution)
        if outcomes is not None:
            outcomes.add(execution)
        elif has_failed(execution):
            reason = "stopped at the first failure"
            return SearchResult(execution, runs.executions, 0, 0, reason, way="sampled")
        if stopped := runs.stopped(0):
            text = f"{stopped}: {chooser.summary(runs.executions)}; seed={runs.settings.seed}"
            return SearchResult(None, runs.executions, 0, 0, text, way="sampled")


def the_rest(
    runs: Runs, found: SearchResult, seen: Container[bytes], look: Fingerprinter | None
) -> SearchResult:
    """Give what is left of the budget to schedules at random, and say what they are worth."""
    chooser = RandomPriorities(runs.settings.seed, runs.settings.depth)
    counter = UnseenStates(chooser, seen, look)
    most = runs.executions // (RANDOM_SHARE - 1)
    if most < FEWEST:
        return found
    done = 0
    while done < most and (done == 0 or runs.stopped(0) is None):
        chooser.begin()
        execution = runs.execute(counter)
        chooser.ended(execution)
        done += 1
        if has_failed(execution):
            reason = "stopped at the first failure"
            return replace(found, failed=execution, execution=runs.executions, unfinished=reason)
    seed = f"seed={runs.settings.seed}"
    parts = (found.unfinished, chooser.summary(done), seed, counter.summary())
    return replace(found, unfinished="; ".join(one for one in parts if one))
