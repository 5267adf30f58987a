"""What a search finds out against a property."""

from __future__ import annotations

from dataclasses import dataclass

from ._liveness import Lasso
from ._model import Move


@dataclass(frozen=True, slots=True)
class Finding:
    """How a property was refuted: in a state, by a move from it, or by a behaviour after it."""

    property: str
    state: int
    detail: str
    move: Move | None = None
    lasso: Lasso | None = None
    no_answer: bool = False
    """True if the property raised something else than an AssertionError of its own."""


def error_text(error: BaseException) -> str:
    """Return an error in one line: its type, and its text if it has one."""
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
