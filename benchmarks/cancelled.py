"""Many tasks that park and are cancelled, end to end, against trio's same primitive."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from time import thread_time
from typing import Any

import trio
from trio.testing import wait_all_tasks_blocked

import structsync

from ._measure import Case, Effort, ratio

Make = Callable[[], Any]


def cases(effort: Effort) -> Iterator[Case]:
    tasks = effort.of(10_000, 200)
    kinds: list[tuple[str, Make, Make]] = [
        ("Semaphore", partial(structsync.Semaphore, 1), partial(trio.Semaphore, 1)),
        ("Lock", structsync.Lock, trio.Lock),
    ]
    for kind, ours, trios in kinds:
        subject = partial(trio.run, park_and_cancel, ours, tasks)
        reference = partial(trio.run, park_and_cancel, trios, tasks)
        # one pair is long enough here to be a sample by itself
        yield Case(f"{kind}, {tasks:,} waiters", partial(ratio, subject, reference, pairs=2))


async def park_and_cancel(make: Make, tasks: int) -> float:
    """Return the seconds from the first task's start to the last one's end."""
    primitive = make()
    await primitive.acquire()
    began = thread_time()
    async with trio.open_nursery() as nursery:
        for _ in range(tasks):
            nursery.start_soon(primitive.acquire)
        await wait_all_tasks_blocked()
        assert primitive.statistics().tasks_waiting == tasks
        nursery.cancel_scope.cancel()
    spent = thread_time() - began
    primitive.release()
    return spent
