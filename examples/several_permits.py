"""Several permits at once, without a deadlock.

Two tasks need two permits each. Taken one by one, each task gets its first and waits for the
other's. ``permits(2)`` is one claim in the queue, granted whole or not at all.

Prints::

    trio: deadlock
    structsync: both done after 2 s
"""

import trio
from trio.testing import MockClock

import structsync


async def one_by_one(semaphore: trio.Semaphore) -> None:
    async with semaphore:
        await trio.sleep(1)  # the other task takes its first permit meanwhile
        async with semaphore:
            await trio.sleep(1)


async def with_trio() -> None:
    semaphore = trio.Semaphore(2, max_value=2)
    with trio.move_on_after(60) as patience:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(one_by_one, semaphore)
            nursery.start_soon(one_by_one, semaphore)
    print("trio:", "deadlock" if patience.cancelled_caught else "both done")


async def both_at_once(semaphore: structsync.Semaphore) -> None:
    async with semaphore.permits(2):
        await trio.sleep(1)


async def with_structsync() -> None:
    semaphore = structsync.Semaphore(2, max_value=2)
    started = trio.current_time()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(both_at_once, semaphore)
        nursery.start_soon(both_at_once, semaphore)
    print(f"structsync: both done after {trio.current_time() - started:.0f} s")


async def main() -> None:
    await with_trio()
    await with_structsync()


trio.run(main, clock=MockClock(autojump_threshold=0))
