"""Prints the bytes that one parked task keeps: LIBRARY KIND TASKS HOW.

HOW is "directly", where the acquire is all that the task does, or "inside", where the task awaits it
in a function of its own, as programs do.

A KIND of "Event" is the idle task: it awaits an event that all of them share. So in an idle task is
all that is not the primitive's: the task, its name and context, what its nursery and the runner keep
of it, its own coroutine, the two in which trio parks it, the callback that can cancel it, and its
entry in the set of the event. A waiter above it: what its acquire keeps beyond that.
"""

from __future__ import annotations

import gc
import importlib
import sys
import tracemalloc
from collections.abc import Awaitable, Callable
from typing import TypeAlias

import trio
from trio.testing import wait_all_tasks_blocked

Wait: TypeAlias = Callable[[], Awaitable[None]]


async def bytes_per_task(wait: Wait, tasks: int) -> float:
    async with trio.open_nursery() as nursery:
        nursery.start_soon(wait)  # what only the first waiter costs
        await wait_all_tasks_blocked()
        gc.collect()
        tracemalloc.start()
        for _ in range(tasks):
            nursery.start_soon(wait)
        await wait_all_tasks_blocked()
        gc.collect()
        kept, _ = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert len(nursery.child_tasks) == tasks + 1
        nursery.cancel_scope.cancel()
    return kept / tasks


def find_wait(library: str, kind: str) -> Wait:
    """Return what makes each task wait: for the event, or for a primitive that is taken."""
    make = getattr(importlib.import_module(library), kind)
    if kind == "Event":
        event: trio.Event = make()
        return event.wait
    primitive = make() if kind == "Lock" else make(1)
    primitive.acquire_nowait()
    acquire: Wait = primitive.acquire
    return acquire


async def main() -> float:
    library, kind, tasks, how = sys.argv[1:]
    wait = find_wait(library, kind)

    async def inside() -> None:
        await wait()

    return await bytes_per_task({"directly": wait, "inside": inside}[how], int(tasks))


if __name__ == "__main__":
    print(trio.run(main))
