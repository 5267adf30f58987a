"""Buffer: every schedule of a few tasks, and any of them cancelled anywhere."""

from __future__ import annotations

from functools import partial

import trio
from trio.lowlevel import checkpoint

from structsync import Buffer, Semaphore, acquire_all, first_of
from structsync.testing import ExploredRun

from .closing import closed_meanwhile
from .sweeping import TIMED, Size, swept, together


class Ledger:
    """What was put and what was got, by what the calls said."""

    def __init__(self, buffer: Buffer[int]) -> None:
        self.buffer = buffer
        self.put: list[int] = []
        self.got: list[int] = []

    async def putting(self, *items: int) -> None:
        if len(items) == 1:
            await self.buffer.put(items[0])
        else:
            await self.buffer.put_many(items)
        self.put += items

    async def getting(self) -> None:
        self.got.append(await self.buffer.get())

    def check(self, x: ExploredRun) -> None:
        """Each item that was put was got once, or is still there; and nothing else is."""
        left = self.buffer.statistics().items
        rest = self.buffer.get_many_nowait(left) if left else []
        if sorted(self.put) != sorted(self.got + rest):
            x.fail(f"put {self.put}, got {self.got}, left {rest}")


@swept(least=100, long=True)
async def test_no_item_is_lost_or_got_twice(x: ExploredRun, tasks: int) -> None:
    """One puts while others get: who is cancelled has had nothing."""
    ledger = Ledger(Buffer(1))

    async def produce() -> None:
        for item in range(2):
            await ledger.putting(item)

    with trio.move_on_after(10):
        await together(produce, *[ledger.getting] * (tasks - 1))
    ledger.check(x)


@swept(least=100)
async def test_several_at_once_are_put_as_a_whole_or_not_at_all(x: ExploredRun, tasks: int) -> None:
    ledger = Ledger(Buffer(2))
    ledger.put += [7]
    ledger.buffer.put_nowait(7)
    puts = [partial(ledger.putting, 10 * n, 10 * n + 1) for n in range(1, tasks - 1)]
    with trio.move_on_after(10):
        await together(ledger.getting, ledger.getting, *puts)
    ledger.check(x)


@swept(least=30, sizes=TIMED, clock="explore")
async def test_a_batch_has_all_of_its_items_or_none(x: ExploredRun, tasks: int) -> None:
    """Its window may end at any moment, and so may its task."""
    ledger = Ledger(Buffer(2))

    async def collect() -> None:
        found = await ledger.buffer.get_batch(2, max_wait=1)
        if not 1 <= len(found) <= 2:
            x.fail(f"a batch of {found}")
        ledger.got += found

    with trio.move_on_after(10):
        await together(collect, *[partial(ledger.putting, n) for n in range(1, tasks)])
    ledger.check(x)


@swept(least=30)
async def test_who_waits_for_more_is_told_that_there_is_none(x: ExploredRun, tasks: int) -> None:
    ledger = Ledger(Buffer(1))

    async def produce() -> None:
        try:
            await ledger.putting(1)
        finally:
            ledger.buffer.complete()

    async def consume() -> None:
        async for item in ledger.buffer:
            ledger.got.append(item)

    await together(produce, *[consume] * (tasks - 1))
    ledger.check(x)


@swept(least=30)
async def test_the_first_of_two_buffers_is_got_and_the_other_keeps_its_item(
    x: ExploredRun, tasks: int
) -> None:
    left, right = Ledger(Buffer(1)), Ledger(Buffer(1))

    async def choose() -> None:
        claim = left.buffer.get_claim()
        first = await first_of(claim, right.buffer.get_claim())
        (left if first.claim is claim else right).got.append(first.item)

    with trio.move_on_after(10):
        chooses = [choose] * (tasks - 2)
        await together(*chooses, partial(left.putting, 1), partial(right.putting, 2))
    left.check(x)
    right.check(x)


@swept(least=30)
async def test_an_item_and_a_permit_are_had_together_or_not_at_all(
    x: ExploredRun, tasks: int
) -> None:
    ledger, slots = Ledger(Buffer(1)), Semaphore(1, max_value=1)

    async def work() -> None:
        async with acquire_all(get := ledger.buffer.get_claim(), slots.claim()) as held:
            ledger.got.append(held.item(get))
            with x.exclusive("the slot"):
                await checkpoint()

    with trio.move_on_after(10):
        await together(*[work] * (tasks - 1), partial(ledger.putting, 1))
    ledger.check(x)


@swept(least=30, sizes=(Size(3, 1),), long=True)
async def test_closing_sends_every_waiting_task_away(x: ExploredRun, tasks: int) -> None:
    buffer = Buffer[int](1)

    async def exchange() -> None:
        await buffer.put(1)
        await checkpoint()
        await buffer.get()

    with trio.move_on_after(10):
        await closed_meanwhile(x, buffer, *[exchange] * tasks)
