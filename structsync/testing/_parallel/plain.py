"""Every schedule, in several processes."""

from __future__ import annotations

from dataclasses import dataclass

from structsync.testing._errors import NondeterminismError
from structsync.testing._execution.execution import Ending, Execution
from structsync.testing._execution.schedule import Choice
from structsync.testing._search.choosers import Prefix
from structsync.testing._search.result import SearchResult
from structsync.testing._search.runs import Runs
from structsync.testing._search.search import next_result

from .frontier import Frontier
from .jobs import Allowance, Bench, Job
from .processes import Processes
from .subtree import Subtree

#: In the first round of a search, and from then on twice as many in each, a lane makes so many executions.
FIRST = 1
#: At most so many, or so many steps: it takes a tenth of a second or two.
MOST, STEPS = 256, 8_000


@dataclass(frozen=True, slots=True)
class FailedElsewhere:
    """A schedule that fails, and how; without what belongs to the process in which it did."""

    choices: tuple[Choice, ...]
    signature: tuple[str, str]
    message: str

    @classmethod
    def of(cls, execution: Execution) -> FailedElsewhere:
        """Return what another process needs of an execution that has failed."""
        ending = execution.ending
        assert ending is not None
        return cls(tuple(execution.choices), ending.signature, ending.message)

    def repeated(self, runs: Runs) -> Execution:
        """Make the schedule again, in this process.

        Raises:
          NondeterminismError: it does not fail here as it did there.
        """
        execution = runs.execute(Prefix(self.choices))
        if execution.ending is None or execution.ending.signature != self.signature:
            raise NondeterminismError(
                f"a schedule ended in a worker process with {self.signature[0]} {self.message}, and here with "
                f"{_shown(execution.ending)}: the test depends on what only one of them has, such as a "
                "change that was made after the import, or the order of a set (PYTHONHASHSEED)"
            )
        return execution


def _shown(ending: Ending | None) -> str:
    return "nothing" if ending is None else f"{ending.kind} {ending.message}".rstrip()


@dataclass(frozen=True, slots=True)
class PlainDone:
    """What one lane has come to in one round."""

    executions: int
    steps: int
    left: list[tuple[Choice, ...]]
    failed: FailedElsewhere | None


@dataclass(frozen=True, slots=True)
class PlainLane(Job):
    """Tries schedules that begin with these prefixes, one prefix after the other."""

    prefixes: list[tuple[Choice, ...]]
    allowance: Allowance

    def run(self, bench: Bench) -> PlainDone:
        meter = self.allowance.meter(bench.runs)
        failed: FailedElsewhere | None = None
        left = [*self.prefixes]
        while left and failed is None and not meter.is_over:
            chooser = Subtree(None)
            chooser.prefix = left.pop(0)
            more = True
            while more and failed is None and not meter.is_over:
                chooser.begin()
                execution = bench.runs.execute(chooser)
                if execution.ending is not None and execution.ending.failed:
                    failed = FailedElsewhere.of(execution)
                more = chooser.advance()
            if more:
                left = [*(prefix for _, prefix in chooser.left()), *left]
        return PlainDone(meter.executions, meter.steps, left, failed)


def first_schedules(runs: Runs, most: int) -> SearchResult | list[tuple[Choice, ...]]:
    """Try the first schedules here; return how the search ended, or prefixes of those that are left."""
    chooser = Subtree(None)
    while runs.executions < most:
        found = next_result(runs, chooser, None)
        if found is not None:
            return found
    return [prefix for _, prefix in chooser.left()]


def plainly(runs: Runs, processes: Processes, prefixes: list[tuple[Choice, ...]]) -> SearchResult:
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
        failed: FailedElsewhere | None = None
        for (lane, _), done in zip(allotted, processes.run(jobs), strict=True):
            if failed is None:
                runs.count(done.executions, done.steps)
                failed = done.failed
            frontier.lanes[lane] = done.left
        if failed is not None:
            return stopped_at(runs, failed)
        if frontier and (reason := runs.stopped(0)):
            return SearchResult(None, runs.executions, 0, 0, reason)
        each = min(2 * each, MOST)
    return SearchResult(None, runs.executions, 0, 0, None)


def stopped_at(runs: Runs, failed: FailedElsewhere) -> SearchResult:
    """Return a result with the execution that failed elsewhere, which is repeated here for that."""
    number = runs.executions
    return SearchResult(failed.repeated(runs), number, 0, 0, "stopped at the first failure")
