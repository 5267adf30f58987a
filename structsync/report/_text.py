"""A counterexample as text for the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from rich import box
from rich.console import Console, ConsoleOptions, Group, RenderableType
from rich.padding import Padding
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from ._model import Blocked, Counterexample


def to_text(shown: Counterexample) -> RenderableType:
    """Return a counterexample as something that rich prints.

    The behaviour of a spec is a table: step, action, what it changed. A schedule also has a star
    at each step that differs from first in, first out, where the task parked and whom it woke; then
    who is blocked for ever, and the command that replays it, in one line on any terminal.
    """
    return Group(*(_schedule(shown) if shown.is_schedule else _behaviour(shown)))


def _behaviour(shown: Counterexample) -> Iterator[RenderableType]:
    title = Text()
    title.append(f"{shown.spec}: ", style="dim")
    title.append(shown.refuted, style="bold red")
    title.append(f" ({shown.kind}) is refuted {shown.length()}")
    yield title
    yield from _claim(shown)
    rows = [[Text("0"), Text("(start)", style="dim"), _start(shown)]]
    for index, step in enumerate(shown.steps):
        call = Text(step.call, style="bold red" if _breaks(shown, index) else "bold")
        changes = _cell(shown.changes(index), step.note, nothing="(nothing)")
        rows.append([_number(shown, index), call, changes])
    yield _table(("step", "action", "changes"), rows)
    yield from _ending(shown)


def _schedule(shown: Counterexample) -> Iterator[RenderableType]:
    title = Text(shown.kind.upper(), style="bold red")
    title.append(f"  {shown.spec}", style="not red")
    yield title
    yield from _claim(shown)
    rows = []
    if shown.start or shown.start_note:
        rows.append(
            [Text(), Text("0"), Text("(start)", style="dim"), Text(), Text(), _start(shown)]
        )
    for index, step in enumerate(shown.steps):
        style = "bold magenta" if step.injected else "bold"
        rows.append(
            [
                Text("*" if step.deviation else "", style="bold yellow"),
                _number(shown, index),
                Text(step.turn, style="bold red" if _breaks(shown, index) else style),
                Text(step.parked),
                Text("\n".join(step.woke)),
                _cell(shown.changes(index), step.note),
            ]
        )
    yield _table(("", "step", "task", "parks at", "wakes", "changes"), rows)
    yield from _ending(shown)
    if shown.blocked:
        yield Text("blocked for ever", style="bold red")
        yield _blocked(shown.blocked)
    if shown.covered:
        yield Text(f"covered: {shown.covered}", style="dim")
    yield Text("replay:", style="dim")
    yield _Whole(shown.replay or shown.token)


def _claim(shown: Counterexample) -> Iterator[RenderableType]:
    for line, style in ((shown.summary, "dim"), (shown.claim, "dim"), (shown.detail, "")):
        if line:
            yield Padding(Text(line, style=style), (0, 0, 0, 2), expand=False)


def _table(names: Sequence[str], rows: Sequence[Sequence[Text]]) -> Table:
    """Return a table without the columns that nobody fills."""
    used = [n for n, name in enumerate(names) if any(row[n] for row in rows)]
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for n in used:
        right = names[n] == "step"
        table.add_column(names[n], justify="right" if right else "left", overflow="fold")
    for row in rows:
        table.add_row(*(row[n] for n in used))
    return table


def _number(shown: Counterexample, index: int) -> Text:
    again = shown.cycle_start is not None and index >= shown.cycle_start
    return Text(f"↻ {index + 1}" if again else f"{index + 1}")


def _breaks(shown: Counterexample, index: int) -> bool:
    return index == len(shown.steps) - 1 and shown.cycle_start is None


def _start(shown: Counterexample) -> Text:
    return _cell(shown.start, shown.start_note, nothing="(nothing)")


def _cell(values: Mapping[str, str], note: str, nothing: str = "") -> Text:
    lines = [Text.assemble((name, "cyan"), f" {value}") for name, value in values.items()]
    if nothing and not lines:
        lines.append(Text(nothing, style="dim"))
    if note:
        lines.append(Text(note, style="italic red"))
    return Text("\n").join(lines)


def _ending(shown: Counterexample) -> Iterator[RenderableType]:
    if shown.ending():
        yield Text(shown.ending(), style="red")


def _blocked(blocked: Sequence[Blocked]) -> Table:
    table = Table.grid(padding=(0, 0, 0, 2), pad_edge=True)
    table.add_column(style="bold", overflow="fold")
    table.add_column(overflow="fold")
    for one in blocked:
        lines = [Text(one.why)] if one.why else []
        lines += [Text(" < ".join(one.where), style="dim")] if one.where else []
        table.add_row(Text(one.task), Text("\n").join(lines))
    return table


class _Whole:
    """A line that no width cuts: half of a command replays nothing."""

    def __init__(self, line: str) -> None:
        self._line = line

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Segment]:
        yield _Uncut(self._line)
        yield Segment.line()


class _Uncut(Segment):
    """Text that takes no room, because rich crops each line to what the terminal has."""

    @property
    def cell_length(self) -> int:
        return 0
