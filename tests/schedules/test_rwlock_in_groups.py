"""Claims to read and to write in groups: every schedule, and any task cancelled anywhere."""

from __future__ import annotations

from functools import partial

import trio
from trio.lowlevel import checkpoint, current_task

from structsync import Lock, RWLock, Semaphore, acquire_all, acquire_any
from structsync.testing import ExploredRun

from .sweeping import swept, together
from .test_rwlock import Room


@swept(least=60, long=True)
async def test_a_writer_in_a_group_is_alone(x: ExploredRun, tasks: int) -> None:
    """A group that waits to write keeps readers out; cancelled, it must let them in."""
    room, permits = Room(x, RWLock()), Semaphore(2, max_value=2)
    x.always(lambda: permits.value >= 0, "no more permits than there are")

    async def write() -> None:
        group = acquire_all(permits.claim(), room.lock.write_claim())
        await room.use(group, "write")

    async def read() -> None:
        group = acquire_all(room.lock.read_claim(), permits.claim())
        await room.use(group, "read")

    kinds = room.read, write, read, room.write
    await together(*kinds[:tasks])


@swept(least=60)
async def test_who_may_read_or_take_the_lock_does_one_of_the_two(
    x: ExploredRun, tasks: int
) -> None:
    room, lock = Room(x, RWLock()), Lock()

    async def either() -> None:
        async with acquire_any(room.lock.read_claim(), lock.claim()) as claim:
            reads = current_task() in room.lock.statistics().readers
            if reads == (lock.statistics().owner is current_task()):
                x.fail("a task was granted both, or nothing")
            if reads != (claim.primitive is room.lock):
                x.fail("told of another claim than the one that was granted")
            await checkpoint()

    async def both() -> None:
        await room.use(acquire_all(lock.claim(), room.lock.write_claim()), "write")

    await together(*[(both, either)[place % 2] for place in range(tasks)])


@swept(least=60)
async def test_a_reader_that_ends_breaks_the_groups_that_wait_to_write(
    x: ExploredRun, tasks: int
) -> None:
    """And takes them out of the other queue, so that a task that needs only that goes on."""
    rwlock, lock = RWLock(), Lock()
    broken = False

    async def quitter() -> None:
        nonlocal broken
        with trio.CancelScope(shield=True):
            await acquire_all(rwlock.read_claim()).__aenter__()
        broken = True

    async def both() -> None:
        try:
            async with acquire_all(lock.claim(), rwlock.write_claim()):
                with x.exclusive("the lock"):
                    await checkpoint()
        except trio.BrokenResourceError:
            if not broken:
                x.fail("told that it is broken before it was")

    async def one() -> None:
        async with lock:
            with x.exclusive("the lock"):
                pass

    await together(quitter, *[(both, one)[place % 2] for place in range(tasks - 1)])
    rwlock._core.readers.clear()  # else what is the point of the test is taken for a leak


@swept(least=10, order="trio")
async def test_a_claim_may_be_made_once_for_all(x: ExploredRun, tasks: int) -> None:
    """Who reads or writes is who acquires, whichever task made the claim."""
    room, permits = Room(x, RWLock()), Semaphore(2, max_value=2)
    claims = {"read": room.lock.read_claim(), "write": room.lock.write_claim()}

    async def use(mode: str) -> None:
        await room.use(acquire_all(permits.claim(), claims[mode]), mode)

    await together(partial(use, "read"), *[partial(use, "write")] * (tasks - 1))
