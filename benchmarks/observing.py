"""What counts, times and records: the same work with one of them on, and without."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import trio

from structsync import Lock, log_events, observe, recording

from ._measure import Case, Effort, ratio
from .contended import handoffs
from .uncontended import entries


def cases(effort: Effort) -> Iterator[Case]:
    times, turns = effort.of(640, 64), effort.of(100, 5)
    kinds: list[tuple[str, Callable[[], Any]]] = [
        ("an observer that does nothing", lambda: observe(_nothing)),
        ("observe.metrics()", observe.metrics),
        ("recording()", recording),
        ("log_events()", log_events),
    ]
    for name, watched in kinds:
        yield Case(f"{name}, uncontended", partial(_sample, watched, entries, Lock, times))
        yield Case(f"{name}, 10 tasks", partial(_sample, watched, handoffs, Lock, 10, turns))


def _nothing(event: object) -> None:
    pass


def _sample(watched: Callable[[], Any], work: Any, *arguments: Any) -> float:
    async def under() -> float:
        with watched():
            seconds: float = await work(*arguments)
            return seconds

    return ratio(partial(trio.run, under), partial(trio.run, work, *arguments), pairs=8)
