"""Clocks that only measure: in an explored test they tell the time of the schedule, as trio's does.

What the wall clock says no schedule decides. How much time has passed the schedule does decide.
"""

from __future__ import annotations

import functools
import sys
import time
from collections.abc import Callable
from types import FrameType

from .execution import Execution

#: Of the functions of :mod:`time` those whose zero means nothing.
MEASURING = (
    "monotonic",
    "monotonic_ns",
    "perf_counter",
    "perf_counter_ns",
    "process_time",
    "process_time_ns",
    "thread_time",
    "thread_time_ns",
)


def telling(
    name: str,
    asked: Callable[[FrameType], Execution | None],
    note: Callable[[str], None],
) -> Callable[[], float]:
    """Return what takes the place of a function of :mod:`time`.

    Args:
      name: of the function.
      asked: returns the execution if it is code under test that calls in this frame.
      note: is told, in words, that such code does, and where.
    """
    function: Callable[[], float] = getattr(time, name)

    @functools.wraps(function)
    def tell() -> float:
        frame = sys._getframe(1)
        execution = asked(frame)
        if execution is None:
            return function()
        note(f"time.{name}() at {frame.f_code.co_filename}:{frame.f_lineno} is the schedule's time")
        now = execution.clock.now
        return round(now * 1_000_000_000) if name.endswith("_ns") else now

    return tell
