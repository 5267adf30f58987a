"""A permit that was never released, found at the end of the block that owns the semaphore.

A task takes a permit and ends without releasing it. trio.Semaphore cannot know: the program goes
on with one permit fewer, until there are none. A scope that owns the semaphore names the task.

Prints::

    trio: value 1 of 2, and no complaint
    structsync: PermitLeakError: 1 not returned to <Semaphore: value 1/2, 0 waiting>: <Task 'forgetful'> took 1 too many
"""

import re

import trio

import structsync


async def forgetful(semaphore: trio.Semaphore | structsync.Semaphore) -> None:
    await semaphore.acquire()


async def careful(semaphore: trio.Semaphore | structsync.Semaphore) -> None:
    async with semaphore:
        await trio.lowlevel.checkpoint()


async def main() -> None:
    theirs = trio.Semaphore(2, max_value=2)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(forgetful, theirs)
        nursery.start_soon(careful, theirs)
    print(f"trio: value {theirs.value} of 2, and no complaint")

    try:
        async with structsync.open_scope() as scope:
            ours = scope.own(structsync.Semaphore(2, max_value=2))
            scope.start_soon(forgetful, ours, name="forgetful")
            scope.start_soon(careful, ours, name="careful")
    except structsync.PermitLeakError as leak:
        without_addresses = re.sub(" at 0x[0-9a-f]+", "", str(leak))
        print(f"structsync: PermitLeakError: {without_addresses}")


trio.run(main)
