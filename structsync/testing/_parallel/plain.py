"""Every schedule, in several processes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from structsync.testing._execution.schedule import Choice
from structsync.testing._search.result import SearchResult
from structsync.testing._search.runs import Runs
from structsync.testing._search.search import next_result

from .frontier import Frontier
from .jobs import Allowance, Bench, Job, Jobs
from .lane import FailedElsewhere, search_below
from .subtree import Subtree

#: In the first round of a search, and from then on twice as many in each, a lane makes so many executions.
FIRST = 1
#: At most so many, or so many steps: it takes a tenth of a second or two.
MOST, STEPS = 256, 8_000

Prefix: TypeAlias = tuple[Choice, ...]


@dataclass(frozen=True, slots=True)
class PlainDone:
    """What one lane has come to in one round."""

    executions: int
    steps: int
    left: list[Prefix]
    failed: FailedElsewhere | None


@dataclass(frozen=True, slots=True)
class PlainLane(Job):
    """Tries schedules that begin with these prefixes, one prefix after the other."""

    prefixes: list[Prefix]
    allowance: Allowance

    def run(self, bench: Bench) -> PlainDone:
        def below(prefix: Prefix) -> Subtree:
            chooser = Subtree(None)
            chooser.prefix = prefix
            return chooser

        meter = self.allowance.meter(bench.runs)
        left, failed = search_below(self.prefixes, meter, below, prefixes_left)
        return PlainDone(meter.executions, meter.steps, left, failed)


def prefixes_left(chooser: Subtree) -> list[Prefix]:
    """Return prefixes of all that was not tried."""
    return [prefix for _, prefix in chooser.left()]


def first_schedules(runs: Runs, most: int) -> SearchResult | list[Prefix]:
    """Try the first schedules here; return how the search ended, or prefixes of those that are left."""
    chooser = Subtree(None)
    while runs.executions < most:
        found = next_result(runs, chooser, None)
        if found is not None:
            return found
    return prefixes_left(chooser)


def plainly(runs: Runs, processes: Jobs, prefixes: list[Prefix]) -> SearchResult:
    """Try every schedule that begins with one of these prefixes."""
    frontier = Frontier(prefixes)
    each = FIRST
    while frontier:
        frontier.share()
        allotted = frontier.allot(each, runs.executions_left)
        jobs = [
            PlainLane(frontier.lanes[lane], Allowance(may, STEPS, runs.seconds_left))
            for lane, may in allotted
        ]
        results: list[PlainDone] = processes.run(jobs)
        for (lane, _), done in zip(allotted, results, strict=True):
            runs.count(done.executions, done.steps)
            if done.failed is not None:
                return done.failed.result(runs)
            frontier.lanes[lane] = done.left
        if frontier and (reason := runs.stopped(0)):
            return SearchResult(None, runs.executions, 0, 0, reason)
        each = min(2 * each, MOST)
    return SearchResult(None, runs.executions, 0, 0, None)
