"""Semaphore and Lock that a task always waits for, against the floor and against trio's."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from time import thread_time
from typing import Any

import trio
from trio.lowlevel import checkpoint
from trio.testing import wait_all_tasks_blocked

import structsync

from . import _floor
from ._measure import Case, Effort, ratio

Make = Callable[[], Any]

SIZES = (2, 10, 100, 1_000)
SEMAPHORES: tuple[Make, Make] = partial(structsync.Semaphore, 1), partial(trio.Semaphore, 1)
LOCKS: tuple[Make, Make] = structsync.Lock, trio.Lock


def semaphore_cases(effort: Effort) -> Iterator[Case]:
    """Against the floor."""
    return _against_floor("Semaphore", *SEMAPHORES, effort)


def lock_cases(effort: Effort) -> Iterator[Case]:
    """Against the floor."""
    return _against_floor("Lock", *LOCKS, effort)


def trio_cases(effort: Effort) -> Iterator[Case]:
    """Both against trio's, directly: a quotient of two ratios would add their noise."""
    for kind, (ours, trios) in (("Semaphore", SEMAPHORES), ("Lock", LOCKS)):
        for tasks, turns in _sizes(effort):
            subject = partial(trio.run, handoffs, ours, tasks, turns)
            reference = partial(trio.run, handoffs, trios, tasks, turns)
            yield Case(f"{kind}, {tasks:,} tasks", partial(ratio, subject, reference))


def _against_floor(kind: str, ours: Make, trios: Make, effort: Effort) -> Iterator[Case]:
    for name, make in ((kind, ours), (f"trio.{kind}", trios)):
        for tasks, turns in _sizes(effort):
            floor = partial(trio.run, _floor.handoffs, tasks, turns)
            subject = partial(trio.run, handoffs, make, tasks, turns)
            sample = partial(ratio, subject, floor)
            yield Case(f"{name}, {tasks:,} tasks", sample, compared=make is ours)


def _sizes(effort: Effort) -> Iterator[tuple[int, int]]:
    for tasks in SIZES[: effort.of(4, 2)]:
        yield tasks, effort.of(4_000, 100) // tasks + 2


async def handoffs(make: Make, tasks: int, turns: int) -> float:
    """Return the seconds from the first handoff until the first task has had all its turns.

    As in the floor: all tasks are parked before the clock starts, one checkpoint is passed while
    holding, and the order is first come, first served, so that both count the same handoffs.
    """
    primitive = make()
    ended: list[float] = []

    async def member(scope: trio.CancelScope) -> None:
        for _ in range(turns):
            async with primitive:
                await checkpoint()
        ended.append(thread_time())
        scope.cancel()

    async with trio.open_nursery() as nursery:
        await primitive.acquire()
        for _ in range(tasks):
            nursery.start_soon(member, nursery.cancel_scope)
        await wait_all_tasks_blocked()
        began = thread_time()
        primitive.release()
    return ended[0] - began
