"""Bytes per parked task: all told against trio's, and what a waiter needs above an idle task.

Each figure is taken in a process of its own: what an earlier one left behind, in free lists and
caches, would be missing from the next. Allocations are traced, not sampled, so a figure repeats to
the byte. What an idle task is stands in ``_memory_child.py``.

Tables double: the queue's, trio's sets of tasks and the set of an event are anything from half empty
to full, which weighs up to a hundred bytes a waiter, up and down. So each row keeps one number of
tasks. At 5,000, trio's semaphore needs about what it is on record with (684 bytes); at 10,000 and
20,000 it is 50 bytes more and 70 less, with the same idle task.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from functools import cache, partial

from ._measure import Case, Effort

LIBRARIES = ("structsync", "trio")


def cases(effort: Effort) -> Iterator[Case]:
    """All told: task, coroutines, position in the queue."""
    tasks = effort.of(10_000, 500)
    for kind in ("Semaphore", "Lock", "CapacityLimiter"):
        yield Case(kind, partial(_ratio, kind, tasks))


def waiter_cases(effort: Effort) -> Iterator[Case]:
    """Above an idle task: what waiting for the primitive adds."""
    tasks = effort.of(5_000, 500)
    for kind in ("Semaphore", "Lock"):
        for library in LIBRARIES:
            name = kind if library == "structsync" else f"trio.{kind}"
            sample = partial(_above_idle, library, kind, tasks)
            yield Case(name, sample, compared=library == "structsync")


def _ratio(kind: str, tasks: int) -> float:
    ours, trios = (_bytes_per_task(library, kind, tasks, "directly") for library in LIBRARIES)
    return ours / trios


def _above_idle(library: str, kind: str, tasks: int) -> float:
    idle = _bytes_per_task("trio", "Event", tasks, "inside")
    return _bytes_per_task(library, kind, tasks, "inside") - idle


@cache  # every round would give the same
def _bytes_per_task(library: str, kind: str, tasks: int, how: str) -> float:
    arguments = library, kind, str(tasks), how
    command = [sys.executable, "-P", "-m", "benchmarks._memory_child", *arguments]
    # the child must import the very packages that this process imported
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    return float(done.stdout)
