"""A program that `structsync top` looks at: a lock that one task holds and others wait for, and a busy semaphore."""

from __future__ import annotations

import sys

import trio

import structsync


async def hold_the_ledger(ledger: structsync.Lock) -> None:
    async with ledger:
        await trio.sleep_forever()


async def work(doors: structsync.Semaphore) -> None:
    while True:
        async with doors:
            await trio.sleep(0.01)


async def main(path: str) -> None:
    ledger = structsync.Lock(name="ledger")
    doors = structsync.Semaphore(1, max_value=1, name="doors")
    with structsync.observe.metrics(), structsync.trace_waits():
        async with structsync.serve_inspector(path), trio.open_nursery() as nursery:
            for name in ("clerk", "auditor", "manager"):
                nursery.start_soon(hold_the_ledger, ledger, name=name)
                await trio.testing.wait_all_tasks_blocked()
            for number in range(2):
                nursery.start_soon(work, doors, name=f"customer {number}")


if __name__ == "__main__":
    import trio.testing

    trio.run(main, sys.argv[1])
