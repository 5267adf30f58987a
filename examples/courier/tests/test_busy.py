"""A courier with more to do than can be explored: one schedule, a cancellation at each step."""

from __future__ import annotations

import trio
from courier import Courier, Rules, open_courier

from structsync.testing import ExploredRun, sweep

LETTERS = [f"letter {number}" for number in range(10)]


@sweep()
async def test_a_busy_courier_loses_nothing_wherever_it_is_cancelled(x: ExploredRun) -> None:
    async def send(letter: str) -> None:
        await trio.lowlevel.checkpoint()

    posted: list[str] = []
    couriers: list[Courier] = []

    def found() -> list[str]:
        return [one for it in couriers for one in (*it.delivered, *it.refused, *it.unsent)]

    x.finally_(lambda: sorted(found()) == sorted(posted), "every letter ends up in one place")
    async with open_courier(send, Rules(workers=4, room=3)) as courier:
        couriers.append(courier)
        for letter in LETTERS:
            await courier.post(letter)
            posted.append(letter)
