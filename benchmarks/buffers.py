"""Items from task to task: Buffer against trio's memory channel, and batches against single items."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from functools import partial
from time import thread_time
from typing import Any, TypeAlias

import trio

import structsync

from ._measure import Case, Effort, ratio

#: How an item is put, and how one is got.
Ends: TypeAlias = tuple[Callable[[Any], Awaitable[object]], Callable[[], Awaitable[object]]]


def ours(room: int) -> Ends:
    buffer = structsync.Buffer[int](room)
    return buffer.put, buffer.get


def trios(room: int) -> Ends:
    sender, receiver = trio.open_memory_channel[int](room)
    return sender.send, receiver.receive


def uncontended_cases(effort: Effort) -> Iterator[Case]:
    """One task puts an item and gets it again: no task waits."""
    times = effort.of(1_000, 50)
    subject, reference = (partial(trio.run, in_turn, make, times) for make in (ours, trios))
    yield Case("one task", partial(ratio, subject, reference))


def contended_cases(effort: Effort) -> Iterator[Case]:
    """As many producers as consumers, with little room: a task waits nearly always."""
    items = effort.of(2_000, 100)
    for pairs, room in ((1, 1), (10, 1), (10, 10), (100, 1)):
        subject, reference = (
            partial(trio.run, at_once, make, pairs, room, items) for make in (ours, trios)
        )
        yield Case(f"{pairs} + {pairs} tasks, room {room}", partial(ratio, subject, reference))


def batch_cases(effort: Effort) -> Iterator[Case]:
    """What is there is got a hundred at a time, or one by one."""
    items = effort.of(10_000, 200)
    reference = partial(trio.run, drained, items, structsync.Buffer.get)
    for name, get in (("get_many", get_many), ("get_batch", get_batch)):
        subject = partial(trio.run, drained, items, get, 100)
        yield Case(f"{name}, 100 at a time", partial(ratio, subject, reference))


async def in_turn(make: Callable[[int], Ends], times: int) -> float:
    """Return the seconds of putting and getting that many times."""
    put, get = make(10)
    await put(0)
    await get()
    began = thread_time()
    for _ in range(times):
        await put(0)
        await get()
    return thread_time() - began


async def at_once(make: Callable[[int], Ends], pairs: int, room: int, items: int) -> float:
    """Return the seconds in which that many items go from the producers to the consumers."""
    put, get = make(room)

    async def produce() -> None:
        for _ in range(items // pairs):
            await put(0)

    async def consume() -> None:
        for _ in range(items // pairs):
            await get()

    began = thread_time()
    async with trio.open_nursery() as nursery:
        for _ in range(pairs):
            nursery.start_soon(produce)
            nursery.start_soon(consume)
    return thread_time() - began


def get_many(buffer: structsync.Buffer[int]) -> Awaitable[object]:
    return buffer.get_many(100)


def get_batch(buffer: structsync.Buffer[int]) -> Awaitable[object]:
    return buffer.get_batch(100, max_wait=1)


async def drained(
    items: int, get: Callable[[structsync.Buffer[int]], Awaitable[object]], most: int = 1
) -> float:
    """Return the seconds of getting that many items, which are there, so many at a time."""
    buffer = structsync.Buffer[int](items)
    buffer.put_many_nowait(range(items))
    began = thread_time()
    for _ in range(items // most):
        await get(buffer)
    return thread_time() - began
