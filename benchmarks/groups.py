"""Two locks in one step, against one lock inside the other."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from functools import partial
from time import thread_time
from typing import TypeAlias

import trio
from trio.lowlevel import checkpoint

from structsync import Lock, acquire_all

from ._measure import Case, Effort, ratio

Work: TypeAlias = Callable[[Lock, Lock, int], Awaitable[None]]


def cases(effort: Effort) -> Iterator[Case]:
    for tasks in (1, 10):
        turns = effort.of(2_000, 100) // tasks
        subject, reference = (
            partial(trio.run, together, work, tasks, turns) for work in (in_one_step, nested)
        )
        yield Case(f"2 locks, {tasks} tasks", partial(ratio, subject, reference))


async def in_one_step(first: Lock, second: Lock, turns: int) -> None:
    for _ in range(turns):
        async with acquire_all(first.claim(), second.claim()):
            await checkpoint()


async def nested(first: Lock, second: Lock, turns: int) -> None:
    for _ in range(turns):
        async with first, second:
            await checkpoint()


async def together(work: Work, tasks: int, turns: int) -> float:
    """Return the seconds until all tasks have had all their turns."""
    first, second = Lock(), Lock()
    began = thread_time()
    async with trio.open_nursery() as nursery:
        for _ in range(tasks):
            nursery.start_soon(work, first, second, turns)
    return thread_time() - began
