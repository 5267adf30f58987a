"""A weighted fair queue, written only with public names of structsync.

Each tenant has a weight, and gets its share of the turns while it has something to do; it saves up
no turns for later. A turn begins at a virtual time, and the smallest is next: that is the
policy "priority", with strict levels. (Start-time fair queueing: Goyal, Vin and Cheng 1996.)

Prints::

    gold silver gold gold silver gold gold silver gold
    after a pause: gold silver
"""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import NamedTuple

import trio
import trio.testing

from structsync import Arbiter, Primitive, lowlevel
from structsync.testing import ExploredRun, explore

UNIT = 1_000_000  # virtual time is whole numbers, so that no rounding decides


class Turn(NamedTuple):
    """What is claimed: a turn of a tenant, that begins at a virtual time."""

    tenant: str
    start: int


class TurnsCore(Arbiter[Turn]):
    """How many are free, and what virtual time it is: the start of the newest turn that was granted."""

    free: int
    now: int

    def __init__(self, at_once: int) -> None:
        super().__init__(policy="priority", ageing=None)
        self.free, self.now = at_once, 0

    def admits(self, claim: Turn) -> bool:
        return self.free > 0

    def admit(self, claim: Turn) -> None:
        self.free -= 1
        self.now = max(self.now, claim.start)

    def discharge(self, claim: Turn) -> None:
        self.free += 1


class WeightedFairQueue(Primitive[Turn]):
    """``async with turns.turn("gold"): ...``."""

    def __init__(self, at_once: int, weights: Mapping[str, int]) -> None:
        self.core = TurnsCore(at_once)
        super().__init__(self.core)
        self.weights = weights
        self.ends = dict.fromkeys(weights, 0)  # of each tenant's newest turn

    @asynccontextmanager
    async def turn(self, tenant: str) -> AsyncIterator[None]:
        before = self.ends[tenant]
        start = max(self.core.now, before)
        end = self.ends[tenant] = start + UNIT // self.weights[tenant]
        with lowlevel.request(self, Turn(tenant, start), priority=start) as request:
            try:
                await request.wait()
            except BaseException:
                # a task that gives up does not pay, if no request of the tenant is behind it
                if self.ends[tenant] == end:
                    self.ends[tenant] = before
                raise
            yield


async def main() -> None:
    turns = WeightedFairQueue(1, {"gold": 2, "silver": 1})
    served: list[str] = []

    async def work(tenant: str) -> None:
        async with turns.turn(tenant):
            served.append(tenant)
            await trio.testing.wait_all_tasks_blocked()

    async with trio.open_nursery() as nursery:
        for tenant in ["gold"] * 6 + ["silver"] * 3:
            nursery.start_soon(work, tenant)
            await trio.lowlevel.checkpoint()
    print(*served)

    served.clear()
    async with trio.open_nursery() as nursery, turns.turn("silver"):
        for tenant in ("silver", "gold"):
            nursery.start_soon(work, tenant)
            await trio.testing.wait_all_tasks_blocked()
    print("after a pause:", *served)


@explore(exhaustive=True)
async def test_one_has_the_turn_and_one_that_gives_up_pays_for_none(x: ExploredRun) -> None:
    turns = WeightedFairQueue(1, {"gold": 2, "silver": 1})
    served: set[str] = set()

    async def work(tenant: str) -> None:
        with trio.CancelScope():
            async with turns.turn(tenant):
                served.add(tenant)
                with x.exclusive("the turn"):
                    await trio.lowlevel.checkpoint()

    async with trio.open_nursery() as nursery:
        for tenant in turns.weights:
            nursery.start_soon(work, tenant)
    assert turns.core.free == 1
    assert all(tenant in served or not turns.ends[tenant] for tenant in turns.weights)


if __name__ == "__main__":
    trio.run(main)
