"""Which schedule of a program runs: who runs it in many of them says so."""

from __future__ import annotations

from collections.abc import Callable


class Explored:
    """What the explorer says of the schedule that runs now; nothing where nobody explores."""

    deviates: Callable[[], bool] | None = None


def is_another() -> bool:
    """Whether this is another schedule than the plain one, so that the program may end before it has begun."""
    return Explored.deviates is not None and Explored.deviates()
