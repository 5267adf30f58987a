"""Workers that wait for each other, round by round, and a start that waits for all workers.

Each party of a round has its own number, so one of them can do what has to be done once. A cancelled party is
not counted: the others wait for one more.

Prints::

    ready
    round 1: numbers 0, 1, 2
    round 2: numbers 0, 1, 2
    one is cancelled: 1 waiting
    another came instead: numbers 0, 1, 2
"""

import trio
from trio.testing import wait_all_tasks_blocked

import structsync


async def work(
    barrier: structsync.Barrier, ready: structsync.Latch, rounds: list[list[int]]
) -> None:
    ready.count_down()
    for numbers in rounds:
        numbers.append(await barrier.wait())


def told(numbers: list[int]) -> str:
    return f"numbers {', '.join(map(str, sorted(numbers)))}"


async def main() -> None:
    barrier, ready = structsync.Barrier(3), structsync.Latch(3)
    rounds: list[list[int]] = [[], []]
    async with trio.open_nursery() as nursery:
        for _ in range(3):
            nursery.start_soon(work, barrier, ready, rounds)
        await ready.wait()
        print("ready")
    for number, numbers in enumerate(rounds, 1):
        print(f"round {number}: {told(numbers)}")

    last: list[int] = []

    async def party(scope: trio.CancelScope) -> None:
        with scope:
            last.append(await barrier.wait())

    async with trio.open_nursery() as nursery:
        scopes = [trio.CancelScope() for _ in range(4)]
        for scope in scopes[:2]:
            nursery.start_soon(party, scope)
        await wait_all_tasks_blocked()
        scopes[0].cancel()
        await wait_all_tasks_blocked()
        print(f"one is cancelled: {barrier.statistics().tasks_waiting} waiting")
        for scope in scopes[2:]:
            nursery.start_soon(party, scope)
    print(f"another came instead: {told(last)}")


trio.run(main)
