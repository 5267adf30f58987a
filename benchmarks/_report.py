"""The figures as a table for a person and as JSON for a program."""

from __future__ import annotations

import platform
from dataclasses import dataclass
from typing import Any

import trio
from rich.table import Table

from ._measure import Figure
from ._rows import AtLeast, Row


@dataclass(frozen=True, slots=True)
class Line:
    """One figure and what became of its target."""

    row: Row
    figure: Figure

    @property
    def met(self) -> bool | None:
        """Whether the median meets the target; None where there is none."""
        if self.row.target is None or not self.figure.compared:
            return None
        return self.row.target.met(self.figure.median)

    def shown(self, value: float) -> str:
        target = self.row.target
        is_rate = isinstance(target, AtLeast) and target.is_rate
        return f"{value:,.0f}" if is_rate or value >= 1000 else f"{value:.3f}"


VERDICTS = {True: "[green]met[/]", False: "[red]missed[/]", None: ""}


def table(lines: list[Line], title: str) -> Table:
    """Return the table; a row's name stands only before its first figure."""
    shown = Table(title=title)
    for heading in ("row", "what", "case"):
        shown.add_column(heading)
    for heading in ("median", "middle half", "target"):
        shown.add_column(heading, justify="right")
    shown.add_column("")
    last = None
    for line in lines:
        row, figure = line.row, line.figure
        if row is not last:
            shown.add_section()
        names = (row.name, row.what) if row is not last else ("", "")
        low, high = figure.spread
        target = "" if line.met is None else str(row.target)
        spread = f"{line.shown(low)} - {line.shown(high)}"
        median = line.shown(figure.median)
        shown.add_row(*names, figure.case, median, spread, target, VERDICTS[line.met])
        last = row
    return shown


def versions() -> dict[str, str]:
    return {"python": platform.python_version(), "trio": trio.__version__}


def document(lines: list[Line]) -> dict[str, Any]:
    """Return everything that was measured, ready for JSON."""
    return {
        **versions(),
        "figures": [
            {
                "row": line.row.name,
                "what": line.row.what,
                "case": line.figure.case,
                "median": line.figure.median,
                "middle_half": line.figure.spread,
                "rounds": line.figure.rounds,
                "target": None if line.met is None else str(line.row.target),
                "met": line.met,
            }
            for line in lines
        ],
    }
