"""``async with`` on a primitive that no other task uses, against trio's same primitive."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from time import thread_time
from typing import Any

import trio

import structsync

from ._measure import Case, Effort, ratio

Make = Callable[[], Any]


MAKES: dict[str, tuple[Callable[..., Any], Make]] = {
    "Semaphore": (partial(structsync.Semaphore, 1), partial(trio.Semaphore, 1)),
    "Lock": (structsync.Lock, trio.Lock),
    "CapacityLimiter": (partial(structsync.CapacityLimiter, 1), partial(trio.CapacityLimiter, 1)),
}


def cases(kind: str, effort: Effort) -> Iterator[Case]:
    """With the default: every acquire is a schedule point."""
    yield _case(kind, *MAKES[kind], effort)


def budget_cases(kind: str, effort: Effort) -> Iterator[Case]:
    """With ``checkpoint="budget"``: one acquire in 128 is a schedule point."""
    ours, trios = MAKES[kind]
    yield _case(kind, partial(ours, checkpoint="budget"), trios, effort)


def control_cases(effort: Effort) -> Iterator[Case]:
    """trio's semaphore against itself: what differs from 1 here is noise."""
    make = partial(trio.Semaphore, 1)
    yield _case("trio.Semaphore", make, make, effort)


def _case(name: str, ours: Make, trios: Make, effort: Effort) -> Case:
    times = effort.of(1_280, 128)  # whole budgets
    subject = partial(trio.run, entries, ours, times)
    reference = partial(trio.run, entries, trios, times)
    return Case(name, partial(ratio, subject, reference))


async def entries(make: Make, times: int) -> float:
    """Return the seconds of entering and leaving that many times."""
    primitive = make()
    for _ in range(16):  # a lock's first acquire in a task registers the task
        async with primitive:
            pass
    began = thread_time()
    for _ in range(times):
        async with primitive:
            pass
    return thread_time() - began
