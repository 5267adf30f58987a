"""Which schedule of a program runs, as told by what runs it in many of them."""

from __future__ import annotations

from collections.abc import Callable

#: Each tells whether the schedule that runs now is another one than the plain one; none where nothing is explored.
deviations: list[Callable[[], bool]] = []


def is_another() -> bool:
    """Whether this is another schedule than the plain one, so that the program may end before it has begun."""
    return any(deviates() for deviates in deviations)
