"""Bytes per parked task, all told (task, coroutine, place in line), against trio's same primitive.

Each figure is taken in a process of its own: what an earlier one left behind, in free lists and
caches, would be missing from the next.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from functools import cache

from ._measure import Case, Effort


def cases(effort: Effort) -> Iterator[Case]:
    tasks = effort.of(10_000, 500)
    for kind in ("Semaphore", "Lock", "CapacityLimiter"):
        yield Case(kind, lambda kind=kind: _ratio(kind, tasks))  # type: ignore[misc]  # early binding


@cache  # allocations are counted, not sampled: every round would give the same
def _ratio(kind: str, tasks: int) -> float:
    return _bytes_per_task("structsync", kind, tasks) / _bytes_per_task("trio", kind, tasks)


def _bytes_per_task(library: str, kind: str, tasks: int) -> float:
    command = [sys.executable, "-P", "-m", "benchmarks._memory_child", library, kind, str(tasks)]
    # the child must import the very packages that this process imported
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    return float(done.stdout)
