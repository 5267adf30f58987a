"""A program that `structsync top` looks at: a lock that one task holds and others wait for, and busy semaphores.

Its second argument is how many tasks more there are, which keep it busy all the time.
"""

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


async def keep_busy(shelf: structsync.Semaphore) -> None:
    while True:
        async with shelf:
            await trio.lowlevel.checkpoint()


async def main(path: str, busy: int) -> None:
    ledger = structsync.Lock(name="ledger")
    doors = structsync.Semaphore(1, max_value=1, name="doors")
    with structsync.observe.metrics(), structsync.trace_waits():
        async with structsync.serve_inspector(path), trio.open_nursery() as nursery:
            for name in ("clerk", "auditor", "manager"):
                nursery.start_soon(hold_the_ledger, ledger, name=name)
                await trio.testing.wait_all_tasks_blocked()
            for number in range(2):
                nursery.start_soon(work, doors, name=f"customer {number}")
            shelves = [structsync.Semaphore(5, max_value=5, name=f"shelf {n}") for n in range(100)]
            for number in range(busy):
                nursery.start_soon(keep_busy, shelves[number % 100], name=f"carrier {number}")


if __name__ == "__main__":
    import trio.testing

    trio.run(main, sys.argv[1], int(sys.argv[2]))
