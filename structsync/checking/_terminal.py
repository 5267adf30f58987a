"""A run on the terminal: a progress line while it lasts, tables when it is over."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, SpinnerColumn, Task, TextColumn
from rich.text import Text

from structsync.report import Counterexample, to_text
from structsync.report._words import counted

from . import _budget
from ._overall import Overall
from ._suite import Run
from ._tables import faults_table, properties_table
from ._verdict import FaultResult, Result, Verdict


class ProgressLine:
    """The search that is running: states, transitions, rate, depth. Silent if not a terminal."""

    def __init__(self, console: Console) -> None:
        self._progress = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(bar_width=24),
            _Figures(),
            TextColumn("{task.fields[overall]}"),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
        self._task = self._progress.add_task("", total=None, figures=None, overall="")
        self.overall: Overall | None = None
        """How far the whole run has come, if it is more than one search."""

    def __enter__(self) -> ProgressLine:
        if not self._progress.disable:  # rich 13 prints an empty line for one that is disabled
            self._progress.start()
        return self

    def __exit__(self, *error: object) -> None:
        if not self._progress.disable:
            self._progress.stop()

    def start(self, name: str) -> None:
        """Begin the line of another spec or fault."""
        self._progress.reset(
            self._task, total=None, description=name, figures=None, overall=self.overall or ""
        )

    def update(self, seen: _budget.Progress) -> None:
        """Show how far the search has come; the bar is the share of known states expanded."""
        self._progress.update(
            self._task,
            completed=seen.expanded,
            total=seen.states,
            figures=seen,
            overall=self.overall or "",
        )


class _Figures(ProgressColumn):
    def render(self, task: Task) -> Text:
        seen: _budget.Progress | None = task.fields.get("figures")
        if seen is None:
            return Text("")
        rate = seen.transitions / max(seen.seconds, 1e-9)
        return Text(
            f"{seen.states:,} states  {seen.transitions:,} transitions  "
            f"{rate:,.0f}/s  depth {seen.depth}"
        )


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
    found = sum(fault.caught for fault in faults)
    specs = counted(len(results), "specification")
    return (
        f"{specs}: {verdict_counts or 'no property'}; {found} of {len(faults)} faults found\n"
        f"{states:,} states, {transitions:,} transitions in {seconds:.1f} s "
        f"({transitions / max(seconds, 1e-9):,.0f}/s), {per_state:,.0f} bytes per state"
    )
