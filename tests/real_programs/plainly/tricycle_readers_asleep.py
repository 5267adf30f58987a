"""tricycle.RWLock: the readers behind a writer sleep on when that is cancelled."""

import trio
from tricycle import RWLock
from trio.testing import wait_all_tasks_blocked


async def main() -> bool:
    lock = RWLock()
    writer = trio.CancelScope()
    inside: list[str] = []

    async def writes() -> None:
        with writer:
            await lock.acquire_write()

    async def reads() -> None:
        async with lock.read_locked():
            inside.append("reader")

    async with lock.read_locked(), trio.open_nursery() as nursery:
        nursery.start_soon(writes)
        await wait_all_tasks_blocked()
        nursery.start_soon(reads)
        await wait_all_tasks_blocked()
        writer.cancel()
        await wait_all_tasks_blocked()
        asleep = not inside
        nursery.cancel_scope.cancel()
    return asleep


if trio.run(main):
    raise SystemExit("shown: no writer waits, readers are inside, and a reader sleeps")
