"""A snapshot as a table, and below it which task waits for which."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, TextIO

from .places import current_time, state_for_people
from .snapshot import Holder, PrimitiveSnapshot, Snapshot, Waiter, snapshot

if TYPE_CHECKING:
    from rich.table import Table

#: Of a long queue so many are shown; and so many primitives that no task waits for.
MOST_WAITERS, MOST_IDLE = 20, 20
#: Where it is not printed on a terminal.
WIDTH = 100


def show(shown: Snapshot | None = None, *, file: TextIO | None = None) -> None:
    """Print which tasks hold and wait for what now, as a table, and below it which task waits for which.

    Primitives that no task holds or waits for are left out; of a long queue the head is shown.

    Args:
      shown: a :func:`snapshot` that was taken before; by default a new one.
      file: where to print; by default ``sys.stderr``.

    Raises:
      TypeError: if ``shown`` is no snapshot.
    """
    if not (shown is None or isinstance(shown, Snapshot)):
        raise TypeError(f"shown must be what snapshot() returned, or None, not {shown!r}")
    # Late: a program that only synchronizes need not load it.
    from rich.console import Console

    shown = snapshot() if shown is None else shown
    console = Console(file=sys.stderr if file is None else file)
    if not console.is_terminal:  # a log has no width of its own
        console.width = max(console.width, WIDTH)
    busy = [one for one in shown.primitives if one.waiters or one.holders]
    if not busy:
        console.print("structsync: no task holds or waits for anything", markup=False)
        return
    console.print(_table(busy))
    left = len([one for one in busy if not one.waiters]) - MOST_IDLE
    if left > 0:
        console.print(f"and {left} more that are held but that no task waits for", markup=False)
    graph = shown.graph()
    if graph.edges:
        console.print(graph.to_text(), markup=False, highlight=False)


def text_of(shown: Snapshot) -> str:
    """Return what :func:`show` prints, without colours."""
    import io

    out = io.StringIO()
    show(shown, file=out)
    return out.getvalue().rstrip()


def _table(busy: list[PrimitiveSnapshot]) -> Table:
    from rich.table import Table
    from rich.text import Text

    table = Table(title="structsync: which tasks hold and wait", title_justify="left")
    for name in ("primitive", "held by", "waiting, in their order"):
        table.add_column(name, overflow="fold")
    idle = 0
    for one in busy:
        idle += not one.waiters
        if idle > MOST_IDLE:
            break
        waiting = [_waiter(number, each) for number, each in enumerate(one.waiters[:MOST_WAITERS])]
        if len(one.waiters) > MOST_WAITERS:
            waiting.append(f"... and {len(one.waiters) - MOST_WAITERS} more")
        table.add_row(
            Text(f"{one.title}\n{state_for_people(one.state)}"),
            Text("\n".join(map(_holder, one.holders)) or "not known"),
            Text("\n".join(waiting)),
            end_section=True,
        )
    return table


def _holder(one: Holder) -> str:
    units = f" ({one.units})" if one.units > 1 else ""
    return f"{one.name}{units}{_details(one.since, one.line)}"


def _waiter(number: int, one: Waiter) -> str:
    claim = f" {one.claim}" if one.claim else ""
    idle = "" if one.parked else ", not waiting for it now"
    return f"{number + 1}. {one.name}{claim}{idle}{_details(one.since, one.line)}"


def _details(since: float | None, line: str | None) -> str:
    words = [] if line is None else [line]
    if since is not None and (now := current_time()) is not None:
        words.append(f"for {now - since:.1f} s")
    return f"  [{', '.join(words)}]" if words else ""
