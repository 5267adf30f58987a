"""The command. It ends with 0 whatever it measured: a ratio is a figure, not a test."""

from __future__ import annotations

import json
from pathlib import Path

import click
from rich.console import Console

from ._measure import Effort, measure
from ._report import Line, document, table, versions
from ._rows import ROWS


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
def main(names: tuple[str, ...], rounds: int, quick: bool, target: Path | None) -> None:
    """Print what structsync costs, as ratios, beside the targets: all rows, or those named.

    A few rows, fast: python -m benchmarks contended uncontended --rounds 5
    """
    effort = Effort(1 if quick else rounds, quick)
    console = Console()
    if not console.is_terminal:
        console.width = 120  # into a file or a pipe: one line per figure
    lines: list[Line] = []
    for row in ROWS:
        if not names or row.name in names:
            with console.status(row.name):
                lines += [Line(row, figure) for figure in measure(row.cases(effort), effort)]
    title = ", ".join(f"{name} {version}" for name, version in versions().items())
    console.print(table(lines, title))
    if target:
        target.write_text(json.dumps(document(lines), indent=1) + "\n")


if __name__ == "__main__":
    main(prog_name="python -m benchmarks")
