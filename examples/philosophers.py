"""Dining philosophers: one fork after the other, and both in one step.

Each needs the fork on the left and the one on the right. The explorer tries every order of steps. It
finds the one in which each has the left fork and waits for the right one, and none that stops those
who take both by ``acquire_all``, with any of them cancelled anywhere.

Prints::

    one fork after the other: deadlock
      dine#0 waits for a Lock: held by dine#1, 1 waiting
      dine#1 waits for a Lock: held by dine#2, 1 waiting
      dine#2 waits for a Lock: held by dine#0, 1 waiting
    both forks in one step: confirmed in every schedule
"""

import trio
from trio.lowlevel import checkpoint

from structsync import Lock, acquire_all
from structsync.testing import explore

SEATS = 3


async def one_after_the_other() -> None:
    forks = [Lock() for _ in range(SEATS)]

    async def dine(seat: int) -> None:
        async with forks[seat]:
            async with forks[(seat + 1) % SEATS]:
                await checkpoint()

    async with trio.open_nursery() as nursery:
        for seat in range(SEATS):
            nursery.start_soon(dine, seat)


async def both_in_one_step() -> None:
    forks = [Lock() for _ in range(SEATS)]

    async def dine(seat: int) -> None:
        left, right = forks[seat], forks[(seat + 1) % SEATS]
        async with acquire_all(left.claim(), right.claim()):
            await checkpoint()

    async with trio.open_nursery() as nursery:
        for seat in range(SEATS):
            nursery.start_soon(dine, seat)


failure = explore(one_after_the_other).failure
assert failure
print(f"one fork after the other: {failure.kind}")
for blocked in failure.counterexample.blocked:
    if blocked.task.startswith("dine"):
        print(f"  {blocked.task} {blocked.why}")

print(f"both forks in one step: {explore(both_in_one_step).verdict.value} in every schedule")
