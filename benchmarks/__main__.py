"""The command. It ends with 0 whatever it measured, a ratio being a figure and not a test; except with --check."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import click
from rich.console import Console

from . import _curves, _instructions, _plots, _recorded
from ._measure import Effort, measure
from ._report import Line, document, table, versions
from ._rows import ROWS, Row

INSTRUCTIONS = Row("instructions", "counted by callgrind", None, lambda _: _instructions.cases())


@click.command()
@click.argument(
    "names",
    nargs=-1,
    metavar="[ROW]...",
    type=click.Choice(list(dict.fromkeys(row.name for row in ROWS))),
)
@click.option("--rounds", default=9, show_default=True, type=click.IntRange(1))
@click.option("--quick", is_flag=True, help="Tiny sizes, one round: does it run at all?")
@click.option("--json", "target", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE")
@click.option(
    "--instructions", is_flag=True, help="Count instructions too, under valgrind: minutes."
)
@click.option(
    "--plots",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="FOLDER",
    help="Measure the curves too, and write them as SVG: needs matplotlib.",
)
@click.option(
    "--check",
    is_flag=True,
    help=f"End with 1 if a ratio is over {_recorded.TOLERANCE:.0%} worse than in recorded.json.",
)
@click.option("--record", is_flag=True, help="Write the ratios into recorded.json.")
def main(
    names: tuple[str, ...],
    rounds: int,
    quick: bool,
    target: Path | None,
    instructions: bool,
    plots: Path | None,
    check: bool,
    record: bool,
) -> None:
    """Print what structsync costs, as ratios, beside the targets: all rows, or those named.

    A few rows, fast: python -m benchmarks contended uncontended --rounds 5
    """
    effort = Effort(1 if quick else rounds, quick)
    console = Console()
    if not console.is_terminal:
        console.width = 120  # into a file or a pipe: one line per figure
    rows = [row for row in ROWS if not names or row.name in names]
    lines: list[Line] = []
    for row in [*rows, *([INSTRUCTIONS] if instructions else [])]:
        with console.status(row.name):
            once = Effort(1, quick) if row is INSTRUCTIONS else effort  # counts do not scatter
            lines += [Line(row, figure) for figure in measure(row.cases(once), once)]
    title = ", ".join(f"{name} {version}" for name, version in versions().items())
    console.print(table(lines, title))
    drawn = list(drawn_curves(effort, console)) if plots else []
    if plots:
        _plots.write(drawn, plots)
    if target:
        curves = [one.document() for one in drawn]
        target.write_text(json.dumps(document(lines) | {"curves": curves}, indent=1) + "\n")
    if record:
        _recorded.write(lines, datetime.now(UTC).date())
    if check and (found := _recorded.worse(lines, _recorded.read())):
        raise click.ClickException("\n".join(["these are worse than on record:", *found]))


def drawn_curves(effort: Effort, console: Console) -> Iterator[_curves.Drawn]:
    for curve in _curves.curves(effort):
        with console.status(f"curve: {curve.name}"):
            yield _curves.draw(curve, effort)


if __name__ == "__main__":
    main(prog_name="python -m benchmarks")
