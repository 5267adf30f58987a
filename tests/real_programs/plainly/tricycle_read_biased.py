"""tricycle.RWLock: setting read_biased lets readers in beside a writer."""

import trio
from tricycle import RWLock
from trio.testing import wait_all_tasks_blocked


async def main() -> bool:
    lock = RWLock()
    inside: list[str] = []

    async def reads() -> None:
        async with lock.read_locked():
            inside.append("reader")

    async with trio.open_nursery() as nursery:
        async with lock.write_locked():
            nursery.start_soon(reads)
            await wait_all_tasks_blocked()
            lock.read_biased = True
            await wait_all_tasks_blocked()
            beside = bool(inside)
    return beside


if trio.run(main):
    raise SystemExit("shown: a reader is inside beside a writer")
