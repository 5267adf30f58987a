"""A counterexample as text for the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from rich import box
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.padding import Padding
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from ._folding import Fold, rows
from ._model import Blocked, Counterexample, Sentence
from ._words import counted

#: From this width on, the table of a schedule has a column for each fact even where that breaks lines.
WIDE = 120
#: Of a deep stack so many frames are printed.
MOST_FRAMES = 8


def to_text(shown: Counterexample) -> RenderableType:
    """Return a counterexample as something that rich prints.

    The behaviour of a spec is a table: step, action, what it changed. A schedule begins with a few
    lines: where it differs from plain FIFO order, and what follows. Its table has a star at each such
    step, and says where the task parked and which tasks it woke; steps that show nothing are folded.
    Then come the tasks that are blocked forever, and the command that replays it, in one line on any
    terminal.
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
    yield from _short(shown)
    yield _ByWidth(shown)
    yield from _ending(shown)
    if shown.blocked:
        yield Text("blocked forever", style="bold red")
        yield _blocked(shown.blocked)
    # What is not told in a few lines has this above the table.
    for line in (
        shown.summary if shown.story else "",
        shown.covered and f"covered: {shown.covered}",
    ):
        if line:
            yield Text(line, style="dim")
    yield Text("replay:", style="dim")
    yield _Whole(shown.replay or shown.token)


def _short(shown: Counterexample) -> Iterator[RenderableType]:
    """Yield the schedule in a few lines, with what it led to."""
    if not shown.story:
        yield from _claim(shown)
        return
    heading, *deviations = shown.story
    yield Padding(Text(heading.text), (0, 0, 0, 2), expand=False)
    yield _sentences(shown, deviations)
    for line in (shown.claim, shown.detail):
        if line:
            yield Padding(Text(line, style="red"), (0, 0, 0, 2), expand=False)
    yield _sentences(shown, shown.reasons)


def _sentences(shown: Counterexample, told: Sequence[Sentence]) -> Table:
    """Return sentences, with a star and the number of the step before those that are about one."""
    table = Table.grid(padding=(0, 1, 0, 0))
    table.add_column(width=4, justify="right", style="bold yellow")
    table.add_column(min_width=3, justify="right", style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    before = None
    for one in told:
        number = "" if one.step in (None, before) else f"{one.step}"
        step = shown.step_of(one)
        star = "*" if number and step is not None and step.deviation else ""
        table.add_row(star, number, Text(one.text))
        before = one.step
    return table


class _ByWidth:
    """The steps as a table with a column for each fact, or with one for all where that is too wide."""

    def __init__(self, shown: Counterexample) -> None:
        self._shown = shown

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        found = [*_rows(self._shown)]
        table = _table(("", "step", "task", "parks at", "wakes", "changes"), found)
        if (
            options.max_width < WIDE
            and table.__rich_measure__(console, options.update(max_width=WIDE)).maximum
            > options.max_width
        ):
            table = _table(("", "step", "task", "what"), [*map(_merged, found)])
        # Code needs the room more than a sentence about a task does.
        (task,) = (column for column in table.columns if column.header == "task")
        task.max_width = min(max(12, options.max_width * 28 // 100), 26)
        yield table


def _merged(row: Sequence[Text]) -> Sequence[Text]:
    star, step, task, parks, wakes, changes = row
    woken = Text("wakes " + wakes.plain.replace("\n", ", "), style="dim") if wakes else Text()
    return star, step, task, Text("\n").join(one for one in (parks, woken, changes) if one)


def _rows(shown: Counterexample) -> Iterator[Sequence[Text]]:
    if shown.start or shown.start_note:
        yield [Text(), Text("0"), Text("(start)", style="dim"), Text(), Text(), _start(shown)]
    for row in rows(shown):
        if isinstance(row, Fold):
            told = (Text(), Text(row.steps), Text(row.who), Text(row.text), Text(), Text())
            for one in told:
                one.stylize("dim")
            yield told
            continue
        step = shown.steps[row]
        style = "bold magenta" if step.injected else "bold"
        yield [
            Text("*" if step.deviation else "", style="bold yellow"),
            _number(shown, row),
            Text(step.turn, style="bold red" if _breaks(shown, row) else style),
            Text(step.parked),
            Text("\n".join(step.woke)),
            _cell(shown.changes(row), step.note),
        ]


def _claim(shown: Counterexample) -> Iterator[RenderableType]:
    for line, style in ((shown.summary, "dim"), (shown.claim, "dim"), (shown.detail, "")):
        if line:
            yield Padding(Text(line, style=style), (0, 0, 0, 2), expand=False)


def _table(names: Sequence[str], rows: Sequence[Sequence[Text]]) -> Table:
    """Return a table without the columns that no row fills."""
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
        for frame in one.where[:MOST_FRAMES]:
            lines.append(Text(frame, style="dim"))
            if one.source and frame is one.where[0]:
                lines[-1].append(f": {one.source}", style="not dim")
        if more := len(one.where[MOST_FRAMES:]):
            lines.append(Text(f"and {counted(more, 'more frame')}", style="dim"))
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
