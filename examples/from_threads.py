"""Threads and tasks that share one lock and one buffer.

One of trio's worker threads holds the lock itself, so the task that started the thread has to wait. A thread
that trio does not know, such as one of another library, uses the run's token.

Prints::

    the thread has the lock
    the task has the lock
    the task got 1, 2, 3 from a foreign thread
    the thread was interrupted while it waited
"""

import threading

import trio

import structsync
from structsync import threads


def take_first(lock: structsync.Lock, taken: trio.Event) -> None:
    with threads.hold(lock, timeout=5):
        print("the thread has the lock")
        trio.from_thread.run_sync(taken.set)


def produce(buffer: structsync.Buffer[int], token: trio.lowlevel.TrioToken) -> None:
    for number in (1, 2, 3):
        threads.call(buffer.put, number, token=token)
    trio.from_thread.run_sync(buffer.complete, trio_token=token)


def wait_in_vain(lock: structsync.Lock) -> None:
    try:
        with threads.hold(lock):
            print("not reached")
    except trio.Cancelled:
        print("the thread was interrupted while it waited")
        raise


async def main() -> None:
    lock, taken = structsync.Lock(), trio.Event()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(trio.to_thread.run_sync, take_first, lock, taken)
        await taken.wait()
        async with lock:
            print("the task has the lock")

    buffer = structsync.Buffer[int](1)
    token = trio.lowlevel.current_trio_token()
    threading.Thread(target=produce, args=(buffer, token)).start()
    numbers = [str(number) async for number in buffer]
    print(f"the task got {', '.join(numbers)} from a foreign thread")

    async with lock:
        with trio.move_on_after(0.1):
            await trio.to_thread.run_sync(wait_in_vain, lock)


trio.run(main)
