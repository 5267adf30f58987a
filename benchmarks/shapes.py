"""The operations of the curves, of structsync and of its peers: each returns the CPU seconds of one."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AsyncExitStack
from functools import partial
from importlib.util import find_spec
from time import thread_time
from typing import Any, TypeAlias

import trio
from trio.testing import wait_all_tasks_blocked

import structsync
from structsync.distributed import open_session

from . import monitors, pools

Make: TypeAlias = Callable[[], Any]
Shape: TypeAlias = Callable[[int, int], float]

# ==== a semaphore that others wait for ====


def hand_offs() -> dict[str, Shape]:
    """Return those of structsync and of the peers that are installed."""
    found: dict[str, Shape] = {
        "structsync": partial(_by_trio, partial(structsync.Semaphore, 1)),
        "trio": partial(_by_trio, partial(trio.Semaphore, 1)),
        "asyncio": partial(_by_asyncio, partial(asyncio.Semaphore, 1)),
    }
    if find_spec("anyio"):
        import anyio

        found["anyio on trio"] = partial(_by_trio, partial(anyio.Semaphore, 1))
        fast = partial(anyio.Semaphore, 1, fast_acquire=True)
        found["anyio on trio, fast_acquire"] = partial(_by_trio, fast)
        found["anyio on asyncio"] = partial(_by_asyncio, partial(anyio.Semaphore, 1))
    if find_spec("aiologic"):
        import aiologic

        found["aiologic on trio"] = partial(_by_trio, partial(aiologic.Semaphore, 1))
    return found


def _by_trio(make: Make, times: int, tasks: int) -> float:
    return trio.run(_handed_on_in_trio, make, times, tasks)


async def _handed_on_in_trio(make: Make, times: int, tasks: int) -> float:
    semaphore, turns = make(), times // tasks + 1

    async def member() -> None:
        for _ in range(turns):
            async with semaphore:
                await trio.lowlevel.checkpoint()

    async with trio.open_nursery() as nursery:
        async with semaphore:
            for _ in range(tasks):
                nursery.start_soon(member)
            await wait_all_tasks_blocked()
            began = thread_time()
    return (thread_time() - began) / (turns * tasks)


def _by_asyncio(make: Make, times: int, tasks: int) -> float:
    return asyncio.run(_handed_on_in_asyncio(make, times, tasks))


async def _handed_on_in_asyncio(make: Make, times: int, tasks: int) -> float:
    semaphore, turns = make(), times // tasks + 1

    async def member() -> None:
        for _ in range(turns):
            async with semaphore:
                await asyncio.sleep(0)

    async with asyncio.TaskGroup() as group:
        async with semaphore:
            for _ in range(tasks):
                group.create_task(member())
            for _ in range(5):  # until all are parked
                await asyncio.sleep(0)
            began = thread_time()
    return (thread_time() - began) / (turns * tasks)


# ==== a guarded call ====


def guarded_call(times: int, blocked: int) -> float:
    return trio.run(monitors.guarded, times, blocked) / times


# ==== several locks ====


def _together(times: int, locks: int) -> float:
    return trio.run(
        _taken, lambda held: structsync.acquire_all(*[a.claim() for a in held]), times, locks
    )


async def _taken(block: Callable[[list[structsync.Lock]], Any], times: int, locks: int) -> float:
    held = [structsync.Lock() for _ in range(locks)]
    async with block(held):
        pass
    began = thread_time()
    for _ in range(times // locks + 1):
        async with block(held):
            pass
    return (thread_time() - began) / (times // locks + 1)


def _in_turn(make: Make, times: int, locks: int) -> float:
    return trio.run(_nested, make, times, locks)


async def _nested(make: Make, times: int, locks: int) -> float:
    held = [make() for _ in range(locks)]
    began = thread_time()
    for _ in range(times // locks + 1):
        async with AsyncExitStack() as stack:
            for lock in held:
                await stack.enter_async_context(lock)
    return (thread_time() - began) / (times // locks + 1)


CLAIMS: dict[str, Shape] = {
    "structsync, acquire_all": _together,
    "structsync, one after the other": partial(_in_turn, structsync.Lock),
    "trio, one after the other": partial(_in_turn, trio.Lock),
}

# ==== jobs ====


def _job(work: Callable[[int, int], Any], times: int, workers: int) -> float:
    seconds: float = trio.run(work, times, workers)
    return seconds / times


JOBS: dict[str, Shape] = {
    "structsync.open_pool": partial(_job, pools.submit_in_turn),
    "trio, start_soon under a limiter": partial(_job, pools.start_all),
}

# ==== sessions ====


def between_sessions(times: int, sessions: int) -> float:
    return trio.run(_between_sessions, times, sessions)


async def _between_sessions(times: int, sessions: int) -> float:
    turns = times // sessions + 1
    async with AsyncExitStack() as stack:
        opened = [
            await stack.enter_async_context(open_session("memory://", namespace="curves"))
            for _ in range(sessions)
        ]

        async def member(session: Any) -> None:
            lock = session.lock("lock")
            for _ in range(turns):
                async with lock:
                    pass

        began = thread_time()
        async with trio.open_nursery() as nursery:
            for session in opened:
                nursery.start_soon(member, session)
        return (thread_time() - began) / (turns * sessions)
