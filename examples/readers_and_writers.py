"""Many tasks read at a time, one writes alone, and a writer that gives up blocks no reader.

A writer waits for the current readers, and later readers wait for the writer. If the writer is cancelled,
they enter at once. A writer may become a reader: no other task writes in between.

Prints::

    anna, ben read
    carl waits to write, dora to read: 2 waiting
    carl gives up: anna, ben, dora read
    emma has written 1, and reads on: emma, anna read
    emma may not write again: can't upgrade an RWLock from read to write
"""

import trio
from trio.testing import wait_all_tasks_blocked

import structsync


def readers(lock: structsync.RWLock) -> str:
    return ", ".join(task.name for task in lock.statistics().readers)


async def read(lock: structsync.RWLock, done: trio.Event) -> None:
    async with lock.reading():
        await done.wait()


async def write(lock: structsync.RWLock, scope: trio.CancelScope) -> None:
    with scope:
        async with lock.writing():
            print("this one gives up before")


async def write_and_read(lock: structsync.RWLock, nursery: trio.Nursery) -> None:
    async with lock.writing():
        value = 1
        nursery.start_soon(read, lock, trio.Event(), name="anna")
        await wait_all_tasks_blocked()
        lock.downgrade()
        print(f"emma has written {value}, and reads on: {readers(lock)} read")
        try:
            await lock.acquire_write()
        except RuntimeError as error:
            print(f"emma may not write again: {str(error).partition(':')[0].split(' that')[0]}")
    nursery.cancel_scope.cancel()


async def main() -> None:
    lock = structsync.RWLock()
    async with trio.open_nursery() as nursery:
        done, scope = trio.Event(), trio.CancelScope()
        for name in ("anna", "ben"):
            nursery.start_soon(read, lock, done, name=name)
            await wait_all_tasks_blocked()
        print(f"{readers(lock)} read")
        nursery.start_soon(write, lock, scope, name="carl")
        await wait_all_tasks_blocked()
        nursery.start_soon(read, lock, done, name="dora")
        await wait_all_tasks_blocked()
        waiting = lock.statistics().tasks_waiting
        print(f"carl waits to write, dora to read: {waiting} waiting")
        scope.cancel()
        await wait_all_tasks_blocked()
        print(f"carl gives up: {readers(lock)} read")
        done.set()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(write_and_read, lock, nursery, name="emma")


trio.run(main)
