"""Tasks that hold one thing and want another one, for the tests of the guard against deadlocks."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import trio
from trio.testing import wait_all_tasks_blocked

import structsync
from structsync import DeadlockError, deadlock_guard

Block = Callable[[], AbstractAsyncContextManager[Any]]


async def crossing(one: Block, other: Block, more: Block | None = None) -> list[DeadlockError]:
    """Two tasks (or three) enter the blocks, each within the one of its neighbour; what was raised."""
    raised: list[DeadlockError] = []
    blocks = [one, other] if more is None else [one, other, more]

    async def worker(outer: Block, inner: Block) -> None:
        try:
            async with outer():
                await wait_all_tasks_blocked()
                async with inner():
                    pass
        except DeadlockError as error:
            raised.append(error)

    with trio.fail_after(60):  # a wait without an end is red, too
        with trio.CancelScope(shield=True):
            async with trio.open_nursery() as nursery:
                for number, outer in enumerate(blocks):
                    inner = blocks[(number + 1) % len(blocks)]
                    nursery.start_soon(worker, outer, inner, name=f"task {number}")
    return raised


def nothing() -> None:
    """What an entry does here."""


async def make_item() -> object:
    """What is lent here."""
    return object()


def kinds() -> dict[str, Callable[[], Block]]:
    """For each kind of owner a maker of blocks, each of an object of its own."""

    def semaphore() -> Block:
        one = structsync.Semaphore(1, max_value=1)
        return lambda: one

    def permits() -> Block:
        one = structsync.Semaphore(3, max_value=3)
        return lambda: one.permits(2)

    def lock() -> Block:
        one = structsync.Lock()
        return lambda: one

    def keyed() -> Block:
        locks = structsync.LockMap[str]()
        return lambda: locks["key"]

    def writing() -> Block:
        one = structsync.RWLock()
        return one.writing

    def lent() -> Block:
        one = structsync.ResourcePool(make_item, 1)
        return one.item

    def limiter() -> Block:
        one = structsync.CapacityLimiter(1)
        return lambda: one

    def grouped() -> Block:
        one, other = structsync.Lock(), structsync.Semaphore(1, max_value=1)
        return lambda: structsync.acquire_all(one.claim(), other.claim())

    def alternative() -> Block:
        one = structsync.Semaphore(1, max_value=1)
        return lambda: structsync.acquire_any(one.claim())

    def requested() -> Block:
        one = structsync.Lock()

        @asynccontextmanager
        async def block() -> AsyncIterator[None]:
            with one.request() as request:
                await request.wait()
                yield

        return block

    return {
        each.__name__: each
        for each in (
            semaphore,
            permits,
            lock,
            keyed,
            writing,
            lent,
            limiter,
            grouped,
            alternative,
            requested,
        )
    }


async def finishes(*workers: Callable[[], Awaitable[object]]) -> None:
    """Run tasks that end although some of them wait for each other meanwhile."""
    with deadlock_guard():
        async with trio.open_nursery() as nursery:
            for worker in workers:
                nursery.start_soon(worker)


async def use(lock: structsync.Lock) -> None:
    async with lock:
        pass
