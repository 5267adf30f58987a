"""deadlock_guard(): the same work with one around it, and without."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from functools import partial
from typing import Any

import trio

from structsync import Lock, Semaphore, deadlock_guard, trace_waits

from ._measure import Case, Effort, ratio
from .contended import handoffs
from .uncontended import entries

Work = Callable[..., Awaitable[float]]


def cases(effort: Effort) -> Iterator[Case]:
    times, turns = effort.of(640, 64), effort.of(100, 5)
    kinds: list[tuple[str, Callable[[], Any]]] = [
        ("Semaphore", lambda: Semaphore(1, max_value=1)),
        ("Lock", Lock),
    ]
    for name, make in kinds:
        yield Case(f"{name}, uncontended", partial(_sample, deadlock_guard, entries, make, times))
        for tasks in (10, 1_000):
            few = max(1, turns * 10 // tasks)
            work = partial(_sample, deadlock_guard, handoffs, make, tasks, few)
            yield Case(f"{name}, {tasks:,} tasks", work)
    yield Case("trace_waits() alone, Lock", partial(_sample, trace_waits, entries, Lock, times))


def _sample(watched: Callable[[], Any], work: Work, *arguments: Any) -> float:
    async def under() -> float:
        with watched():
            return await work(*arguments)

    return ratio(partial(trio.run, under), partial(trio.run, work, *arguments), pairs=8)
