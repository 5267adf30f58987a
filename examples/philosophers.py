"""Dining philosophers: one fork after the other, both in one step, and by a rule over the seats.

Each needs the fork on the left and the one on the right. The explorer tries every order of steps. At the
first table it finds the order in which each has the left fork and waits for the right one. It finds no
deadlock at the second table, where ``acquire_all`` takes both forks, nor at the third, which has no forks:
there a synchronizer lets no philosopher start to eat while a neighbour eats.

Prints::

    one fork after the other: deadlock
      dine#0 waits for a Lock: held by dine#1, 1 waiting
      dine#1 waits for a Lock: held by dine#2, 1 waiting
      dine#2 waits for a Lock: held by dine#0, 1 waiting
    both forks in one step: confirmed in every schedule
    a rule over the seats: confirmed in every schedule
"""

import trio
from trio.lowlevel import checkpoint

from structsync import Entry, Lock, Monitor, Synchronizer, acquire_all
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


async def a_rule_over_the_seats() -> None:
    eating: set[int] = set()

    async def dine(begin: Entry[[], None], finish: Entry[[], None]) -> None:
        await begin()
        try:
            await checkpoint()
        finally:
            with trio.CancelScope(shield=True):
                await finish()

    async with Synchronizer() as synchronizer, trio.open_nursery() as nursery:
        for seat in range(SEATS):
            philosopher = Monitor()
            begin, finish = [philosopher.entry(lambda: None) for _ in range(2)]
            beside = {(seat - 1) % SEATS, (seat + 1) % SEATS}
            synchronizer.disable(begin, when=lambda beside=beside: bool(eating & beside))
            synchronizer.trigger(begin, lambda seat=seat: eating.add(seat))
            synchronizer.trigger(finish, lambda seat=seat: eating.remove(seat))
            nursery.start_soon(dine, begin, finish)


failure = explore(one_after_the_other).failure
assert failure
print(f"one fork after the other: {failure.kind}")
for blocked in failure.counterexample.blocked:
    if blocked.task.startswith("dine"):
        print(f"  {blocked.task} {blocked.why}")

print(f"both forks in one step: {explore(both_in_one_step).verdict.value} in every schedule")
print(f"a rule over the seats: {explore(a_rule_over_the_seats).verdict.value} in every schedule")
