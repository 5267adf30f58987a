"""The line of a terminal on which a search shows how far it has come."""

from __future__ import annotations

from typing import Any, Self

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, SpinnerColumn, TextColumn
from rich.table import Column

#: In columns. Below it there is no bar: the name and the figures say more.
WIDE_ENOUGH_FOR_A_BAR = 110


class ProgressLine:
    """A name, a bar and figures; silent if not on a terminal, and erased at the end.

    Nothing is cut off: where the name and the figures are wider than the terminal, they are folded.
    """

    def __init__(self, console: Console) -> None:
        columns: list[ProgressColumn] = [
            SpinnerColumn(),
            TextColumn("{task.description}", table_column=Column(overflow="fold")),
            TextColumn("{task.fields[figures]}", table_column=Column()),
        ]
        if console.width >= WIDE_ENOUGH_FOR_A_BAR:
            columns.insert(2, BarColumn(bar_width=24))
        self._progress = Progress(
            *columns, console=console, transient=True, disable=not console.is_terminal
        )
        self._task = self._progress.add_task("", total=None, figures="")

    def __enter__(self) -> Self:
        if not self._progress.disable:  # rich 13 prints an empty line for one that is disabled
            self._progress.start()
        return self

    def __exit__(self, *error: object) -> None:
        if not self._progress.disable:
            self._progress.stop()

    def begin(self, name: str, total: int | None = None, figures: str = "") -> None:
        """Show another search; ``total`` is what fills the bar, if that is known."""
        self._progress.reset(self._task, total=total, description=name, figures=figures)

    def show(self, figures: str, completed: int, total: int | None = None) -> None:
        """Show how far the search has come; ``total`` replaces what fills the bar."""
        changed: dict[str, Any] = {} if total is None else {"total": total}
        self._progress.update(self._task, completed=completed, figures=figures, **changed)

    def print(self, text: str) -> None:
        """Print a line above, with the name before it; nothing if not on a terminal."""
        if not self._progress.disable:
            name = self._progress.tasks[self._task].description
            self._progress.console.print(f"{name}: {text}", markup=False, highlight=False)
