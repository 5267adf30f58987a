"""Semaphore and Lock that somebody always waits for, against the floor."""

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
from ._measure import Case, Effort, Slice, ratio

Make = Callable[[], Any]

SIZES = (2, 10, 100, 1000)


def cases(effort: Effort) -> Iterator[Case]:
    kinds: list[tuple[str, Make, Make]] = [
        ("Semaphore", partial(structsync.Semaphore, 1), partial(trio.Semaphore, 1)),
        ("Lock", structsync.Lock, trio.Lock),
    ]
    for kind, ours, trios in kinds:
        for tasks in SIZES[: effort.of(4, 2)]:
            turns = effort.of(4_000, 100) // tasks + 2
            floor = partial(trio.run, _floor.handoffs, tasks, turns)
            subject = partial(trio.run, handoffs, ours, tasks, turns)
            other = partial(trio.run, handoffs, trios, tasks, turns)
            yield Case(f"{kind}, {tasks} tasks", _against(floor, subject))
            yield Case(f"trio.{kind}, {tasks} tasks", _against(floor, other), compared=False)


def _against(floor: Slice, subject: Slice) -> Callable[[], float]:
    return partial(ratio, subject, floor)


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
