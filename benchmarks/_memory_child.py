"""Prints the bytes that one task parked at a primitive keeps: LIBRARY KIND TASKS."""

from __future__ import annotations

import gc
import importlib
import sys
import tracemalloc
from typing import Any

import trio
from trio.testing import wait_all_tasks_blocked


async def bytes_per_task(primitive: Any, tasks: int) -> float:
    async with trio.open_nursery() as nursery:
        await primitive.acquire()
        nursery.start_soon(primitive.acquire)  # what only the first waiter costs
        await wait_all_tasks_blocked()
        gc.collect()
        tracemalloc.start()
        for _ in range(tasks):
            nursery.start_soon(primitive.acquire)
        await wait_all_tasks_blocked()
        gc.collect()
        kept, _ = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert primitive.statistics().tasks_waiting == tasks + 1
        nursery.cancel_scope.cancel()
    return kept / tasks


if __name__ == "__main__":
    library, kind, tasks = sys.argv[1:]
    make = getattr(importlib.import_module(library), kind)
    primitive = make() if kind == "Lock" else make(1)
    print(trio.run(bytes_per_task, primitive, int(tasks)))
