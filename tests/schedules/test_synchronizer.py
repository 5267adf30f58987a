"""Synchronizer: every schedule of a few tasks, and any of them cancelled anywhere."""

from __future__ import annotations

from functools import partial

import trio
from trio.lowlevel import checkpoint

from structsync import Monitor, Synchronizer
from structsync.testing import ExploredRun

from .sweeping import Size, swept, together

#: With a third task each of these takes long; the specification has what more of them could show.
FEW = (Size(2, 2),)


@swept(least=20, sizes=FEW)
async def test_at_most_one_switch_is_on(x: ExploredRun, tasks: int) -> None:
    switches = [Monitor() for _ in range(tasks)]
    lit: list[int] = []

    async with Synchronizer() as synchronizer:
        ons = [switch.entry(int) for switch in switches]
        offs = [switch.entry(int) for switch in switches]
        for on, off in zip(ons, offs, strict=True):
            synchronizer.disable(on, when=lambda: lit)
            synchronizer.trigger(on, lambda: lit.append(1))
            synchronizer.trigger(off, lit.clear)

        async def user(at: int) -> None:
            await ons[at]()
            try:
                with x.exclusive("the light"):
                    await checkpoint()
            finally:
                with trio.CancelScope(shield=True):
                    await offs[at]()

        await together(*[partial(user, at) for at in range(tasks)])


@swept(least=20, sizes=FEW)
async def test_calls_on_two_monitors_start_together(x: ExploredRun, tasks: int) -> None:
    """Who is left over goes on when the block ends."""
    accounts, started = [Monitor(), Monitor()], [0, 0]
    x.always(lambda: started[0] == started[1], "both or neither")

    async with trio.open_nursery() as nursery, Synchronizer() as synchronizer:
        halves = [account.entry(checkpoint) for account in accounts]
        synchronizer.atomic(*halves)
        for at, half in enumerate(halves):
            synchronizer.trigger(half, lambda at=at: started.__setitem__(at, started[at] + 1))
        for at in range(tasks):
            nursery.start_soon(halves[at % 2])
        await checkpoint()


# With two it takes ten times as long.
@swept(least=60, sizes=(Size(3, 1),))
async def test_philosophers_under_a_rule_over_the_seats_all_eat(x: ExploredRun, tasks: int) -> None:
    """Neighbours never eat at once; whoever is cancelled in the middle leaves the others to eat."""
    eating: set[int] = set()

    async with Synchronizer() as synchronizer:
        begins, ends = [[Monitor().entry(int) for _ in range(tasks)] for _ in range(2)]
        for seat, (begin, end) in enumerate(zip(begins, ends, strict=True)):
            beside = {(seat - 1) % tasks, (seat + 1) % tasks}
            synchronizer.disable(begin, when=lambda beside=beside: eating & beside)
            synchronizer.trigger(begin, lambda seat=seat: eating.add(seat))
            synchronizer.trigger(end, lambda seat=seat: eating.remove(seat))

        async def dine(seat: int) -> None:
            await begins[seat]()
            try:
                with x.exclusive(f"fork {seat}"), x.exclusive(f"fork {(seat + 1) % tasks}"):
                    await checkpoint()
            finally:
                with trio.CancelScope(shield=True):
                    await ends[seat]()

        await together(*[partial(dine, seat) for seat in range(tasks)])
