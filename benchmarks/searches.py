"""Mattos 2021, table 5: what it costs that a function is called asynchronously.

The same search through a list, to its end: called, called by an ``async`` function that does not wait,
and given to a pool of tasks or of threads, whose job is awaited. The clock is the CPU time of all threads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractAsyncContextManager
from functools import cache, partial
from time import process_time
from typing import Any

import trio

import structsync

from ._measure import Case, Effort, ratio

OpenPool = Callable[[int], AbstractAsyncContextManager[Any]]


def cases(effort: Effort) -> Iterator[Case]:
    for full in (1_000, 10_000, 100_000):
        size = effort.of(full, full // 100)
        times = max(1, effort.of(100_000, 1_000) // size)
        reference = partial(trio.run, called, size, times)
        for name, how in (
            ("FakeAsync", called_by_async),
            ("FullAsync, a task", in_tasks),
            ("FullAsync, a thread", in_threads),
        ):
            sample = partial(ratio, partial(trio.run, how, size, times), reference)
            yield Case(f"{name} / FullSync, {full:,}", sample)


@cache
def stocks(size: int) -> list[tuple[str, float]]:
    return [(f"stock {number}", float(number)) for number in range(size)]


def search(size: int, wanted: str) -> float:
    for name, price in stocks(size):
        if name == wanted:
            return price
    raise LookupError(wanted)


async def search_without_waiting(size: int, wanted: str) -> float:
    return search(size, wanted)


async def called(size: int, times: int) -> float:
    wanted, _ = stocks(size)[-1]
    began = process_time()
    for _ in range(times):
        search(size, wanted)
    return process_time() - began


async def called_by_async(size: int, times: int) -> float:
    wanted, _ = stocks(size)[-1]
    began = process_time()
    for _ in range(times):
        await search_without_waiting(size, wanted)
    return process_time() - began


async def in_pool(
    open_pool: OpenPool, function: Callable[..., Any], size: int, times: int
) -> float:
    wanted, _ = stocks(size)[-1]
    async with open_pool(1) as pool:
        await pool.run(function, size, wanted)
        began = process_time()
        for _ in range(times):
            await pool.run(function, size, wanted)
        return process_time() - began


in_tasks = partial(in_pool, structsync.open_pool, search_without_waiting)
in_threads = partial(in_pool, structsync.open_thread_pool, search)
