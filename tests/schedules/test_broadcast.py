"""Broadcast: every schedule of a few tasks, and any of them cancelled anywhere."""

from __future__ import annotations

from functools import partial

import trio

from structsync import Broadcast, Subscription
from structsync.testing import ExploredRun

from .sweeping import swept, together


@swept(least=30, long=True)
async def test_each_item_is_put_for_all_or_for_no_task(x: ExploredRun, tasks: int) -> None:
    """One consumer is slow, and one leaves: those that stay have the same items in the same order."""
    broadcast = Broadcast[int](1)
    stays, leaves = broadcast.subscribe(), broadcast.subscribe()
    got: list[int] = []
    put: list[int] = []

    async def produce(item: int) -> None:
        await broadcast.put(item)
        put.append(item)

    async def consume() -> None:
        got.append(await stays.get())

    async def leave() -> None:
        with leaves:
            await leaves.get()

    producers = [partial(produce, number) for number in range(1, tasks)]
    with trio.move_on_after(10):
        await together(consume, leave, *producers)
    stays_has = got + [stays.get_nowait() for _ in range(stays.statistics().items)]
    if sorted(stays_has) != sorted(put):
        x.fail(f"put {put}, and who stays had {stays_has}")


@swept(least=30)
async def test_a_late_consumer_has_the_items_of_those_puts_that_were_called_after_it_came(
    x: ExploredRun, tasks: int
) -> None:
    """Whoever leaves meanwhile, and whichever of the puts must wait for the one that stays."""
    broadcast = Broadcast[int](1)
    stays, leaves = broadcast.subscribe(), broadcast.subscribe()
    broadcast.put_nowait(0)
    called_before: set[int] = set()
    late: list[Subscription[int]] = []

    async def produce(item: int) -> None:
        if not late:
            called_before.add(item)
        await broadcast.put(item)

    async def come() -> None:
        late.append(broadcast.subscribe())

    async def leave() -> None:
        leaves.close()

    producers = [partial(produce, number) for number in range(1, tasks - 1)]
    with trio.move_on_after(10):
        await together(stays.get, come, leave, *producers)
    had = [one.get_nowait() for one in late for _ in range(one.statistics().items)]
    if called_before & {*had}:
        x.fail(f"{called_before} had been called before, and the late one had {had}")
