"""A run on the terminal: a progress line while it lasts, tables when it is over."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Console
from rich.text import Text

from structsync.report import Counterexample, to_text
from structsync.report._progress import ProgressLine
from structsync.report._words import counted

from . import _budget
from ._overall import Overall
from ._suite import Run
from ._tables import faults_table, properties_table
from ._verdict import FaultResult, Result, Verdict


class SearchLine(ProgressLine):
    """The search that is running: states, transitions, rate, depth, and how far the whole run is."""

    overall: Overall | None = None
    """How far the whole run has come, if it is more than one search."""

    def start(self, name: str) -> None:
        """Begin the line of another spec or fault."""
        self.begin(name, figures=str(self.overall or ""))

    def update(self, seen: _budget.Progress) -> None:
        """Show how far the search has come; the bar is the share of known states expanded."""
        rate = seen.transitions / max(seen.seconds, 1e-9)
        figures = (
            f"{seen.states:,} states  {seen.transitions:,} transitions  "
            f"{rate:,.0f}/s  depth {seen.depth}"
        )
        if self.overall:
            figures += f"  {self.overall}"
        self.show(figures, completed=seen.expanded, total=seen.states)


def print_runs(
    console: Console, runs: Sequence[Run], differences: Sequence[str], seconds: float
) -> None:
    """Print every counterexample, then the closing tables and totals.

    Args:
        console: where to.
        runs: what was found.
        differences: what differs from the manifest.
        seconds: how long all of it took.
    """
    for shown in counterexamples(runs):
        console.print(to_text(shown))
        console.print()
    if any(run.results for run in runs):
        console.print(properties_table(runs))
    if any(run.faults for run in runs):
        console.print(faults_table(runs))
    for name in (name for run in runs for name in run.not_started):
        console.print(f"[yellow]not finished[/]: {name} was not started")
    for difference in differences:
        console.print(Text(f"manifest: {difference}", style="bold red"))
    console.print(_totals(runs, seconds))


def counterexamples(runs: Sequence[Run]) -> Iterator[Counterexample]:
    """Yield the counterexamples of refuted properties, not those of faults that were found."""
    for run in runs:
        for result in run.results:
            for one in result.properties:
                if one.counterexample:
                    yield one.counterexample


def _totals(runs: Sequence[Run], seconds: float) -> str:
    results = [result for run in runs for result in run.results]
    faults = [fault for run in runs for fault in run.faults]
    both: list[Result | FaultResult] = [*results, *faults]
    states, transitions = sum(r.states for r in both), sum(r.transitions for r in both)
    memory = sum(r.bytes_per_state * r.states for r in results)
    per_state = memory / max(sum(r.states for r in results), 1)
    verdicts = [one.verdict for result in results for one in result.properties]
    verdict_counts = ", ".join(f"{verdicts.count(v)} {v.value}" for v in Verdict if v in verdicts)
    found = f"{sum(fault.caught for fault in faults)} of {len(faults)} faults found"
    specs = counted(len(results), "specification")
    return (
        f"{specs}: {verdict_counts or 'no property'}; {found if faults else 'no fault was planted'}\n"
        f"{states:,} states, {transitions:,} transitions in {seconds:.1f} s "
        f"({transitions / max(seconds, 1e-9):,.0f}/s), {per_state:,.0f} bytes per state"
    )
