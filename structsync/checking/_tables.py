"""The verdicts of a run as tables, or as lists where a table would have to cut names and words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from rich import box
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from structsync.report._words import counted

from ._suite import Run
from ._verdict import FaultResult, Result, Verdict

#: A column of sentences that is narrower than this is no column any more.
MIN_DETAIL = 24

_STYLES = {
    Verdict.CONFIRMED: "green",
    Verdict.REFUTED: "bold red",
    Verdict.VACUOUS: "bold red",
    Verdict.UNFINISHED: "yellow",
}


class _ByWidth:
    """A table whose last column is a sentence, or a list where there is no room for the sentence."""

    def __init__(self, table: Table, details: Iterable[str], narrow: RenderableType) -> None:
        self._table = table
        self._needs = min(MIN_DETAIL, max(map(len, details), default=0))
        self._narrow = narrow

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        detail = self._table.columns[-1]
        unbounded = options.update(width=10_000)
        whole = Measurement.get(console, unbounded, self._table).maximum
        longest = max(Measurement.get(console, unbounded, cell).maximum for cell in detail.cells)
        fits = whole - longest + max(self._needs, len("detail")) <= options.max_width
        yield self._table if fits else self._narrow


def properties_table(runs: Sequence[Run]) -> RenderableType:
    """Return the verdict of each property of each spec."""
    results = [result for run in runs for result in run.results]
    table = _table("spec", "property", "kind", "verdict", "states", "detail")
    details: list[str] = []
    for result in results:
        for number, one in enumerate(result.properties):
            details.append(one.detail or (f"depth {result.depth}" if not number else ""))
            table.add_row(
                "" if number else result.spec,
                one.name,
                one.kind,
                Text(one.verdict.value, style=_STYLES[one.verdict]),
                f"{result.states:,}",
                Text(details[-1]),
            )
        table.add_section()
    return _ByWidth(table, details, _List(_properties_listed(results)))


def faults_table(runs: Sequence[Run]) -> RenderableType:
    """Return for each planted fault whether the property found it that has to."""
    faults = [one for run in runs for one in run.faults]
    table = _table("fault", "spec", "refuted by", "verdict", "steps", "detail")
    for one in faults:
        steps = "" if one.steps is None else str(one.steps)
        table.add_row(
            one.name, one.spec, one.refuted_by, _fault_verdict(one), steps, Text(one.detail)
        )
    return _ByWidth(table, [one.detail for one in faults], _List(_faults_listed(faults)))


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


def _fault_verdict(one: FaultResult) -> Text:
    if one.caught:
        return Text("found", style="green")
    return Text(one.verdict.value, style=_STYLES[one.verdict])


#: A heading (no verdict), or a verdict, what it is about, and a sentence for a line of its own.
_Row = tuple[Text | None, str, str]


def _properties_listed(results: Iterable[Result]) -> Iterator[_Row]:
    for result in results:
        yield None, f"{result.spec}: {result.states:,} states, depth {result.depth}", ""
        for one in result.properties:
            verdict = Text(one.verdict.value, style=_STYLES[one.verdict])
            yield verdict, f"{one.name} ({one.kind})", one.detail


def _faults_listed(faults: Iterable[FaultResult]) -> Iterator[_Row]:
    yield None, "planted faults", ""
    for one in faults:
        steps = "" if one.steps is None else f" in {counted(one.steps, 'step')}"
        yield (
            _fault_verdict(one),
            f"{one.name}: by {one.refuted_by} of {one.spec}{steps}",
            one.detail,
        )


class _List:
    """One line for each verdict, the verdict first and never cut, its sentence below it."""

    def __init__(self, rows: Iterable[_Row]) -> None:
        self._rows = [*rows]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for number, (verdict, what, detail) in enumerate(self._rows):
            if verdict is None:
                yield Text("\n" * (number > 0)).append(what, style="bold")
                continue
            grid = Table.grid(padding=(0, 2, 0, 2), pad_edge=True)
            grid.add_column(no_wrap=True)
            grid.add_column(overflow="fold")
            verdict.pad_right(max(len(one.value) for one in Verdict) - len(verdict))
            grid.add_row(verdict, Text(what))
            if detail:
                grid.add_row("", Text(detail, style="dim"))
            yield grid
        yield Text()
