"""A run on the terminal: a progress line while it lasts, tables when it is over."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich import box
from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, SpinnerColumn, Task, TextColumn
from rich.table import Table
from rich.text import Text

from structsync.report import Counterexample, to_text

from . import _budget
from ._suite import Run
from ._verdict import FaultResult, Result, Verdict

_STYLES = {
    Verdict.CONFIRMED: "green",
    Verdict.REFUTED: "bold red",
    Verdict.VACUOUS: "bold red",
    Verdict.UNFINISHED: "yellow",
}


class ProgressLine:
    """The search that is running: states, transitions, rate, depth. Silent if not a terminal."""

    def __init__(self, console: Console) -> None:
        self._progress = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(bar_width=24),
            _Figures(),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
        self._task = self._progress.add_task("", total=None, figures=None)

    def __enter__(self) -> ProgressLine:
        if not self._progress.disable:  # rich 13 prints an empty line for one that is disabled
            self._progress.start()
        return self

    def __exit__(self, *error: object) -> None:
        if not self._progress.disable:
            self._progress.stop()

    def start(self, name: str) -> None:
        """Begin the line of another spec or fault."""
        self._progress.reset(self._task, total=None, description=name, figures=None)

    def update(self, seen: _budget.Progress) -> None:
        """Show how far the search has come; the bar is the share of known states expanded."""
        self._progress.update(self._task, completed=seen.expanded, total=seen.states, figures=seen)


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


def print_runs(console: Console, runs: Sequence[Run], differences: Sequence[str]) -> None:
    """Print every counterexample, then the closing tables and totals."""
    for shown in counterexamples(runs):
        console.print(to_text(shown))
        console.print()
    if any(run.results for run in runs):
        console.print(_properties(runs))
    if any(run.faults for run in runs):
        console.print(_faults(runs))
    for name in (name for run in runs for name in run.not_started):
        console.print(f"[yellow]not finished[/]: {name} was not started")
    for difference in differences:
        console.print(Text(f"manifest: {difference}", style="bold red"))
    console.print(_totals(runs))


def counterexamples(runs: Sequence[Run]) -> Iterator[Counterexample]:
    """Yield the counterexamples of refuted properties, not those of faults that were found."""
    for run in runs:
        for result in run.results:
            for one in result.properties:
                if one.counterexample:
                    yield one.counterexample


def _table(*columns: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in columns:
        right = name in ("states", "steps")
        table.add_column(
            name,
            justify="right" if right else "left",
            overflow="fold",
            no_wrap=name != "detail",
        )
    return table


def _properties(runs: Sequence[Run]) -> Table:
    table = _table("spec", "property", "kind", "verdict", "states", "detail")
    for result in (result for run in runs for result in run.results):
        for number, one in enumerate(result.properties):
            table.add_row(
                "" if number else result.spec,
                one.name,
                one.kind,
                Text(one.verdict.value, style=_STYLES[one.verdict]),
                f"{result.states:,}",
                Text(one.detail or (f"depth {result.depth}" if not number else "")),
            )
        table.add_section()
    return table


def _faults(runs: Sequence[Run]) -> Table:
    table = _table("fault", "spec", "refuted by", "verdict", "steps", "detail")
    for one in (one for run in runs for one in run.faults):
        steps = "" if one.steps is None else str(one.steps)
        table.add_row(
            one.name, one.spec, one.refuted_by, _fault_verdict(one), steps, Text(one.detail)
        )
    return table


def _fault_verdict(one: FaultResult) -> Text:
    if one.caught:
        return Text("found", style="green")
    return Text(one.verdict.value, style=_STYLES[one.verdict])


def _totals(runs: Sequence[Run]) -> str:
    results = [result for run in runs for result in run.results]
    faults = [fault for run in runs for fault in run.faults]
    both: list[Result | FaultResult] = [*results, *faults]
    states, transitions = sum(r.states for r in both), sum(r.transitions for r in both)
    seconds = sum(r.seconds for r in both)
    memory = sum(r.bytes_per_state * r.states for r in results)
    per_state = memory / max(sum(r.states for r in results), 1)
    verdicts = [one.verdict for result in results for one in result.properties]
    counted = ", ".join(f"{verdicts.count(v)} {v.value}" for v in Verdict if v in verdicts)
    found = sum(fault.caught for fault in faults)
    return (
        f"{len(results)} specs: {counted or 'no property'}; {found} of {len(faults)} faults found\n"
        f"{states:,} states, {transitions:,} transitions in {seconds:.1f} s "
        f"({transitions / max(seconds, 1e-9):,.0f}/s), {per_state:,.0f} bytes per state"
    )
