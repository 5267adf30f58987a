"""All explorations of released libraries, and what came of each."""

from __future__ import annotations

from importlib.metadata import version

from structsync.testing import Exploration, NondeterminismError, explore

from . import (
    on_aiologic,
    on_anyio,
    on_httpcore,
    on_slurry,
    on_tricycle,
    on_trio,
    on_trio_util,
    on_websockets,
)
from ._rows import Row

MODULES = (
    on_trio,
    on_anyio,
    on_trio_util,
    on_tricycle,
    on_aiologic,
    on_httpcore,
    on_websockets,
    on_slurry,
)
ROWS: list[Row] = [row for module in MODULES for row in module.ROWS]

#: No row is worth more than this.
SECONDS = 75.0


def explored(row: Row) -> Exploration | None:
    """Return what comes of a row; None where it is refused."""
    options = row.options.copy()
    options.setdefault("seconds", SECONDS)
    try:
        return explore(row.program, **options)
    except NondeterminismError:
        return None


def verdict_of(found: Exploration | None) -> str:
    """Return the verdict in words."""
    return "refused" if found is None else found.verdict.value


def line(row: Row) -> list[str]:
    """Explore a row, and return its line in the record."""
    found = explored(row)
    size = ["", "", ""]
    if found is not None:
        failure = found.failure
        executions = found.executions if failure is None else failure.execution
        size = [
            f"{executions:,}",
            f"{found.states:,}" if found.states else "",
            f"{found.seconds:.1f}",
        ]
    library = f"{row.library} {version(row.library)}"
    return [library, row.what, row.holds, verdict_of(found), *size, row.judgement]


HEADER = ["library", "what", "property", "verdict", "executions", "states", "seconds", "judgement"]
