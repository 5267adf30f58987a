"""The operations of each FIFO primitive are linearizable: in every schedule, with any task cancelled anywhere.

The model checker shows that each core refines one abstract queue, where each step is taken in one go. What is
seen by callers has to follow from it: an operation takes several steps of a task, others run in between, and it may be
cancelled. So the callers' histories are checked, against sequential objects that are written for this alone; with
the point of each operation at its call, so that first come, first served is what callers see, too.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial

import trio
from trio.lowlevel import checkpoint

from structsync import (
    Barrier,
    Buffer,
    CapacityLimiter,
    Latch,
    Lock,
    Parker,
    RateLimiter,
    RWLock,
    Semaphore,
    WaitQueue,
)
from structsync.checking._declaration import declaration_of
from structsync.checking._language import declared_in
from structsync.checking._load import shipped_specs
from structsync.testing import ExploredRun

from .histories import History
from .sequential import (
    Bucket,
    Count,
    Items,
    Parties,
    Permits,
    ReadersAndWriters,
    Sequential,
    Unblocks,
    Wakes,
)
from .sweeping import GATE, swept, together

Task = Callable[[], Awaitable[object]]


async def judged(x: ExploredRun, history: History, what: Sequential, *tasks: Task) -> None:
    """Run tasks to their ends and judge what they saw."""
    try:
        await together(*tasks)
    finally:
        why = history.not_linearizable(what, at_the_call=True)
        if why is not None:
            x.fail(why)


@swept(least=100, sizes=(GATE,))
async def test_a_semaphore_is_linearizable(x: ExploredRun, tasks: int) -> None:
    history, semaphore = History(), Semaphore(2, max_value=2)

    async def worker(permits: int) -> None:
        await history.waits(permits, partial(semaphore.acquire, permits))
        try:
            await checkpoint()
        finally:
            history.does(permits, partial(semaphore.release, permits))

    async def prober() -> None:
        await checkpoint()
        for _ in range(2):  # the second time in the step of a release
            if history.tries(1, semaphore.acquire_nowait):
                history.does(1, semaphore.release)

    await judged(x, history, Permits(2), partial(worker, 2), partial(worker, 1), prober)


@swept(least=100, sizes=(GATE,))
async def test_a_semaphore_that_is_closed_is_linearizable(x: ExploredRun, tasks: int) -> None:
    history, semaphore = History(), Semaphore(1, max_value=1)

    async def worker() -> None:
        try:
            await history.waits(1, semaphore.acquire)
        except trio.ClosedResourceError:
            return
        try:
            await checkpoint()
        finally:
            history.does(1, semaphore.release)

    async def closer() -> None:
        await checkpoint()
        history.does("close", semaphore.close)

    await judged(x, history, Permits(1), worker, worker, closer)


@swept(least=100, sizes=(GATE,))
async def test_a_lock_is_linearizable(x: ExploredRun, tasks: int) -> None:
    history, lock = History(), Lock()

    async def worker() -> None:
        await history.waits(1, lock.acquire)
        try:
            await checkpoint()
        finally:
            history.does(1, lock.release)
        if history.tries(1, lock.acquire_nowait):
            history.does(1, lock.release)

    await judged(x, history, Permits(1), worker, worker, worker)


@swept(least=100, sizes=(GATE,))
async def test_a_capacity_limiter_is_linearizable(x: ExploredRun, tasks: int) -> None:
    history, limiter = History(), CapacityLimiter(1)

    async def worker() -> None:
        await history.waits(1, limiter.acquire)
        try:
            await checkpoint()
        finally:
            history.does(1, limiter.release)

    async def prober() -> None:
        await checkpoint()
        if history.tries(1, limiter.acquire_nowait):
            history.does(1, limiter.release)

    await judged(x, history, Permits(1), worker, worker, prober)


@swept(least=100, sizes=(GATE,))
async def test_a_read_write_lock_is_linearizable(x: ExploredRun, tasks: int) -> None:
    history, lock = History(), RWLock()

    async def reader() -> None:
        await history.waits("read", lock.acquire_read)
        try:
            await checkpoint()
        finally:
            history.does("read", lock.release)

    async def writer() -> None:
        await history.waits("write", lock.acquire_write)
        try:
            await checkpoint()
        finally:
            history.does("write", lock.release)

    async def prober() -> None:
        await checkpoint()
        for mode, attempt in (
            ("read", lock.acquire_read_nowait),
            ("write", lock.acquire_write_nowait),
        ):
            if history.tries(mode, attempt):
                history.does(mode, lock.release)

    await judged(x, history, ReadersAndWriters(), reader, writer, prober)


@swept(least=20, sizes=(GATE,))
async def test_a_rate_limiter_is_linearizable(x: ExploredRun, tasks: int) -> None:
    history, limiter = History(), RateLimiter(1, per=10_000, burst=2)

    async def worker(permits: int) -> None:
        with trio.move_on_after(1):  # long before a permit comes back
            await history.waits(permits, partial(limiter.acquire, permits))

    async def prober() -> None:
        history.tries(1, limiter.acquire_nowait)
        await checkpoint()
        history.tries(1, limiter.acquire_nowait)

    await judged(x, history, Bucket(2), partial(worker, 2), partial(worker, 1), prober)


@swept(least=100, sizes=(GATE,))
async def test_a_buffer_is_linearizable(x: ExploredRun, tasks: int) -> None:
    history, buffer = History(), Buffer[str](1)

    async def producer() -> None:
        for item in "ab":
            await history.waits(item, partial(buffer.put, item))

    async def consumer() -> None:
        await history.waits(None, buffer.get)

    async def prober() -> None:
        history.tries("c", partial(buffer.put_nowait, "c"))
        await checkpoint()
        history.tries(None, buffer.get_nowait)

    with trio.move_on_after(10):
        await judged(x, history, Items(1), producer, consumer, prober)


@swept(least=20, sizes=(GATE,))
async def test_a_wait_queue_is_linearizable(x: ExploredRun, tasks: int) -> None:
    history, queue = History(), WaitQueue()

    async def waiter() -> None:
        await history.waits("a wake", queue.wait)

    async def waker() -> None:
        for _ in range(2):
            history.does(1, queue.wake)
            await checkpoint()
        history.does(2, partial(queue.wake, 2))

    with trio.move_on_after(10):
        await judged(x, history, Wakes(), waiter, waiter, waker)


@swept(least=20, sizes=(GATE,))
async def test_a_parker_is_linearizable(x: ExploredRun, tasks: int) -> None:
    history, parker = History(), Parker()

    async def blocker() -> None:
        for _ in range(2):
            await history.waits("an unblock", parker.block)

    async def unblocker() -> None:
        history.does(1, parker.unblock)
        await checkpoint()

    with trio.move_on_after(10):
        await judged(x, history, Unblocks(), blocker, unblocker, unblocker)


@swept(least=20, sizes=(GATE,))
async def test_a_latch_is_linearizable(x: ExploredRun, tasks: int) -> None:
    history, latch = History(), Latch(2)

    async def waiter() -> None:
        await history.waits("zero", latch.wait)
        await history.waits("zero", latch.wait)

    async def counter() -> None:
        history.does(1, latch.count_down)
        await checkpoint()
        history.does(1, latch.count_down)

    with trio.move_on_after(10):
        await judged(x, history, Count(2), waiter, waiter, counter)


@swept(least=20, sizes=(GATE,))
async def test_a_barrier_is_linearizable(x: ExploredRun, tasks: int) -> None:
    history, barrier = History(), Barrier(2)

    async def party() -> None:
        await history.waits("a round", barrier.wait)
        await history.waits("a round", barrier.wait)

    with trio.move_on_after(10):
        await judged(x, history, Parties(2), party, party, party)


#: What is held against a sequential object, by the specification whose core refines the abstract queue.
OF_SPEC = {
    "semaphore": test_a_semaphore_is_linearizable,
    "lock": test_a_lock_is_linearizable,
    "capacity_limiter": test_a_capacity_limiter_is_linearizable,
    "rwlock": test_a_read_write_lock_is_linearizable,
    "rate_limiter": test_a_rate_limiter_is_linearizable,
    "wait_queue": test_a_wait_queue_is_linearizable,
    "parker": test_a_parker_is_linearizable,
    "latch": test_a_latch_is_linearizable,
    "barrier": test_a_barrier_is_linearizable,
    "buffer": test_a_buffer_is_linearizable,
}

NOT_HERE = {
    "lock_policies": "the same locks and limiters: what is eligible there is the first to come",
    "lent_items": "the same buffers: an item in hand comes back by an end of a block, which claims nothing",
    "job_queue": "a job is started by the pool, and not by an operation of a caller",
    "resource_pool": "between its grant and its return an operation awaits functions of the user",
    "resource_pool_ageing": "the same",
}


def test_each_primitive_that_refines_the_queue_is_held_against_a_sequential_object() -> None:
    refining = {
        one.__module__.rpartition(".")[2]
        for one in shipped_specs().specs.values()
        if any(
            word is not None and word.kind == "refines"
            for word in map(declaration_of, declared_in(one).values())
        )
    }
    assert refining == {*OF_SPEC, *NOT_HERE}
