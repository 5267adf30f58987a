"""Closing a semaphore: waiting tasks get an error, and holders can still release.

A trio.Semaphore has no end. When the thing that it guards is shut down, its waiters sleep until
each of them is cancelled. ``close()`` wakes them all with ``ClosedResourceError``, and later
acquires get the same.

Prints::

    trio: the waiter still sleeps after 60 s
    structsync: the waiter got ClosedResourceError
    structsync: a later acquire gets ClosedResourceError
    structsync: the holder released, value 1
"""

import trio
from trio.testing import MockClock, wait_all_tasks_blocked

import structsync


async def with_trio() -> None:
    semaphore = trio.Semaphore(0)
    with trio.move_on_after(60) as patience:
        await semaphore.acquire()
    assert patience.cancelled_caught
    print("trio: the waiter still sleeps after 60 s")


async def wait(semaphore: structsync.Semaphore) -> None:
    try:
        async with semaphore:
            print("structsync: the waiter got the permit")
    except trio.ClosedResourceError:
        print("structsync: the waiter got ClosedResourceError")


async def with_structsync() -> None:
    semaphore = structsync.Semaphore(1, max_value=1)
    async with trio.open_nursery() as nursery:
        async with semaphore:
            nursery.start_soon(wait, semaphore)
            await wait_all_tasks_blocked()
            semaphore.close()
            await wait_all_tasks_blocked()
            try:
                semaphore.acquire_nowait()
            except trio.ClosedResourceError:
                print("structsync: a later acquire gets ClosedResourceError")
        print(f"structsync: the holder released, value {semaphore.value}")


async def main() -> None:
    await with_trio()
    await with_structsync()


trio.run(main, clock=MockClock(autojump_threshold=0))
