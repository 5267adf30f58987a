"""A clock of trio's for tests, inside of an execution: it moves the time of the execution."""

from __future__ import annotations

from math import inf
from typing import cast

import trio
import trio.testing

from .execution import VirtualClock


class MovedClock(trio.abc.Clock):
    """Stands for a :class:`trio.testing.MockClock` that a fixture has made.

    The time passes as soon as no task can run, if the clock would jump or run by itself, and else only by
    :meth:`jump`. How fast it would run makes no difference.
    """

    def __init__(self, made: trio.testing.MockClock, clock: VirtualClock) -> None:
        self._clock = clock
        self._rate = made.rate
        self._autojump_threshold = made.autojump_threshold
        self._changed()

    def _changed(self) -> None:
        self._clock.passes = self._rate > 0 or self._autojump_threshold < inf

    @property
    def rate(self) -> float:
        """How fast it would run in plain trio."""
        return self._rate

    @rate.setter
    def rate(self, new: float) -> None:
        if new < 0:
            raise ValueError("rate must be >= 0")
        self._rate = float(new)
        self._changed()

    @property
    def autojump_threshold(self) -> float:
        """How long it would wait, before it jumps to the next deadline."""
        return self._autojump_threshold

    @autojump_threshold.setter
    def autojump_threshold(self, new: float) -> None:
        self._autojump_threshold = float(new)
        self._changed()

    def jump(self, seconds: float) -> None:
        """Move the time on."""
        if seconds < 0:
            raise ValueError("time can't go backwards")
        self._clock.now += seconds

    def start_clock(self) -> None:
        """Do nothing: it runs already."""

    def current_time(self) -> float:
        return self._clock.now

    def deadline_to_sleep_time(self, deadline: float) -> float:
        """Never called: it is not the clock of the run."""
        raise AssertionError


def in_execution(value: object) -> object:
    """Return what a fixture has made, or what stands for it inside of an execution."""
    if not isinstance(value, trio.testing.MockClock):
        return value
    return MovedClock(value, cast(VirtualClock, trio.lowlevel.current_clock()))
