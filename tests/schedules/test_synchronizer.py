"""Synchronizer: every schedule of a few tasks, and any of them cancelled anywhere."""

from __future__ import annotations

from contextlib import suppress
from functools import partial

import trio
from trio.lowlevel import checkpoint

from structsync import Monitor, Synchronizer
from structsync.testing import ExploredRun

from .sweeping import SIZES, swept, together


# With a fourth task each of these takes half a minute and shows no more than the specification does.
@swept(least=20, sizes=SIZES[:1], long=True)
async def test_at_most_one_switch_is_on(x: ExploredRun, tasks: int) -> None:
    switches = [Monitor() for _ in range(tasks)]
    lit: list[int] = []

    async with Synchronizer() as synchronizer:
        ons = [switch.entry(int) for switch in switches]
        offs = [switch.entry(int) for switch in switches]
        for on, off in zip(ons, offs, strict=True):
            synchronizer.disable(on, when=lambda: bool(lit))
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


@swept(least=20, sizes=SIZES[:1], long=True)
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


@swept(least=20, sizes=SIZES[:1])
async def test_whose_trigger_raises_has_not_run_and_keeps_no_task_out(
    x: ExploredRun, tasks: int
) -> None:
    """The trigger fails for every second call, and counts the others."""
    monitor, begun, ran = Monitor(), [0], [0]

    def count() -> None:
        begun[0] += 1
        if begun[0] % 2:
            raise ValueError

    async def body() -> None:
        with x.exclusive("the monitor"):
            ran[0] += 1
            await checkpoint()

    x.finally_(lambda: ran[0] <= begun[0] // 2, "no task runs without its trigger")
    async with Synchronizer() as synchronizer:
        work = monitor.entry(body)
        synchronizer.trigger(work, count)

        async def caller() -> None:
            with suppress(ValueError):
                await work()

        await together(*[caller] * tasks)


@swept(least=20, sizes=SIZES[:1])
async def test_closing_a_member_sends_away_those_who_wait_for_it(
    x: ExploredRun, tasks: int
) -> None:
    """A call that has started with a partner goes on; none waits for one that cannot come any more."""
    here, there = Monitor(), Monitor()

    async with Synchronizer() as synchronizer:
        halves = [monitor.entry(checkpoint) for monitor in (here, there)]
        synchronizer.atomic(*halves)

        async def caller(at: int) -> None:
            with suppress(trio.ClosedResourceError):
                await halves[at]()

        async def end() -> None:
            try:
                await checkpoint()
            finally:
                there.close()

        await together(end, *[partial(caller, at % 2) for at in range(tasks - 1)])


@swept(least=60, sizes=SIZES[:1], long=True)
async def test_philosophers_under_a_rule_over_the_seats_all_eat(x: ExploredRun, tasks: int) -> None:
    """Neighbours never eat at once; one that is cancelled in the middle leaves the others to eat."""
    eating: set[int] = set()

    async with Synchronizer() as synchronizer:
        begins, ends = [[Monitor().entry(int) for _ in range(tasks)] for _ in range(2)]
        for seat, (begin, end) in enumerate(zip(begins, ends, strict=True)):
            beside = {(seat - 1) % tasks, (seat + 1) % tasks}
            synchronizer.disable(begin, when=lambda beside=beside: bool(eating & beside))
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
