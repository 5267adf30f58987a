"""A counterexample as a table for the terminal."""

from __future__ import annotations

from collections.abc import Mapping

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from structsync.report._model import Counterexample


def to_text(shown: Counterexample) -> RenderableType:
    """Return a counterexample as a rich table: step, action, what it changed."""
    table = Table(box=box.SIMPLE_HEAD, title_justify="left", pad_edge=False)
    table.add_column("step", justify="right")
    table.add_column("action", style="bold", overflow="fold")
    table.add_column("changes", overflow="fold")
    table.add_row("0", Text("(start)", style="dim"), _cell(shown.start, shown.start_note))
    for index, step in enumerate(shown.steps):
        number = f"{index + 1}"
        if shown.cycle_start is not None and index >= shown.cycle_start:
            number = f"↻ {number}"
        last = index == len(shown.steps) - 1 and shown.cycle_start is None
        style = "red" if last else ""
        call = Text(step.call, style=style)
        table.add_row(number, call, _cell(shown.changes(index), step.note))
    lines: list[RenderableType] = [_heading(shown), table]
    if shown.ending():
        lines.append(Text(shown.ending(), style="red"))
    return Group(*lines)


def _heading(shown: Counterexample) -> Text:
    text = Text()
    text.append(f"{shown.spec}: ", style="dim")
    text.append(shown.refuted, style="bold red")
    text.append(f" ({shown.kind}) is refuted {shown.length()}")
    for line in (shown.claim, shown.detail):
        if line:
            text.append(f"\n  {line}", style="dim" if line is shown.claim else "")
    return text


def _cell(values: Mapping[str, str], note: str) -> Text:
    text = Text()
    for name, value in values.items():
        text.append("\n" if text else "")
        text.append(f"{name} ", style="cyan")
        text.append(value)
    if not values:
        text.append("(nothing)", style="dim")
    if note:
        text.append(f"\n{note}", style="italic red")
    return text
