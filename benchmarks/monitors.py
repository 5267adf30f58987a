"""What a monitor costs: against our lock, and with many callers held up at another entry."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from time import thread_time

import trio
from trio.testing import wait_all_tasks_blocked

import structsync

from ._measure import Case, Effort, ratio

BLOCKED = 10_000


def entry_cases(effort: Effort) -> Iterator[Case]:
    """An entry that no other task calls, against the same function under ``async with``."""
    times = effort.of(1_280, 128)
    subject, reference = partial(trio.run, entries, times), partial(trio.run, locked, times)
    yield Case("Monitor", partial(ratio, subject, reference))


def blocked_cases(effort: Effort) -> Iterator[Case]:
    """A call whose guard holds, while very many wait for a guard that does not."""
    times, many = effort.of(1_280, 128), effort.of(BLOCKED, 100)
    subject = partial(trio.run, guarded, times, many)
    reference = partial(trio.run, guarded, times, 0)
    yield Case(f"{many:,} blocked", partial(ratio, subject, reference))


def disabled_cases(effort: Effort) -> Iterator[Case]:
    """Figure 3.8: a call that no synchronizer concerns, while very many wait that it disables."""
    times = effort.of(1_280, 128)
    reference = partial(trio.run, unconcerned, times, 0)
    for full, quick in ((1_000, 50), (BLOCKED, 100)):
        many = effort.of(full, quick)
        subject = partial(trio.run, unconcerned, times, many)
        yield Case(f"{many:,} disabled", partial(ratio, subject, reference))


async def body() -> None:
    """Do nothing, as an entry or under a lock."""


async def entries(times: int) -> float:
    """Return the seconds of that many calls of an entry."""
    call = structsync.Monitor().entry(body)
    began = thread_time()
    for _ in range(times):
        await call()
    return thread_time() - began


async def locked(times: int) -> float:
    """Return the seconds of that many calls under a lock."""
    lock = structsync.Lock()
    async with lock:  # the first acquire in a task registers the task
        pass
    began = thread_time()
    for _ in range(times):
        async with lock:
            await body()
    return thread_time() - began


async def guarded(times: int, blocked: int) -> float:
    """Return the seconds of that many calls, with so many callers blocked on another entry."""
    monitor = structsync.Monitor()
    call = monitor.entry(body, when=lambda: True)
    return await beside(call, times, monitor.entry(body, when=lambda: False), blocked)


async def unconcerned(times: int, disabled: int) -> float:
    """Return the seconds of that many calls of ``get``, with so many of ``set`` disabled."""
    monitor = structsync.Monitor()
    get, set_ = monitor.entry(body), monitor.entry(body)
    async with structsync.Synchronizer() as synchronizer:
        synchronizer.disable(set_, when=lambda: True)
        return await beside(get, times, set_, disabled)


async def beside(
    call: structsync.Entry[[], None], times: int, other: structsync.Entry[[], None], waiting: int
) -> float:
    """Return the seconds of that many calls, while so many wait for another entry."""
    async with trio.open_nursery() as nursery:
        for _ in range(waiting):
            nursery.start_soon(other)
        await wait_all_tasks_blocked()
        began = thread_time()
        for _ in range(times):
            await call()
        spent = thread_time() - began
        nursery.cancel_scope.cancel()
    return spent
